"""The description of a decoder that every formula of this folder reads: plain facts in, one array per fact out."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

Array = NDArray[np.float64]

QK_NORM_CODES = {"none": 0.0, "head": 1.0, "projection": 2.0}
"""Width of the query and key norms: none, one vector per head shared by all heads, or the whole projection."""

_NAN = float("nan")

# What an absent fact means. NaN: the fact is needed, so the count is unknown (NaN) without it.
ABSENT: dict[str, float] = {
    "layers": _NAN,
    "hidden": _NAN,
    "ffn_hidden": 0.0,
    "heads": _NAN,
    "vocab": _NAN,
    "gated_mlp": _NAN,
    "tied_embeddings": _NAN,
    "experts": 0.0,
    "experts_per_token": 0.0,
    "shared_ffn_hidden": 0.0,
    "dense_layers": 0.0,
    "moe_layer_step": 1.0,
    "mla": 0.0,
    "q_lora_rank": 0.0,
    "kv_lora_rank": 0.0,
    "qk_nope_head_dim": 0.0,
    "qk_rope_head_dim": 0.0,
    "v_head_dim": 0.0,
    "qkv_bias": 0.0,
    "attention_output_bias": 0.0,
    "mlp_bias": 0.0,
    "expert_bias": 0.0,
    "router_bias": 0.0,
    "shared_expert_gate": 0.0,
    "attention_sinks": 0.0,
    "qk_norm": 0.0,
    "norms_per_layer": 2.0,
    "norm_vectors": 1.0,
    "embedding_norm": 0.0,
    "final_norm": 1.0,
    "head_bias": 0.0,
    "learned_positions": 0.0,
    "mtp_layers": 0.0,
    "mtp_own_embedding": 0.0,
    "sliding_window": 0.0,
    "sliding_window_layers": 0.0,
    "attention_gate": 0.0,
    "attention_chunk": 0.0,
    "attention_chunk_layers": 0.0,
    "index_topk": 0.0,
    "index_heads": 0.0,
    "index_head_dim": 0.0,
    "linear_layers": 0.0,
    "linear_key_heads": 0.0,
    "linear_key_dim": 0.0,
    "linear_value_heads": 0.0,
    "linear_value_dim": 0.0,
    "linear_conv": 0.0,
}


@dataclass(frozen=True)
class Architecture:
    """Facts of one decoder or of a table of them; every field is a float array, all broadcast with one another.

    Widths and counts are plain numbers, switches are 0 or 1. See `describe` for the meaning of each fact.
    """

    layers: Array
    hidden: Array
    ffn_hidden: Array
    heads: Array
    kv_heads: Array
    head_dim: Array
    vocab: Array
    gated_mlp: Array
    tied_embeddings: Array
    experts: Array
    experts_per_token: Array
    moe_ffn_hidden: Array
    shared_ffn_hidden: Array
    dense_layers: Array
    moe_layer_step: Array
    mla: Array
    q_lora_rank: Array
    kv_lora_rank: Array
    qk_nope_head_dim: Array
    qk_rope_head_dim: Array
    v_head_dim: Array
    qkv_bias: Array
    attention_output_bias: Array
    mlp_bias: Array
    expert_bias: Array
    router_bias: Array
    shared_expert_gate: Array
    attention_sinks: Array
    qk_norm: Array
    norms_per_layer: Array
    norm_vectors: Array
    embedding_norm: Array
    final_norm: Array
    head_bias: Array
    learned_positions: Array
    mtp_layers: Array
    mtp_own_embedding: Array
    sliding_window: Array
    sliding_window_layers: Array
    attention_gate: Array
    attention_chunk: Array
    attention_chunk_layers: Array
    index_topk: Array
    index_heads: Array
    index_head_dim: Array
    linear_layers: Array
    linear_key_heads: Array
    linear_key_dim: Array
    linear_value_heads: Array
    linear_value_dim: Array
    linear_conv: Array

    @property
    def qk_dim(self) -> Array:
        """Width of one query or key head [elements]."""
        return np.where(self.mla > 0, self.qk_nope_head_dim + self.qk_rope_head_dim, self.head_dim)

    @property
    def v_dim(self) -> Array:
        """Width of one value head [elements]."""
        return np.where(self.mla > 0, self.v_head_dim, self.head_dim)

    @property
    def mlp_matrices(self) -> Array:
        """Matrices of one MLP: 3 when gated (gate, up, down), 2 otherwise."""
        return 2.0 + self.gated_mlp

    def moe_layers_before(self, depth: Array) -> Array:
        """Number of MoE layers among the first `depth` layers.

        Layer i (from 0) is MoE when i >= dense_layers and (i - dense_layers + 1) is a multiple of moe_layer_step.
        """
        beyond = np.maximum(depth - self.dense_layers, 0.0)
        return np.where(self.experts > 0, np.floor(beyond / self.moe_layer_step), 0.0)

    @property
    def moe_layers(self) -> Array:
        """Number of layers whose MLP is a mixture of experts."""
        return self.moe_layers_before(self.layers)

    @property
    def windowed_layers(self) -> Array:
        """Layers that attend to `sliding_window` tokens only; a window without a count of layers holds for all."""
        stated = np.where(self.sliding_window_layers > 0, self.sliding_window_layers, self.layers)
        return np.where(self.sliding_window > 0, np.minimum(stated, self.softmax_layers), 0.0)

    @cached_property
    def is_plain(self) -> bool:
        """Whether no row has linear layers, an indexer or an output gate: their terms need not be computed then."""
        return not any(np.any(values) for values in (self.linear_layers, self.index_heads, self.attention_gate))

    @property
    def softmax_layers(self) -> Array:
        """Layers with softmax attention; the others have linear attention."""
        return self.layers - self.linear_layers

    @property
    def chunked_layers(self) -> Array:
        """Layers that attend within chunks of `attention_chunk` tokens; a chunk without a count holds for all."""
        stated = np.where(self.attention_chunk_layers > 0, self.attention_chunk_layers, self.softmax_layers)
        return np.where(self.attention_chunk > 0, stated, 0.0)

    @property
    def linear_share(self) -> Array:
        """Share of the layers that have linear attention [1]."""
        return np.where(self.linear_layers > 0, self.linear_layers / self.layers, 0.0)

    @property
    def linear_keys(self) -> Array:
        """Width of all keys of a linear layer [elements]."""
        return self.linear_key_heads * self.linear_key_dim

    @property
    def linear_values(self) -> Array:
        """Width of all values of a linear layer [elements]."""
        return self.linear_value_heads * self.linear_value_dim

    def rows(self, index: Any) -> Architecture:
        """The same description for some rows of a table."""
        return Architecture(**{f.name: _take(getattr(self, f.name), index) for f in fields(self)})


def _take(values: Array, index: Any) -> Array:
    return values if values.ndim == 0 else values[index]


def _number(value: Any) -> Array:
    if isinstance(value, str):
        return np.asarray(QK_NORM_CODES[value], dtype=float)
    return np.asarray(_NAN if value is None else value, dtype=float)


def _fact(facts: Mapping[str, Any], name: str, absent: Array) -> Array:
    """The stated value; None, NaN or no key at all mean the same: not stated."""
    if name not in facts:
        return absent
    stated = _number(facts[name])
    return np.where(np.isnan(stated), absent, stated)


def describe(facts: Mapping[str, Any]) -> Architecture:
    """Read a mapping of architecture facts (scalars or arrays) into an `Architecture`.

    Parameters
    ----------
    facts
        Keys are the column names of a layout row. Needed: layers, hidden, heads, vocab, gated_mlp, tied_embeddings
        and ffn_hidden (or experts with moe_ffn_hidden). Derived when absent, as every configuration format does:
        head_dim = hidden / heads, kv_heads = heads, moe_ffn_hidden = ffn_hidden. All others count as not there:
        experts, experts_per_token, shared_ffn_hidden (sum over shared experts), dense_layers (first dense layers),
        moe_layer_step (every n-th layer is MoE); mla, q_lora_rank (0: queries straight from hidden), kv_lora_rank,
        qk_nope_head_dim, qk_rope_head_dim, v_head_dim; qkv_bias, attention_output_bias, mlp_bias, expert_bias,
        router_bias, head_bias; shared_expert_gate; attention_sinks (one number per head); qk_norm ("none", "head",
        "projection"); norms_per_layer (1, 2 or 4); norm_vectors (1 weight, 2 weight and bias, 0 without parameters);
        embedding_norm; final_norm; learned_positions (length of the table); mtp_layers, mtp_own_embedding (embedding
        and head counted once more per prediction depth, as published checkpoints do); sliding_window [tokens],
        sliding_window_layers; attention_gate (an output gate as wide as the queries, in softmax layers);
        attention_chunk [tokens], attention_chunk_layers (layers that attend within chunks); index_topk [tokens],
        index_heads, index_head_dim (sparse attention: an indexer picks the keys); linear_layers (layers with a gated
        delta rule instead of softmax attention), linear_key_heads, linear_key_dim, linear_value_heads,
        linear_value_dim, linear_conv (kernel of their convolution). Other keys are ignored, so a whole layout row can
        be passed.

    Returns
    -------
    Architecture
        Arrays that broadcast; NaN where a needed fact is not stated.

    Examples
    --------
    >>> float(describe({"layers": 32, "hidden": 4096, "heads": 32}).head_dim)
    128.0
    """
    values = {name: _fact(facts, name, np.asarray(default)) for name, default in ABSENT.items()}
    values["head_dim"] = _fact(facts, "head_dim", values["hidden"] / values["heads"])
    values["kv_heads"] = _fact(facts, "kv_heads", values["heads"])
    values["moe_ffn_hidden"] = _fact(facts, "moe_ffn_hidden", values["ffn_hidden"])
    no_mlp = (values["ffn_hidden"] == 0) & (values["experts"] == 0)
    values["ffn_hidden"] = np.where(no_mlp, _NAN, values["ffn_hidden"])
    return Architecture(**values)
