"""A made-up card and layout for tests of whole layers and steps: round numbers, no efficiency loss unless asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, fields
from typing import Any

import numpy as np
import pytest

from analysis.physics.architecture import Architecture, describe
from analysis.physics.efficiency import (
    Attention,
    Efficiency,
    Elementwise,
    Experts,
    Host,
    Links,
    Overlap,
    Recompute,
)
from analysis.physics.links import Network
from analysis.physics.work import Chip, Work

NEUTRAL = {
    "attention": Attention(1.0, 0.0, 1.0, 15.0, 0.2),
    "elementwise": Elementwise(
        passes=1.0, unfused_stack=1.0, compiled=1.0, loss_bytes=20.0, optimizer_bytes=30.0, optimizer_hbm_share=1.0
    ),
    "experts": Experts(grouped_gemm=1.0, layer_seconds=0.0, expert_seconds=0.0),
    "overlap": Overlap(
        tp=1.0, tp_all_reduce=1.0, cp=1.0, ep=1.0, ep_dualpipe=0.0, pp=1.0, dp=1.0, fsdp=1.0, compiled=1.0,
        window_dp=0.0, window_fsdp=0.0, dualpipe_sending_share=20 / 132,
    ),
    "links": Links(
        scale_up_share=1.0, scale_out_share=1.0, hop_up=0.0, hop_out=0.0, test_bytes=1e9, test_share=0.5
    ),
    "host": Host(layer_seconds=0.0, moe_layer_seconds=0.0, step_seconds=0.0, scale_loss=0.0),
    "recompute": Recompute(
        up_projection_share=0.6, operator_share=0.5, light_share=0.5, unpacked_bytes=4.5, kept_slack=1.5
    ),
}  # fmt: skip
"""Constants under which nothing is lost and everything is exposed."""
CARD = {
    "linear_rate": 200e12, "head_rate": 100e12, "core_rate": 50e12, "biased_core_rate": 25e12, "hbm_bandwidth": 2e12,
}  # fmt: skip
NETWORK = {"scale_up": 400e9, "domain": 8.0, "scale_out": 50e9, "host_link": np.nan, "fabric": 0.0,
           "hop_up": 0.0, "hop_out": 0.0}  # fmt: skip
LAYOUT = {
    "seq_len": 2048.0, "micro_batch": 1.0, "micro_batches": 4.0, "tp": 1.0, "sequence_parallel": 0.0, "cp": 1.0,
    "pp": 1.0, "vpp": 1.0, "ep": 1.0, "etp": 1.0, "dp": 1.0, "schedule": 1.0, "zero_stage": 1.0, "shard_ranks": 0.0,
    "recompute_layer": 0.0, "recompute_projections": 0.0, "recompute_mlp": 0.0, "recompute_routed": 0.0,
    "recompute_shared": 0.0, "recompute_core": 0.0, "recompute_elementwise": 0.0, "kernel": 0.0, "linear_bytes": 2.0,
    "quantised": 0.0, "element_bytes": 2.0, "trained": 1.0, "unpacked_bytes": 0.0,
    "layers_max": 4.0, "layers_last": 4.0, "split_stated": 0.0, "compiled": 0.0,
    "bucket_bytes": 0.0,
}  # fmt: skip
GPT = {"layers": 4, "hidden": 1024, "ffn_hidden": 4096, "heads": 8, "head_dim": 128, "vocab": 32000, "gated_mlp": True,
       "tied_embeddings": False}  # fmt: skip


def row(values: Mapping[str, Any]) -> dict[str, Any]:
    """Numbers as arrays of one row."""
    return {name: np.atleast_1d(np.asarray(value, dtype=float)) for name, value in values.items()}


@dataclass(frozen=True)
class Toy:
    """A card, a model, a layout and constants of round numbers."""

    moe: dict[str, Any] = field(
        default_factory=lambda: GPT | {"experts": 16, "experts_per_token": 2, "moe_ffn_hidden": 512}
    )

    def model(self, **facts: Any) -> Architecture:
        """The dense model with other facts."""
        return describe(GPT | facts)

    def network(self, **links: Any) -> Network:
        """Links of the card with other rates."""
        return Network(**row(NETWORK | links))

    def card(self, **rates: Any) -> Chip:
        """The card with other rates."""
        links = {name: rates.pop(name) for name in list(rates) if name in NETWORK}
        return Chip(**row(CARD | rates), network=self.network(**links))

    def fast_card(self, **rates: Any) -> Chip:
        """The card without a memory limit."""
        return self.card(hbm_bandwidth=np.inf, **rates)

    def layout(self, **choices: Any) -> Work:
        """The layout with other choices; the first stage is as full as the fullest unless named."""
        values = LAYOUT | choices
        return Work(**row({"layers_first": values["layers_max"]} | values))

    def constants(self, changes: Mapping[str, float] | None = None) -> Efficiency:
        """The neutral constants with some replaced by dotted name."""
        parts = {name: {f.name: getattr(part, f.name) for f in fields(part)} for name, part in NEUTRAL.items()}
        for name, value in (changes or {}).items():
            subject, key = name.split(".")
            assert key in parts[subject], name
            parts[subject][key] = value
        return Efficiency(**{name: type(NEUTRAL[name])(**values) for name, values in parts.items()})  # type: ignore[arg-type]  # one class per name


@pytest.fixture
def toy() -> Toy:
    """The made-up card, model and layout."""
    return Toy()
