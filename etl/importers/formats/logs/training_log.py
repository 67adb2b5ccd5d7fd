"""Logs of training runs: steady step time and throughput, the plan printed at the start, MLPerf results."""

from collections.abc import Callable
from statistics import median

from etl.importers.facts import Reading
from etl.importers.fields import number
from etl.importers.formats.logs import log_dialects
from etl.importers.formats.logs.log_dialects import Step
from etl.importers.formats.megatron.megatron_flags import read_flags
from etl.importers.formats.mlperf import mlperf_log
from etl.importers.read.documents import Document
from etl.importers.shell.flags import Flags

NAME = "training_log"

# A text that stands in every line of the dialect -> the parser of such lines. Substring first: logs are long.
DIALECTS: tuple[tuple[tuple[str, ...], Callable[[str], Step | None]], ...] = (
    (("elapsed time per iteration", "elapsed_time_per_iteration", "train_step_timing in s"), log_dialects.piped),
    (("completed step:",), log_dialects.maxtext),
    (("tps:",), log_dialects.titan),
    (("CurrSamplesPerSec=",), log_dialects.deepspeed),
    ((" tok/s",), log_dialects.llmc),
    (("{'loss':",), log_dialects.trainer),
)
COMPILING: dict[Callable[[str], Step | None], int] = {log_dialects.maxtext: 2}
MOST_STEPS = 10_000  # enough for a median; longer logs are read to here
# A dump also prints the values of what is switched off.
SWITCHED = {"group_query_attention": "--num_query_groups", "multi_latent_attention": "--kv_lora_rank"}
MOST_HEADER_LINES = 20_000
MEASURED = ("step_time_s", "tflops_per_accelerator", "tokens_per_s_per_accelerator", "memory_gib")


def detect(document: Document) -> float:
    """A text with lines of a known dialect."""
    if mlperf_log.MARK in document.text:
        return 0.9
    if not any(sign in document.text for signs, _ in DIALECTS for sign in signs):
        return 0.0
    steps, _ = _steps(document.lines, 3)
    return 0.9 if steps else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """Read the first run of the log."""
    reading = Reading(NAME)
    lines = document.lines
    if mlperf_log.MARK in document.text:
        mlperf_log.read_events(reading, lines)
        return reading
    steps, parse = _steps(lines, MOST_STEPS)
    _announced(reading, lines[:MOST_HEADER_LINES])
    _arguments(reading, lines[:MOST_HEADER_LINES])
    first = _first_run(reading, steps, parse)
    _plan(reading, first)
    _steady(reading, [s for s in first if s.step >= COMPILING.get(parse, 0)] if parse else first)
    return reading


def _steps(lines: list[str], most: int) -> tuple[list[Step], Callable[[str], Step | None] | None]:
    """The steps of the first dialect that is met."""
    hits: list[Step] = []
    chosen: Callable[[str], Step | None] | None = None
    for number_, line in enumerate(lines, 1):
        for signs, parse in DIALECTS:
            if len(line) < 20_000 and any(sign in line for sign in signs) and (chosen in (None, parse)):
                step = parse(line)
                if step is not None:
                    step.line = number_
                    hits.append(step)
                    chosen = parse
        if len(hits) >= most:
            break
    return hits, chosen


def _first_run(reading: Reading, steps: list[Step], parse: Callable[[str], Step | None] | None) -> list[Step]:
    """Steps up to the first that goes back; Megatron's lines carry their plan, so there a restart is the same run."""
    if parse is not log_dialects.maxtext:
        return steps
    kept: list[Step] = []
    for step in steps:
        if kept and step.step <= kept[-1].step:
            reading.warn(
                "several-runs", f"step {step.step} in line {step.line} starts again; the first run is reported"
            )
            break
        kept.append(step)
    return kept


