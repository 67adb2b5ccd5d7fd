"""Lines that training frameworks print per step, one parser per dialect, and what they print at the start.

One readable table per dialect: the key of a line, the field it stands for, the factor to the project's unit.
"""

import re
from dataclasses import dataclass, field

SUFFIXES = {"K": 1e3, "M": 1e6, "B": 1e9, "G": 1e9, "T": 1e12}
NUMBER = r"([\d,]+(?:\.\d+)?(?:[eE][+-]?\d+)?)"
_VALUE = re.compile(NUMBER + r"\s*([KMBGT](?![A-Za-z]))?")


@dataclass(slots=True)
class Step:
    """What one line says about one step."""

    step: int
    last: int | None = None
    values: dict[str, float] = field(default_factory=dict)
    exact: dict[str, int] = field(default_factory=dict)
    line: int = 0
    open_end: str | None = None


# llm.c prints its settings as a table once.
LLMC_TABLE = {
    "micro batch size B": "micro_batch", "sequence length T": "seq_len", "total batch size": "global_batch_tokens",
    "num_layers L": "layers", "num_heads NH": "heads", "channels C": "hidden", "vocab_size V": "vocab",
    "num_processes": "accelerators", "zero_stage": "zero_stage",
}  # fmt: skip
# Megatron and its descendants, nanotron: "key: value | key: value".
PIPED: dict[str, tuple[str, float]] = {
    "elapsed time per iteration (ms)": ("step_time_s", 1e-3),
    "elapsed time per iteration (s)": ("step_time_s", 1.0),
    "elapsed_time_per_iteration_ms": ("step_time_s", 1e-3),
    "iteration_time_ms": ("step_time_s", 1e-3),
    "train_step_timing in s": ("step_time_s", 1.0),
    "throughput per gpu (tflop/s/gpu)": ("tflops_per_accelerator", 1.0),
    "throughput per gpu (tflop/s)": ("tflops_per_accelerator", 1.0),
    "throughput (tflop/s/gpu)": ("tflops_per_accelerator", 1.0),
    "compute per gpu (tflop/s/gpu)": ("tflops_per_accelerator", 1.0),
    "tflops": ("tflops_per_accelerator", 1.0),
    "tflops_per_gpu": ("tflops_per_accelerator", 1.0),
    "model_tflops_per_gpu": ("tflops_per_accelerator", 1.0),
    "tokens_per_sec_per_gpu": ("tokens_per_s_per_accelerator", 1.0),
    "tokens per gpu per second (tgs)": ("tokens_per_s_per_accelerator", 1.0),
    "tokens per gpu (tokens/s/gpu)": ("tokens_per_s_per_accelerator", 1.0),
    "tokens/s/gpu": ("tokens_per_s_per_accelerator", 1.0),
    "tokens_per_sec": ("tokens_per_s", 1.0),
    "lm loss": ("loss", 1.0),
    "lm_loss": ("loss", 1.0),
    "reduced_train_loss": ("loss", 1.0),
}
EXACT = {
    "global batch size": "global_batch",
    "gloabl batch size": "global_batch", "global_batch_size": "global_batch", "consumed samples": "samples",
    "consumed_samples": "samples", "consumed tokens": "tokens", "consumed_tokens": "tokens",
}  # fmt: skip
_PIPED_STEP = re.compile(r"\biteration[: ]+(\d+)\s*/\s*(\d+)")
_TITAN = re.compile(
    r"\bstep:\s*(\d+)\b.*?\bmemory:\s*" + NUMBER + r"GiB.*?\btps:\s*" + NUMBER + r"(?:.*?\btflops:\s*" + NUMBER + ")?"
)
_MAXTEXT = re.compile(
    r"completed step: (\d+), seconds: " + NUMBER + r", TFLOP/s/device: " + NUMBER + r", Tokens/s/device: " + NUMBER
    + r"(?:, total_weights: (\d+))?"
)  # fmt: skip
_COLOUR = re.compile(r"\x1b\[[0-9;]*m")


def measure(raw: str) -> tuple[float, bool] | None:
    """(number, whether it is printed in full) of a text such as `4.71K`, `9640.7/9629.8` or `1,234`.

    >>> measure("4.71K"), measure("9640.7/9629.8"), measure("-")
    ((4710.0, False), (9640.7, True), None)
    """
    match = _VALUE.match(raw.strip())
    if match is None:
        return None
    number = match.group(1).replace(",", "")
    if len(number) > 40 or not number:
        return None
    return float(number) * SUFFIXES.get(match.group(2) or "", 1.0), not match.group(2)


def piped(line: str) -> Step | None:
    """A line of Megatron, Primus, NeMo or nanotron; `open_end` names a last value without a closing bar, maybe cut."""
    line = _COLOUR.sub("", line).rstrip()
    match = _PIPED_STEP.search(line)
    if match is None or "|" not in line or len(match.group(1) + match.group(2)) > 30:
        return None
    step = Step(int(match.group(1)), int(match.group(2)))
    parts = line.split("|")
    for part in parts:
        key, _, raw = part.partition(": ") if ": " in part else part.partition(":")
        key = " ".join(key.lower().split()).removesuffix(" inst/harmonic mean")
        hits = measure(raw)
        if hits is None:
            continue
        if key in PIPED:
            name, factor = PIPED[key]
            step.values[name] = hits[0] * factor
            step.open_end = name if part is parts[-1] else None
        elif key in EXACT and hits[1] and hits[0].is_integer():
            step.exact[EXACT[key]] = int(hits[0])
    return step


