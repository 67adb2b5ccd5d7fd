"""What the words of a layout row say about storage and recomputation: precision, recompute, offload, ZeRO stage.

Everything here is read from stated words or follows from how the named stack works; each rule names its ground.
"""

from __future__ import annotations

import re
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.layout.parse import Array, TextColumn, categories
from schemas.conventions import ELEMENT_BYTES
from schemas.units import UNITS

FP32, FP16, BF16, FP8, MXFP8, NVFP4 = (float(i) for i in range(6))
DTYPES = {"fp32": FP32, "fp16": FP16, "bf16": BF16, "fp8": FP8, "mxfp8": MXFP8, "nvfp4": NVFP4}
UNKNOWN = -1.0

_FAMILIES = (
    (r"nvfp4|mxfp4|fp4", NVFP4),
    (r"mxfp8|fp8-mx", MXFP8),
    (r"fp8|float8|int8", FP8),
    (r"bf16|bfloat16|^half$", BF16),  # half: the table does not say which; BF16 is what most of them train in
    (r"fp16|float16|^16", FP16),
    (r"fp32|tf32|^32", FP32),
)


def dtype_code(text: str) -> float:
    """Arithmetic of the matrix products that a precision text names; -1 when it names none.

    >>> [dtype_code(t) for t in ("FP8-MX", "bf16 (BF16 optimizer, fp32 grad accumulation)", "amp_bf16", "16", "int3")]
    [4.0, 2.0, 2.0, 1.0, -1.0]
    """
    first = re.split(r"[(;]", text.lower())[0].strip()
    return next((code for pattern, code in _FAMILIES if re.search(pattern, first)), UNKNOWN)


MOMENT_BYTES = (
    (r"8-?bit (adam|optim)|(adam|adamw) ?8-?bit", 2.0),
    (r"lomo|adafactor|\bsgd\b", 0.0),
    (r"\blion\b|momentum|\bmuon\b", 4.0),
    (r"galore", 2.0),
    (r"adam states (bf16|fp16)", 4.0),
)
"""Bytes of optimizer states per parameter beside the master weights, by the optimizer's name: one FP32 moment, two
8-bit ones, two of a quarter of the rank (GaLore), next to nothing (Adafactor, plain SGD), or both in 16 bits."""


@dataclass(frozen=True)
class Words:
    """Codes and switches read from text columns; NaN where a row does not say."""

    dtype: Array
    integer: Array
    rowwise: Array
    tf32: Array
    pure_16bit: Array
    deepspeed_bf16: Array
    moment_bytes: Array
    adapter: Array
    no_gradients: Array
    no_master: Array
    offloaded_optimizer: Array
    offloaded_weights: Array
    offload_understood: Array

    @classmethod
    def read(
        cls,
        precision: pd.Series[Any],
        optimizer: pd.Series[Any],
        offload: pd.Series[Any],
        name: pd.Series[Any],
        adapter: pd.Series[Any],
    ) -> Words:
        """Read each column once per distinct text; the model's name for methods only, which some tables put there."""
        words, method, host, model = (TextColumn(column) for column in (precision, optimizer, offload, name))
        named = [column.map(_moment_bytes) for column in (method, words, model)]
        in_backward = [_says(column, _IN_BACKWARD) for column in (words, method, model)]
        return cls(
            dtype=words.map(dtype_code),
            integer=_says(words, r"int8"),
            rowwise=_says(words, r"rowwise"),
            tf32=_says(words, r"tf32"),
            pure_16bit=_says(words, r"pure|bf16-true|bf16_true|adam states bf16"),
            deepspeed_bf16=_says(words, r"bf16[ -]optimizer"),
            moment_bytes=np.select([~np.isnan(width) for width in named], named, np.nan),
            adapter=np.nan_to_num(np.fmax.reduce([c.map(_adapter) for c in (words, model, TextColumn(adapter))])),
            no_gradients=np.maximum.reduce(in_backward),
            no_master=np.maximum.reduce([_says(column, r"lomo") for column in (words, method, model)]),
            offloaded_optimizer=_says(host, r"optim|^cpu$|^true$|^all$"),
            offloaded_weights=_says(host, r"param|weight|^all$"),
            offload_understood=host.map(lambda text: float(bool(re.search(_OFFLOAD, text)))),
        )


_IN_BACKWARD = r"in backward|fused backward|lomo"
OFFLOADS = ("no", "optimizer", "parameters", "activations", "all")
"""Words of the offload column; a text may hold several."""
_OFFLOAD = r"optim|param|weight|activation|^(cpu|true|all|no|false|0)$"


def _says(column: TextColumn, pattern: str) -> Array:
    """1 where the text matches, 0 where it does not or the cell is blank."""
    return np.nan_to_num(column.map(lambda text: float(bool(re.search(pattern, text)))))


ADAPTERS = {"none": 0.0, "lora": 1.0, "qlora": 2.0}
"""What is trained beside a frozen base; qlora keeps the base in four bits."""


def _adapter(text: str) -> float:
    """Code of `ADAPTERS` that a text names.

    >>> [_adapter(t) for t in ("bf16", "llama3-8b lora", "bf16 compute; nf4 base weights", "bf16 base weights")]
    [0.0, 1.0, 2.0, 1.0]
    """
    if re.search(r"\bqlora\b|nf4", text):
        return ADAPTERS["qlora"]
    return ADAPTERS["lora"] if re.search(r"\b(lora|adapter)\b|base weights", text) else ADAPTERS["none"]


def _moment_bytes(text: str) -> float:
    return next((width for pattern, width in MOMENT_BYTES if re.search(pattern, text)), np.nan)


LOSSES = {"chunked": 0.0, "in_place": 1.0, "unfused": 2.0, "eager": 3.0}
"""Loss kernels by name; see the `logits` constants of the calibration."""

KINDS = {"allocated": 0.0, "reserved": 1.0, "nvidia-smi": 2.0}
"""What a memory figure measures."""


_NETWORK_NOTE = re.compile(r"(\d+)\s*x\s*(\d+)\s*gbit/s.*per\s*(\d+)-gpu")


def stated_network(notes: pd.Series[Any]) -> Array:
    """Network rate per accelerator that a note states, e.g. `4 x 100 Gbit/s RoCE per 8-GPU node` [B/s].

    >>> [float(x) for x in stated_network(pd.Series(["4 x 100 Gbit/s RoCE per 8-GPU node", None]))]
    [6250000000.0, nan]
    """

    def read(text: str) -> float:
        result = _NETWORK_NOTE.search(text)
        if result is None:
            return float("nan")
        cards, rate, per = (float(x) for x in result.groups())
        return cards * rate / per * UNITS["Gbit/s"].factor

    return categories(notes, read)


@dataclass(frozen=True)
class Stated:
    """Columns that state outright what is else inferred from the stack; NaN where a row does not say."""

    gradient: Array
    moment: Array
    loss: Array
    kind: Array

    @classmethod
    def read(
        cls, gradient: pd.Series[Any], moment: pd.Series[Any], loss: pd.Series[Any], kind: pd.Series[Any]
    ) -> Stated:
        """Read each column once per distinct text; words that are not known say nothing."""
        return cls(
            gradient=categories(gradient, lambda text: ELEMENT_BYTES.get(text, np.nan)),
            moment=categories(moment, lambda text: ELEMENT_BYTES.get(text, np.nan)),
            loss=categories(loss, lambda text: LOSSES.get(text, np.nan)),
            kind=categories(kind, lambda text: KINDS.get(text, np.nan)),
        )