def _plan(reading: Reading, steps: list[Step]) -> None:
    """Planned last iteration, batch and length, where every line agrees."""
    ends = {s.last for s in steps if s.last}
    if len(ends) == 1 and steps:
        reading.state("train_steps", ends.pop(), "iteration", steps[-1].line)
    batches = {s.exact["global_batch"] for s in steps if "global_batch" in s.exact}
    if len(batches) == 1:
        reading.state("global_batch", batches.pop(), "global batch size", steps[-1].line)
    elif batches:
        reading.extra["ramp"] = True
    pairs = {(s.exact["tokens"], s.exact["samples"]) for s in steps if s.exact.get("samples") and s.exact.get("tokens")}
    lengths = {tokens // samples if tokens % samples == 0 else None for tokens, samples in pairs}
    if len(lengths) == 1 and None not in lengths:
        reading.state("seq_len", lengths.pop(), "consumed tokens / consumed samples", steps[-1].line)


def _steady(reading: Reading, steps: list[Step]) -> None:
    """Medians without the first steps."""
    skip = min(5, max(1, len(steps) // 10)) if len(steps) > 2 else 0
    _cut_ends(steps)
    for name in MEASURED:
        values = [s.values[name] for s in steps[skip:] if s.values.get(name)]
        if values:
            how = f"{name}, median of {len(values)} steps" + (f" after the first {skip}" if skip else "")
            reading.state(name, float(f"{median(values):.9g}"), how, steps[-1].line)
    losses = [s for s in steps if s.values.get("loss")]
    if losses:
        reading.state("loss", losses[-1].values["loss"], f"loss, the last of {len(losses)} steps", losses[-1].line)
    _of_samples(reading, [s.values["samples_per_s"] for s in steps[skip:] if s.values.get("samples_per_s")])
    whole_run = [s.values["tokens_per_s"] for s in steps[skip:] if s.values.get("tokens_per_s")]
    devices, time = reading.get("accelerators"), reading.get("step_time_s")
    if whole_run and devices:
        reading.derive("tokens_per_s_per_accelerator", median(whole_run) / devices, "accelerators")
    batch, length = reading.get("global_batch"), reading.get("seq_len")
    if time and batch and length and devices and reading.get("tokens_per_s_per_accelerator") is None:
        rate = batch * length / time / devices
        reading.derive("tokens_per_s_per_accelerator", rate, "global_batch", "seq_len", "step_time_s", "accelerators")


def _of_samples(reading: Reading, rates: list[float]) -> None:
    """Step time of a log that prints samples per second, where the batch is known."""
    batch = reading.get("global_batch")
    if rates and batch:
        reading.derive("step_time_s", float(f"{batch / median(rates):.9g}"), "global_batch")


def _cut_ends(steps: list[Step]) -> None:
    """Drop values at the end of a line without its closing bar, where most lines have one: the line was cut."""
    ends = [step for step in steps if step.open_end]
    if 2 * len(ends) < len(steps):
        for step in ends:
            step.values.pop(step.open_end or "", None)


def _announced(reading: Reading, lines: list[str]) -> None:
    """What the framework prints once before training; the first statement counts."""
    per_device = None
    for line_number, line in enumerate(lines, 1):
        if len(line) > 4_000 or not any(sign in line for sign in (":", "Training starts", " ...", "| ")):
            continue
        for pattern, names in log_dialects.ANNOUNCED:
            match = pattern.search(line)
            for name, raw in zip(names, match.groups() if match else (), strict=False):
                if len(raw) < 16 and name not in reading.facts:
                    reading.state(
                        name,
                        raw,
                        match.group().split(":")[0].strip("| ")[:40].split("  ")[0] if match else None,
                        line_number,
                    )
        if per_device is None and (hits := log_dialects.PER_DEVICE.search(line)):
            per_device = number(hits.group(1))
    devices = reading.get("accelerators")
    if per_device and devices and float(per_device * devices).is_integer():
        reading.derive("global_batch", int(per_device * devices), "accelerators")


def _arguments(reading: Reading, lines: list[str]) -> None:
    """Megatron's dump of its arguments: `num_layers .......... 96`; None and False mean that a flag is not set."""
    words: list[tuple[str, int]] = []
    seen: dict[str, str] = {}
    for line_number, line in enumerate(lines, 1):
        match = log_dialects.ARGUMENT.match(line) if " ..." in line and len(line) < 2_000 else None
        if match and match.group(1) not in seen:
            name, value = match.group(1), match.group(2).strip()
            seen[name] = value
            if value not in {"None", "False"}:
                words += [(f"--{name}", line_number)] + ([] if value == "True" else [(value, line_number)])
    if len(seen) < 20 or "num_layers" not in seen:
        return
    for switch, flag in SWITCHED.items():
        if seen.get(switch) == "False":
            words = _without(words, flag)
    flags = Flags(words)
    read_flags(reading, flags)
    if seen.get("world_size", "").isdigit():
        reading.state("accelerators", seen["world_size"], "world_size", flags.line("world-size"))
    vpp = seen.get("virtual_pipeline_model_parallel_size", "")
    if vpp.isdigit():
        reading.state(
            "vpp", vpp, "virtual_pipeline_model_parallel_size", flags.line("virtual-pipeline-model-parallel-size")
        )
    reading.architecture["complete"] = False


def _without(words: list[tuple[str, int]], flag: str) -> list[tuple[str, int]]:
    place = next((i for i, (word, _) in enumerate(words) if word == flag), None)
    return words if place is None else words[:place] + words[place + 2 :]
