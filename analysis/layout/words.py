"""What the words of a layout row say about storage and recomputation: precision, recompute, offload, ZeRO stage.

Everything here is read from stated words or follows from how the named stack works; each rule names its ground.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
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


MODULES = {
    "core_attn": ("core",),
    "core_attention": ("core",),
    "attention": ("core",),
    "sdpa": ("core",),
    "attn": ("core", "qkv"),
    "self_attention": ("core", "qkv"),
    "mla_up_proj": ("qkv",),
    "qkv": ("qkv",),
    "qkv_proj_offloaded": ("qkv",),
    "mlp": ("mlp",),
    "ffn": ("mlp",),
    "moe": ("experts",),
    "experts": ("experts",),
    "moe_act": ("expert_activation",),
    "act": ("expert_activation",),
    "shared_experts": ("shared_expert",),
    "layernorm": ("norm",),
    "norm": ("norm",),
    "rmsnorm": ("norm",),
    "mlp_rms": ("norm",),
    "mla_rms": ("norm",),
    "op": ("operator",),
    "sac": ("operator",),
}
"""Words inside `selective (...)`, as Megatron-Core and others name them, and the parts of the layer they drop."""

RECOMPUTE_FORMS = (
    "none", "selective", "selective (mlp,moe_act,layernorm)", "full", "full (4 layers)", "full (every 2 layers)",
    "full+offload",
)  # fmt: skip
"""How a recompute cell may be written, one example each."""

WHOLE = ("full", "full+offload", "yes", "true", "gradient checkpointing", "activation checkpointing")


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
    layer_count: Array
    every: Array
    understood: Array

    @classmethod
    def read(cls, recompute: pd.Series[Any]) -> Recompute:
        """Read the recompute column once per distinct text."""
        codes, distinct = pd.factorize(recompute.astype(object))
        blank = dict.fromkeys((f.name for f in fields(cls)), np.nan)
        texts = [cell if isinstance(cell, tuple) else str(cell).strip() for cell in distinct]
        table = [recompute_words(text) if text else blank for text in texts]
        columns = {name: np.asarray([row[name] for row in [*table, blank]])[codes] for name in blank}
        return cls(**columns)


def recompute_words(text: str | tuple[str, ...]) -> dict[str, float]:
    """Shares and switches that one recompute text, or the modules of a typed layout, state.

    `none`; `full`; `full (4 layers)` or `full (block, 4 layers)` (of each stage); `full (every 2 layers)` (inputs kept
    of groups of two); `full+offload` (checkpoints on the host); `selective` (the attention core); `selective (a,b)`
    with module names; `selective (every 2nd layer)` (whole layers, each second); torchtitan's `selective op` and
    `selective layer`; MaxText's `remat_policy=...`. Any other word leaves the row unknown.

    >>> shares = recompute_words("selective (mla_up_proj,mlp)")
    >>> shares["qkv"], shares["mlp"], shares["core"]
    (1.0, 1.0, 0.0)
    >>> recompute_words("mixed: see flag")["understood"]
    0.0
    """
    words = dict.fromkeys((f.name for f in fields(Recompute)), 0.0) | {"every": 1.0}
    if isinstance(text, tuple):
        return words | _parts(text)
    lowered = text.strip().lower()
    stated = _whole_layers(lowered) or _modules(lowered) or _remat_policy(lowered)
    if lowered in ("none", "no", "false"):
        stated = {"understood": 1.0}
    return words | stated


def _whole_layers(text: str) -> dict[str, float]:
    """What a text says about recomputing whole layers; nothing when it speaks of something else."""
    full = {"understood": 1.0, "layer": 1.0}
    if text in WHOLE:
        return full | {"offloaded": float("offload" in text)}
    partly = re.fullmatch(r"full \((every |block, |uniform, )?(\d+) layers?\)", text)
    if partly:
        grouped = partly.group(1) in ("every ", "uniform, ")
        return full | {"every" if grouped else "layer_count": float(partly.group(2))}
    if text == "selective layer":  # torchtitan: every second layer unless its configuration says another number
        return full | {"layer": 0.5}
    each = re.fullmatch(r"selective \((?:every|each) (\d+)(?:nd|rd|th) layer\)", text)
    return full | {"layer": 1 / float(each.group(1))} if each else {}


def _modules(text: str) -> dict[str, float]:
    """What a text says about parts of a layer; nothing when a word is not known."""
    if text == "selective op":
        return {"understood": 1.0, "operator": 1.0}
    if text == "selective":
        return {"understood": 1.0, "core": 1.0, "plain_selective": 1.0}
    named = re.fullmatch(r"selective\s*\(([\w\s,+]+)\)", text)
    modules = [part.strip() for part in re.split(r"[,+]", named.group(1))] if named else []
    return _parts(modules)


MAXTEXT_KEEPS = {
    "full": "",
    "save_qkv_proj": "query_proj key_proj value_proj",
    "qkv_proj_offloaded": "query_proj key_proj value_proj",
    "save_out_proj": "out_proj",
    "minimal": "query_proj key_proj value_proj out_proj mlpwi mlpwo context",
    "minimal_offloaded": "query_proj key_proj value_proj out_proj mlpwi mlpwo context",
}
"""Outputs that MaxText's remat policies keep, on the device or on the host; the rest of a layer is computed again."""


def _remat_policy(text: str) -> dict[str, float]:
    """What a remat policy of MaxText drops; nothing when the text is none.

    `custom` lists outputs with `device` or `offload` (kept) or `remat` (computed again).
    """
    named = re.fullmatch(r"(?:maxtext )?remat_policy=(\w+)\s*(?:\((.*)\))?", text)
    if named is None or named.group(1) not in (*MAXTEXT_KEEPS, "custom"):
        return {}
    listed = dict(part.split("=", 1) for part in re.split(r",\s*", named.group(2) or "") if "=" in part)
    kept = {name.strip() for name, place in listed.items() if place.strip() != "remat"}
    kept |= set(MAXTEXT_KEEPS.get(named.group(1), "").split())
    offloaded = float("offload" in text)
    if not kept - {"decoder_layer_input"}:
        return {"understood": 1.0, "layer": 1.0, "offloaded": offloaded}
    dropped = {"norm": 1.0, "core": float("context" not in kept), "mlp": float("mlpwi" not in kept)}
    dropped["experts"] = dropped["shared_expert"] = dropped["expert_activation"] = dropped["mlp"]
    dropped["qkv"] = float("query_proj" not in kept)
    return dropped | {"understood": 1.0, "offloaded": offloaded}


def _parts(modules: Sequence[str]) -> dict[str, float]:
    """Parts of a layer that named modules drop; nothing when one of them is not known."""
    if not modules or not all(module in MODULES for module in modules):
        return {}
    return {part: 1.0 for module in modules for part in MODULES[module]} | {"understood": 1.0}
