"""What the words of a layout row say about storage and recomputation: precision, recompute, offload, ZeRO stage.

Everything here is read from stated words or follows from how the named stack works; each rule names its ground.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from analysis.cells import Array, categories, distinct_texts

FP32, FP16, BF16, FP8, MXFP8, NVFP4 = (float(i) for i in range(6))
DTYPES = {"fp32": FP32, "fp16": FP16, "bf16": BF16, "fp8": FP8, "mxfp8": MXFP8, "nvfp4": NVFP4}
UNKNOWN = -1.0

_FAMILIES = (
    (r"nvfp4|mxfp4|fp4", NVFP4),
    (r"mxfp8|fp8-mx", MXFP8),
    (r"fp8|float8", FP8),
    (r"bf16|bfloat16", BF16),
    (r"fp16|float16|^16|half", FP16),
    (r"fp32|tf32|^32", FP32),
)


def dtype_code(text: str) -> float:
    """Arithmetic of the matrix products that a precision text names; -1 when it names none.

    >>> [dtype_code(t) for t in ("FP8-MX", "bf16 (BF16 optimizer, fp32 grad accumulation)", "amp_bf16", "16", "int3")]
    [4.0, 2.0, 2.0, 1.0, -1.0]
    """
    first = re.split(r"[(;]", text.lower())[0].strip()
    return next((code for pattern, code in _FAMILIES if re.search(pattern, first)), UNKNOWN)


@dataclass(frozen=True)
class Words:
    """Codes and switches read from text columns; NaN where a row does not say."""

    dtype: Array
    pure_16bit: Array
    deepspeed_bf16: Array
    eight_bit_moments: Array
    adapter: Array
    no_gradients: Array

    @classmethod
    def read(cls, precision: pd.Series[Any]) -> Words:
        """Read the precision column once per distinct text."""

        def has(pattern: str) -> Array:
            return np.nan_to_num(categories(precision, lambda text: float(bool(re.search(pattern, text)))))

        return cls(
            dtype=categories(precision, dtype_code),
            pure_16bit=has(r"pure|bf16-true|bf16_true|adam states bf16"),
            deepspeed_bf16=has(r"bf16 optimizer"),
            eight_bit_moments=has(r"8-?bit (adam|optim)|adam\w* ?8-?bit"),
            adapter=has(r"lora|adapter|nf4|base weights"),
            no_gradients=has(r"in backward|fused backward"),
        )


MODULES = {
    "core_attn": "core",
    "core_attention": "core",
    "attention": "core",
    "mla_up_proj": "qkv",
    "mlp": "mlp",
    "moe": "experts",
    "moe_act": "expert_activation",
    "shared_experts": "shared_expert",
    "layernorm": "norm",
    "norm": "norm",
    "op": "operator",
    "qkv_proj_offloaded": "qkv",
}
"""Words inside `selective (...)`, as Megatron-Core names them, and the part of the layer they drop."""


@dataclass(frozen=True)
class Recompute:
    """Shares of the layer that backward computes again, and whether checkpoints leave the device; NaN: not stated."""

    layer: Array
    core: Array
    qkv: Array
    mlp: Array
    experts: Array
    expert_activation: Array
    shared_expert: Array
    norm: Array
    operator: Array
    offloaded: Array
    plain_selective: Array
    understood: Array

    @classmethod
    def read(cls, recompute: pd.Series[Any]) -> Recompute:
        """Read the recompute column once per distinct text."""
        codes, texts = distinct_texts(recompute)
        blank = dict.fromkeys((f.name for f in fields(cls)), np.nan)
        table = [recompute_words(text) if text else blank for text in texts]
        columns = {name: np.asarray([row[name] for row in [*table, blank]])[codes] for name in blank}
        return cls(**columns)


def recompute_words(text: str) -> dict[str, float]:
    """Shares and switches that one recompute text states.

    `none`; `full`; `full+offload` (checkpoints on the host); `selective` (the attention core); `selective (a,b)` with
    the module names of Megatron-Core. Any other word leaves the row unknown.

    >>> [name for name, value in recompute_words("selective (mla_up_proj,mlp)").items() if value]
    ['qkv', 'mlp', 'understood']
    >>> recompute_words("mixed: see flag")["understood"]
    0.0
    """
    words = dict.fromkeys((f.name for f in fields(Recompute)), 0.0)
    lowered = text.strip().lower()
    named = re.fullmatch(r"selective\s*\(([\w\s,]+)\)", lowered)
    if lowered in ("none", "no", "false"):
        return words | {"understood": 1.0}
    if lowered in ("full", "full+offload"):
        return words | {"understood": 1.0, "layer": 1.0, "offloaded": float("offload" in lowered)}
    if lowered == "selective":
        return words | {"understood": 1.0, "core": 1.0, "plain_selective": 1.0}
    modules = [part.strip() for part in named.group(1).split(",")] if named else []
    if modules and all(module in MODULES for module in modules):
        return words | {MODULES[module]: 1.0 for module in modules} | {"understood": 1.0}
    return words
