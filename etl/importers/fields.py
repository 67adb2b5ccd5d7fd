"""The fields a reading may hold, and how a raw value of a file becomes a value of a field."""

import math
import re
from typing import Any

from etl.importers.problems import ImporterError

COUNTS = frozenset(
    [
        "layers",
        "hidden",
        "ffn_hidden",
        "moe_ffn_hidden",
        "heads",
        "kv_heads",
        "head_dim",
        "vocab",
        "experts",
        "experts_per_token",
        "shared_experts",
        "seq_len",
        "params_total",
        "params_active",
        "tp",
        "pp",
        "cp",
        "ep",
        "vpp",
        "dp",
        "zero_stage",
        "micro_batch",
        "global_batch",
        "global_batch_tokens",
        "accelerators",
        "tokens",
        "train_steps",
        "etp",
        "fsdp_shard",
        "sliding_window",
        "sliding_window_layers",
        "mtp_layers",
        "shared_ffn_hidden",
        "dense_layers",
        "moe_layer_step",
    ]
)
MEASURES = frozenset(["tflops_per_accelerator", "step_time_s", "tokens_per_s_per_accelerator", "memory_gib", "loss"])
FLAGS = frozenset({"tied_embeddings", "sequence_parallel"})
MAY_BE_ZERO = frozenset(
    {"zero_stage", "shared_experts", "experts", "experts_per_token", "moe_ffn_hidden", "mtp_layers", "dense_layers"}
)
# No plan comes within a factor of a thousand of this (tokens, parameters): above it stands a mistake or an attack.
LARGEST = 10**18

# One readable table: the words frameworks use for the precision of matrix products.
PRECISIONS = {
    "bf16": "bf16", "bfloat16": "bf16", "amp_bf16": "bf16", "bf16-mixed": "bf16",
    "bf16_mixed": "bf16", "bf16-true": "bf16",
    "bf": "bf16", "torch.bfloat16": "bf16", "bf16_with_fp32_residual": "bf16", "dtypes.bfloat16": "bf16",
    "fp16": "fp16", "float16": "fp16", "16": "fp16", "16-mixed": "fp16", "half": "fp16", "amp_fp16": "fp16",
    "torch.float16": "fp16",
    "torch.half": "fp16", "fp16_mixed": "fp16", "fp16-mixed": "fp16", "16-true": "fp16", "f16": "fp16",
    "fp32": "fp32", "float32": "fp32", "32": "fp32", "f32": "fp32", "32-true": "fp32", "torch.float32": "fp32",
    "amp_fp32": "fp32",
    "float": "fp32", "torch.float": "fp32", "no": "fp32", "tf32": "fp32",
    "fp8": "fp8", "amp_fp8": "fp8", "float8": "fp8", "e4m3": "fp8", "hybrid": "fp8", "fp8_hybrid": "fp8",
    "mxfp8": "mxfp8", "nvfp4": "nvfp4", "fp4": "nvfp4", "int8": "int8",
}  # fmt: skip
RECOMPUTES = {"none": "none", "selective": "selective", "full": "full"}

_NUMBER = re.compile(r"[+-]?(?:\d[\d_]*\.?[\d_]*|\.\d[\d_]*)(?:[eE][+-]?\d{1,3})?")
_LONGEST_NUMBER = 400


def number(raw: Any) -> int | float | None:
    """A number written as a number or as text, as int where it is whole; None when it is not a number.

    Covers what YAML 1.1 leaves as text: ``1e-6``, ``5e12``, ``10_000``, ``"72.0"``, ``1.e-8``.

    >>> number("5e12"), number("10_000"), number("72.0"), number("1.e-8"), number("auto"), number(True)
    (5000000000000, 10000, 72, 1e-08, None, None)
    """
    if isinstance(raw, bool) or raw is None:
        return None
    if isinstance(raw, str):
        text = raw.strip()
        if len(text) > _LONGEST_NUMBER and text.isdigit():
            raise ImporterError(f"a number of {len(text)} digits stands where no run has one; check the file")
        if len(text) > _LONGEST_NUMBER or not _NUMBER.fullmatch(text):
            return None
        text = text.replace("_", "")
        raw = int(text) if re.fullmatch(r"[+-]?\d+", text) else float(text)
    if isinstance(raw, float):
        if not math.isfinite(raw):
            return None
        return int(raw) if raw.is_integer() else raw
    return raw if isinstance(raw, int) else None


def whole(raw: Any) -> int | None:
    """A whole number of 0 or more, or None.

    >>> whole("8192"), whole(8.5), whole(-1), whole("${TP}")
    (8192, None, None, None)
    """
    value = number(raw)
    return value if isinstance(value, int) and value >= 0 else None


def truth(raw: Any) -> bool | None:
    """A yes or no, also written as text or as 0 and 1; None for anything else.

    >>> truth("True"), truth("no"), truth(1), truth("auto")
    (True, False, True, None)
    """
    if isinstance(raw, bool):
        return raw
    word = str(raw).strip().lower()
    if word in {"true", "yes", "on", "1"}:
        return True
    return False if word in {"false", "no", "off", "0"} else None


def precision(raw: Any) -> str | None:
    """The project's word for a framework's precision word, or None.

    >>> precision("bf16-mixed"), precision(16), precision("amp_bf16"), precision("auto")
    ('bf16', 'fp16', 'bf16', None)
    """
    return (
        PRECISIONS.get(str(raw).strip().lower()) if isinstance(raw, str | int) and not isinstance(raw, bool) else None
    )


def coerce(field: str, raw: Any) -> Any | None:
    """The value of `field` that `raw` stands for, or None where it stands for none (null, "auto", "${TP}", -1).

    Raises ImporterError for a count no run can have.

    >>> coerce("layers", "80"), coerce("layers", "auto"), coerce("precision", "bfloat16"), coerce("tp", 0)
    (80, None, 'bf16', None)
    """
    if field in COUNTS:
        return _count(field, raw)
    if field in MEASURES:
        value = number(raw)
        return float(value) if value is not None and value > 0 else None
    if field in FLAGS:
        return truth(raw)
    if field == "precision":
        return precision(raw)
    if field == "recompute":
        return RECOMPUTES.get(str(raw).strip().lower())
    raise KeyError(field)


def _count(field: str, raw: Any) -> int | None:
    value = whole(raw)
    if value is None or (value == 0 and field not in MAY_BE_ZERO):
        return None
    if value > LARGEST:
        raise ImporterError(
            f"{field} is a number of {int(math.log10(value)) + 1} digits, which no run has; check the file"
        )
    return value
