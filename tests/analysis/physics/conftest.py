"""A made-up card and layout for tests of whole layers and steps: round numbers, no efficiency loss unless asked."""

from dataclasses import replace
from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.physics.architecture import Architecture, describe
from analysis.physics.work import Chip, Work

#: Constants under which nothing is lost and everything is exposed.
NEUTRAL = {
    "attention.half_length": 0.0,
    "attention.unfused_share": 1.0,
    "attention.alignment_share": 1.0,
    "attention.softmax_bytes": 15.0,
    "elementwise.passes": 1.0,
    "elementwise.unfused_stack": 1.0,
    "head.loss_bytes": 20.0,
    "moe.grouped_gemm": 1.0,
    "moe.layer_seconds": 0.0,
    "moe.expert_seconds": 0.0,
    "host.layer_seconds": 0.0,
    "host.moe_layer_seconds": 0.0,
    "exposed.tp": 1.0,
    "exposed.tp_all_reduce": 1.0,
    "exposed.cp": 1.0,
    "exposed.ep": 1.0,
    "exposed.ep_dualpipe": 0.0,
    "dualpipe.sending_share": 20 / 132,
    "exposed.pp": 1.0,
    "exposed.dp": 1.0,
    "exposed.fsdp": 1.0,
    "exposed.compiled": 1.0,
    "elementwise.compiled": 1.0,
    "window.dp": 0.0,
    "window.fsdp": 0.0,
    "link.scale_up_share": 1.0,
    "link.scale_out_share": 1.0,
    "optimizer.bytes": 30.0,
    "optimizer.hbm_share": 1.0,
    "scale.loss_per_doubling": 0.0,
}
CARD = {
    "linear_rate": 200e12, "head_rate": 100e12, "core_rate": 50e12, "biased_core_rate": 25e12, "hbm_bandwidth": 2e12,
    "scale_up": 400e9, "domain": 8.0, "scale_out": 50e9, "host_link": np.nan, "fabric": 0.0,
}  # fmt: skip
PLAIN_LAYOUT = {
    "seq_len": 2048.0, "micro_batch": 1.0, "micro_batches": 4.0, "tp": 1.0, "sequence_parallel": 0.0, "cp": 1.0,
    "pp": 1.0, "vpp": 1.0, "ep": 1.0, "etp": 1.0, "dp": 1.0, "schedule": 1.0, "zero_stage": 1.0, "shard_ranks": 0.0,
    "recompute_layer": 0.0, "recompute_projections": 0.0, "recompute_mlp": 0.0, "recompute_routed": 0.0,
    "recompute_shared": 0.0, "recompute_core": 0.0, "recompute_elementwise": 0.0, "kernel": 0.0, "linear_bytes": 2.0,
    "quantised": 0.0, "layers_max": 4.0, "layers_last": 4.0, "split_stated": 0.0, "compiled": 0.0,
}  # fmt: skip
GPT = {"layers": 4, "hidden": 1024, "ffn_hidden": 4096, "heads": 8, "head_dim": 128, "vocab": 32000, "gated_mlp": True,
       "tied_embeddings": False}  # fmt: skip
MOE = GPT | {"experts": 16, "experts_per_token": 2, "moe_ffn_hidden": 512}


def model(**facts: Any) -> Architecture:
    """The dense model with other facts."""
    return describe(GPT | facts)


def card(**rates: Any) -> Chip:
    """The card with other rates, one row."""
    return Chip(**{name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in (CARD | rates).items()})


def layout(**choices: Any) -> Work:
    """The layout with other choices, one row."""
    values = PLAIN_LAYOUT | choices
    return Work(**{name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in values.items()})


def fast_memory(chip: Chip) -> Chip:
    """The card without a memory limit."""
    return replace(chip, hbm_bandwidth=np.full_like(chip.hbm_bandwidth, np.inf))


@pytest.fixture
def house() -> SimpleNamespace:
    """The made-up card, models and layout in one place."""
    return SimpleNamespace(
        neutral=NEUTRAL, moe=MOE, model=model, card=card, layout=layout, fast_memory=fast_memory,
        fast_card=lambda **rates: fast_memory(card(**rates)),
    )  # fmt: skip
