"""Columns of a table of layouts and of the accelerator table, and the unit that a column's name promises."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import pandas as pd

from analysis.physics import bubble
from schemas.capacity import GIB, card_gib

REQUIRED = (
    "id", "accelerator", "accelerators", "layers", "hidden", "ffn_hidden", "heads", "vocab", "gated_mlp",
    "tied_embeddings", "seq_len", "tp", "cp", "pp", "micro_batch", "global_batch", "precision", "attention_kernel",
    "zero_stage", "recompute",
)  # fmt: skip
"""Columns that a table must have; a cell in them may still be blank."""

COUNTS = (
    "layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab", "experts", "experts_per_token",
    "moe_ffn_hidden", "moe_layer_step", "norms_per_layer", "seq_len", "tp", "cp", "pp", "vpp", "ep", "etp", "dp",
    "micro_batch", "global_batch", "accelerators", "fsdp_shard",
)  # fmt: skip
TALLIES = (
    "shared_ffn_hidden", "dense_layers", "q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim",
    "v_head_dim", "mtp_layers", "sliding_window", "sliding_window_layers", "learned_positions", "zero_stage",
    "norm_vectors", "recompute_layers",
)  # fmt: skip
FLAGS = (
    "gated_mlp", "tied_embeddings", "mla", "sequence_parallel", "qkv_bias", "attention_output_bias", "mlp_bias",
    "expert_bias", "router_bias", "shared_expert_gate", "attention_sinks", "embedding_norm", "final_norm", "head_bias",
)  # fmt: skip

SCHEDULE_NAMES = {
    **bubble.SCHEDULES,
    "interleaved": bubble.INTERLEAVED,
    "zb1p": bubble.ZB_1P,
    "zb2p": bubble.ZB_2P,
    "zbv": bubble.ZB_V,
}

SIZES = ("usable_memory_gib", "hbm_gib", "hbm_gb")
"""Columns that size an accelerator's memory, in the order of `capacity.card_gib`."""

UNITS = {
    "_gbit_s": 1e9 / 8,
    "_gb_s": 1e9,
    "_tflops": 1e12,
    "_tops": 1e12,
    "_gib": 2.0**30,
    "_gb": 1e9,
    "_w": 1.0,
}
"""Factor to base units (B, B/s, FLOP/s, W) by the suffix of a column's name, longest first."""


def check_columns(columns: Iterable[str]) -> None:
    """Raise ValueError with one sentence that names every column the table lacks.

    >>> check_columns([name for name in REQUIRED if name != "tp"])
    Traceback (most recent call last):
    ...
    ValueError: the table lacks the column tp; a blank cell is fine, an absent column is not
    """
    present = set(columns)
    absent = [name for name in REQUIRED if name not in present]
    if absent:
        noun = "column" if len(absent) == 1 else "columns"
        raise ValueError(
            f"the table lacks the {noun} {', '.join(absent)}; a blank cell is fine, an absent column is not"
        )


def in_base_units(accelerators: pd.DataFrame) -> pd.DataFrame:
    """The accelerator table in B, B/s, FLOP/s and W, unit suffixes dropped, indexed by id; sizes become one, `card`.

    >>> table = in_base_units(pd.DataFrame({"id": ["x/y"], "hbm_gb": [80], "scale_out_gbit_s": [400]}))
    >>> float(table.loc["x/y", "card"]), float(table.loc["x/y", "scale_out"])
    (80000000000.0, 50000000000.0)
    """
    out: dict[str, Any] = {}
    for name in accelerators.columns.drop("id"):
        suffix = next((s for s in UNITS if str(name).endswith(s)), "")
        if suffix:
            values = pd.to_numeric(accelerators[name], errors="coerce").to_numpy(dtype=float)
            out[str(name).removesuffix(suffix)] = values * UNITS[suffix]
        elif name == "scale_up_domain":
            out["scale_up_domain"] = pd.to_numeric(accelerators[name], errors="coerce").to_numpy(dtype=float)
    out = {name: values for name, values in out.items() if name not in ("hbm", "usable_memory")}
    return pd.DataFrame(out | {"card": _cards(accelerators)}, index=pd.Index(accelerators["id"], name="id"))


def _cards(accelerators: pd.DataFrame) -> list[float]:
    """Capacity of each accelerator [B]; NaN where no size is known."""
    sizes = [list(accelerators[name]) if name in accelerators else [None] * len(accelerators) for name in SIZES]
    known = (card_gib(*(None if pd.isna(size) else float(size) for size in each)) for each in zip(*sizes, strict=True))
    return [float("nan") if gib is None else gib * GIB for gib in known]
