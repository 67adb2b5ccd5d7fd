"""What a recompute cell means: which parts of a layer backward computes again, as frameworks name them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import pandas as pd

from analysis.layout.parse import Array

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