def titan(line: str) -> Step | None:
    """A line of torchtitan; tokens per second are per device."""
    match = _TITAN.search(_COLOUR.sub("", line))
    if match is None or len(match.group(1)) > 15:
        return None
    names = ("memory_gib", "tokens_per_s_per_accelerator", "tflops_per_accelerator")
    hits = {name: measure(raw) for name, raw in zip(names, match.groups()[1:], strict=True) if raw}
    return Step(int(match.group(1)), values={name: value[0] for name, value in hits.items() if value})


def maxtext(line: str) -> Step | None:
    """A line of MaxText."""
    match = _MAXTEXT.search(line)
    if match is None or len(match.group(1)) > 15:
        return None
    names = ("step_time_s", "tflops_per_accelerator", "tokens_per_s_per_accelerator")
    hits = {name: measure(raw) for name, raw in zip(names, match.groups()[1:4], strict=True)}
    return Step(int(match.group(1)), values={name: value[0] for name, value in hits.items() if value})


_DEEPSPEED = re.compile(
    r"\bglobal_step=(\d+).*?CurrSamplesPerSec=" + NUMBER + r"(?:.*?MaxMemAllocated=" + NUMBER + ")?"
)
_LLMC = re.compile(
    r"\bstep\s+(\d+)/(\d+) \| (?:train )?loss " + NUMBER + r".*?\| " + NUMBER + r" ms \|.*?\| " + NUMBER + " tok/s"
)
_TRAINER = re.compile(r"\{'loss': '?" + NUMBER + r"'?,.*?'epoch': '?" + NUMBER)


def deepspeed(line: str) -> Step | None:
    """A line of DeepSpeed's timer; its GB are 2**30 bytes (deepspeed/utils/timer.py)."""
    match = _DEEPSPEED.search(line)
    if match is None or len(match.group(1)) > 15:
        return None
    step = Step(int(match.group(1)))
    for name, raw in (("samples_per_s", match.group(2)), ("memory_gib", match.group(3))):
        if raw and (hits := measure(raw)):
            step.values[name] = hits[0]
    return step


def llmc(line: str) -> Step | None:
    """A line of llm.c: loss, milliseconds, tokens per second of all devices."""
    match = _LLMC.search(line)
    if match is None or len(match.group(1) + match.group(2)) > 30:
        return None
    names = (("loss", 1.0), ("step_time_s", 1e-3), ("tokens_per_s", 1.0))
    hits = [(name, factor, measure(raw)) for (name, factor), raw in zip(names, match.groups()[2:], strict=True)]
    values = {name: value[0] * factor for name, factor, value in hits if value}
    return Step(int(match.group(1)), int(match.group(2)), values)


def trainer(line: str) -> Step | None:
    """A line of the Hugging Face trainer: a dictionary of loss and epoch, without a step number."""
    match = _TRAINER.search(line)
    hits = measure(match.group(1)) if match else None
    return Step(0, values={"loss": hits[0]}) if hits else None


# What a framework prints once, before the first step.
ANNOUNCED: tuple[tuple[re.Pattern[str], tuple[str, ...]], ...] = (
    (re.compile(r"\busing world size: (\d+)"), ("accelerators",)),
    (re.compile(r"\bdata-parallel[- ]size: (\d+)"), ("dp",)),
    (re.compile(r"\bcontext-parallel[- ]size: (\d+)"), ("cp",)),
    (re.compile(r"(?<!transformer-)\btensor-model-parallel[- ]size: (\d+)"), ("tp",)),
    (re.compile(r"(?<!encoder-)\bpipeline-model-parallel[- ]size: (\d+)"), ("pp",)),
    (
        re.compile(
            r"Training starts at step \d+, with local batch size (\d+), global batch size (\d+), "
            r"sequence length (\d+), total steps (\d+)"
        ),
        ("micro_batch", "global_batch", "seq_len", "train_steps"),
    ),
    (re.compile(r"\bNum_devices: (\d+)"), ("accelerators",)),
    (re.compile(r"\btraining\.seq_len \.{2,} ?(\d+)"), ("seq_len",)),
    (re.compile(r"\btraining\.local_batch_size \.{2,} ?(\d+)"), ("micro_batch",)),
    (re.compile(r"\btraining\.global_batch_size \.{2,} ?(\d+)"), ("global_batch",)),
    (re.compile(r"\btraining\.steps \.{2,} ?(\d+)"), ("train_steps",)),
    (re.compile(r"\bConfig param steps: (\d+)"), ("train_steps",)),
    *((re.compile(rf"^\|\s*{key}\s*\|\s*(\d+)\s*\|"), (name,)) for key, name in LLMC_TABLE.items()),
    (re.compile(r"\bConfig param max_target_length: (\d+)"), ("seq_len",)),
    (re.compile(r"\bConfig param global_batch_size_to_train_on: (\d+)"), ("global_batch",)),
)
PER_DEVICE = re.compile(r"\bConfig param per_device_batch_size: ([\d.]+)")
ARGUMENT = re.compile(r"^(?:\[[^\]]*\]:?|\s|\d+:)*([a-z][a-z0-9_]+) \.{3,} ?(\S.*)$")
