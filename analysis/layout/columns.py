"""Columns of a table of layouts and of the accelerator table, and the unit that a column's name promises."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal

import pandas as pd

from analysis.physics import bubble
from schemas.capacity import GIB, card_gib

Kind = Literal["count", "tally", "flag", "rate", "word", "split"]
"""Whole numbers from 1, whole numbers from 0, yes or no, positive numbers, words, layers per pipeline stage."""


@dataclass(frozen=True)
class Column:
    """One column of a table of layouts.

    Attributes
    ----------
    name : as in a CSV, a record and, with hyphens, on the command line
    kind : what its cells are
    group : `model` for facts of the architecture, `layout` for choices of a run, `key` for what names the row
    required : whether a table must have the column; a cell in it may still be blank
    """

    name: str
    kind: Kind
    group: Literal["key", "model", "layout"]
    required: bool = False


_MUST = frozenset({
    "id", "accelerator", "accelerators", "layers", "hidden", "ffn_hidden", "heads", "vocab", "gated_mlp",
    "tied_embeddings", "seq_len", "tp", "cp", "pp", "micro_batch", "global_batch", "precision", "attention_kernel",
    "zero_stage", "recompute",
})  # fmt: skip


def _columns(group: Literal["key", "model", "layout"], kind: Kind, names: str) -> list[Column]:
    return [Column(name, kind, group, name in _MUST) for name in names.split()]


COLUMNS: tuple[Column, ...] = (
    *_columns("key", "word", "id model model_name"),
    *_columns("model", "count", "layers hidden ffn_hidden heads kv_heads head_dim vocab experts experts_per_token"),
    *_columns("model", "count", "moe_ffn_hidden moe_layer_step norms_per_layer"),
    *_columns("model", "tally", "shared_ffn_hidden dense_layers q_lora_rank kv_lora_rank qk_nope_head_dim"),
    *_columns("model", "tally", "qk_rope_head_dim v_head_dim mtp_layers sliding_window sliding_window_layers"),
    *_columns("model", "tally", "learned_positions norm_vectors attention_chunk attention_chunk_layers"),
    *_columns("model", "tally", "index_topk index_heads index_head_dim linear_layers linear_key_heads"),
    *_columns("model", "tally", "linear_key_dim linear_value_heads linear_value_dim linear_conv"),
    *_columns("model", "flag", "gated_mlp tied_embeddings mla qkv_bias attention_output_bias mlp_bias expert_bias"),
    *_columns("model", "flag", "attention_gate"),
    *_columns("model", "flag", "router_bias shared_expert_gate attention_sinks embedding_norm final_norm head_bias"),
    *_columns("model", "word", "qk_norm not_modelled"),
    *_columns("layout", "word", "accelerator"),
    *_columns("layout", "count", "accelerators tp cp pp vpp dp ep etp fsdp_shard seq_len micro_batch global_batch"),
    *_columns("layout", "count", "adapter_rank"),
    *_columns("layout", "tally", "zero_stage"),
    *_columns("layout", "flag", "sequence_parallel"),
    *_columns("layout", "word", "precision recompute attention_kernel schedule offload optimizer fsdp stack adapter"),
    *_columns("layout", "word", "gradient_dtype moment_dtype loss memory_kind network_note"),
    *_columns("layout", "rate", "allreduce_gb_s allgather_gb_s reducescatter_gb_s"),
    *_columns("layout", "split", "layers_per_stage"),
)
"""Every column that the engine reads, in the order in which a row is shown."""

BY_NAME: dict[str, Column] = {column.name: column for column in COLUMNS}
REQUIRED: tuple[str, ...] = tuple(column.name for column in COLUMNS if column.required)
MODEL: tuple[str, ...] = tuple(column.name for column in COLUMNS if column.group == "model")
"""Architecture facts: what a model record, or a published config, fills in. `mtp_own_embedding` is not among them: it
is about what a published checkpoint repeats, not about what a rank stores."""
LAYOUT: tuple[str, ...] = tuple(column.name for column in COLUMNS if column.group == "layout")
"""Choices of a run."""
NUMERIC: frozenset[Kind] = frozenset({"count", "tally", "flag", "rate"})


def of_kind(*kinds: Kind) -> tuple[str, ...]:
    """Names of the columns of some kinds, in order.

    >>> of_kind("split")
    ('layers_per_stage',)
    """
    return tuple(column.name for column in COLUMNS if column.kind in kinds)


SCHEDULE_NAMES = {
    **bubble.SCHEDULES,
    "interleaved": bubble.Schedule.INTERLEAVED,
    "zb1p": bubble.Schedule.ZB_1P,
    "zb2p": bubble.Schedule.ZB_2P,
    "zbv": bubble.Schedule.ZB_V,
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
