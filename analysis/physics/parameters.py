"""Exact parameter counts: by part, by how they are sharded, and by pipeline stage."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.physics.architecture import Architecture, Array, describe

Parts = dict[str, Array]


@dataclass(frozen=True)
class Buckets:
    """Parameters by what divides them: tensor parallelism, nothing, or expert and expert-tensor parallelism."""

    tp_sharded: Array
    replicated: Array
    routed_experts: Array

    @property
    def total(self) -> Array:
        """All parameters of the three buckets."""
        return self.tp_sharded + self.replicated + self.routed_experts

    def times(self, count: Array) -> Buckets:
        """The same thing `count` times."""
        return Buckets(self.tp_sharded * count, self.replicated * count, self.routed_experts * count)

    def plus(self, other: Buckets) -> Buckets:
        """Sum, bucket by bucket."""
        return Buckets(
            self.tp_sharded + other.tp_sharded,
            self.replicated + other.replicated,
            self.routed_experts + other.routed_experts,
        )


def _grouped_query_weights(arch: Architecture) -> Array:
    queries = arch.heads * arch.head_dim
    keys_and_values = 2 * arch.kv_heads * arch.head_dim
    return arch.hidden * (2 * queries + keys_and_values)


def _latent_weights(arch: Architecture) -> tuple[Array, Array]:
    """Weights of multi-head latent attention: (up and output projections, down projections)."""
    has_query_latent = arch.q_lora_rank > 0
    query_source = np.where(has_query_latent, arch.q_lora_rank, arch.hidden)
    up = query_source * arch.heads * arch.qk_dim
    up = up + arch.kv_lora_rank * arch.heads * (arch.qk_nope_head_dim + arch.v_head_dim)
    up = up + arch.heads * arch.v_head_dim * arch.hidden
    down = arch.hidden * (arch.q_lora_rank + arch.kv_lora_rank + arch.qk_rope_head_dim)
    return up, down


def attention_weights(arch: Architecture) -> tuple[Array, Array]:
    """Matrix elements of one attention block: (split by tensor parallelism, kept whole on every rank).

    Grouped-query: h*a*d for queries, 2*h*g*d for keys and values, a*d*h for the output. Latent attention
    (DeepSeek-V2, arXiv:2405.04434, sec. 2.1) keeps its down projections whole.

    >>> sharded, whole = attention_weights(describe({"hidden": 4096, "heads": 32, "kv_heads": 8}))
    >>> float(sharded), float(whole)
    (41943040.0, 0.0)
    """
    up, down = _latent_weights(arch)
    is_latent = arch.mla > 0
    sharded, whole = np.where(is_latent, up, _grouped_query_weights(arch)), np.where(is_latent, down, 0.0)
    if arch.is_plain:
        return sharded, whole
    sharded = sharded + arch.attention_gate * arch.hidden * arch.heads * arch.v_dim
    share = arch.linear_share
    linear = np.where(share > 0, linear_weights(arch), 0.0)
    return (1 - share) * sharded + share * linear, (1 - share) * (whole + index_weights(arch))


def index_weights(arch: Architecture) -> Array:
    """Matrix elements of the indexer of one layer of sparse attention: queries from their latent, a key, head weights.

    DeepSeek-V3.2 (arXiv:2512.02556), sec. 2.1.

    >>> v32 = dict(hidden=7168, heads=128, mla=1, q_lora_rank=1536, index_heads=64, index_head_dim=128)
    >>> int(index_weights(describe(v32)))
    13959168
    """
    source = np.where(arch.q_lora_rank > 0, arch.q_lora_rank, arch.hidden)
    return arch.index_heads * (source * arch.index_head_dim + arch.hidden) + arch.hidden * arch.index_head_dim


def linear_weights(arch: Architecture) -> Array:
    """Matrix elements of one gated delta-rule layer: queries, keys, values, output gate, two gates a head, output.

    Gated DeltaNet (arXiv:2412.06464), sec. 3.4, as Qwen3-Next builds it.

    >>> int(linear_weights(describe(dict(hidden=2048, heads=16, linear_key_heads=16, linear_key_dim=128,
    ...                                  linear_value_heads=32, linear_value_dim=128))))
    33685504
    """
    into = 2 * arch.linear_keys + 2 * arch.linear_values + 2 * arch.linear_value_heads
    return arch.hidden * (into + arch.linear_values)


def _attention(arch: Architecture) -> Buckets:
    sharded, whole = attention_weights(arch)
    is_latent = arch.mla > 0
    qkv_width = (arch.heads + 2 * arch.kv_heads) * arch.head_dim
    biases = arch.qkv_bias * np.where(is_latent, 0.0, qkv_width) + arch.attention_sinks * arch.heads
    sharded = sharded + (biases if arch.is_plain else (1 - arch.linear_share) * biases)
    head_norms = np.where(arch.qk_norm == 1, 2 * arch.head_dim, 0.0)
    projection_norms = np.where(arch.qk_norm == 2, (arch.heads + arch.kv_heads) * arch.head_dim, 0.0)
    latent_norms = np.where(is_latent, arch.q_lora_rank + arch.kv_lora_rank, 0.0)
    small = head_norms + projection_norms + latent_norms + arch.attention_output_bias * arch.hidden
    if arch.is_plain:
        return Buckets(sharded, whole + small, np.zeros_like(sharded))
    share = arch.linear_share
    whole = whole + (1 - share) * (small + np.where(arch.index_topk > 0, 2 * arch.index_head_dim, 0.0))
    sharded = sharded + np.where(share > 0, share * _linear_small(arch), 0.0)
    return Buckets(sharded, whole, np.zeros_like(sharded))


def _linear_small(arch: Architecture) -> Array:
    """Convolution, decay and time-step biases, and the norm of the output of one gated delta-rule layer."""
    convolution = arch.linear_conv * (2 * arch.linear_keys + arch.linear_values)
    return convolution + 2 * arch.linear_value_heads + arch.linear_value_dim


def _dense_mlp(arch: Architecture) -> Buckets:
    inner = arch.mlp_bias * (1 + arch.gated_mlp) * arch.ffn_hidden
    sharded = arch.mlp_matrices * arch.hidden * arch.ffn_hidden + inner
    whole = arch.mlp_bias * arch.hidden + np.zeros_like(sharded)
    return Buckets(sharded, whole, np.zeros_like(sharded))


def routed_expert(arch: Architecture) -> Array:
    """Parameters of one routed expert, biases included.

    >>> float(routed_expert(describe({"hidden": 4096, "heads": 32, "moe_ffn_hidden": 14336, "gated_mlp": True})))
    176160768.0
    """
    bias = arch.expert_bias * ((1 + arch.gated_mlp) * arch.moe_ffn_hidden + arch.hidden)
    return arch.mlp_matrices * arch.hidden * arch.moe_ffn_hidden + bias


def _moe_mlp(arch: Architecture) -> Buckets:
    has_experts = arch.experts > 0
    router = arch.hidden * arch.experts + arch.router_bias * arch.experts
    gate = arch.shared_expert_gate * np.where(arch.shared_ffn_hidden > 0, arch.hidden, 0.0)
    shared = arch.mlp_matrices * arch.hidden * arch.shared_ffn_hidden
    routed = np.where(has_experts, arch.experts * routed_expert(arch), 0.0)
    return Buckets(np.where(has_experts, shared, 0.0), np.where(has_experts, router + gate, 0.0), routed)


def _norm(arch: Architecture) -> Array:
    return arch.norm_vectors * arch.hidden


def dense_layer(arch: Architecture) -> Buckets:
    """Parameters of one layer with a dense MLP, by bucket."""
    norms = Buckets(np.zeros(()), arch.norms_per_layer * _norm(arch), np.zeros(()))
    return _attention(arch).plus(_dense_mlp(arch)).plus(norms)


def moe_layer(arch: Architecture) -> Buckets:
    """Parameters of one mixture-of-experts layer, by bucket."""
    norms = Buckets(np.zeros(()), arch.norms_per_layer * _norm(arch), np.zeros(()))
    return _attention(arch).plus(_moe_mlp(arch)).plus(norms)


def input_embedding(arch: Architecture) -> Buckets:
    """Token embedding (split over the vocabulary), learned positions and the norm after the embedding."""
    tokens = arch.vocab * arch.hidden
    whole = arch.learned_positions * arch.hidden + arch.embedding_norm * _norm(arch)
    return Buckets(tokens, whole, np.zeros_like(tokens))


def output_head(arch: Architecture, own_matrix: Array) -> Buckets:
    """Final norm and output head; `own_matrix` is 1 where the head's matrix is stored here, 0 where it is shared."""
    matrix = (arch.vocab * arch.hidden + arch.head_bias * arch.vocab) * own_matrix
    return Buckets(matrix, arch.final_norm * _norm(arch) + np.zeros_like(matrix), np.zeros_like(matrix))


def mtp_block(arch: Architecture) -> Buckets:
    """One multi-token-prediction depth: a 2h-to-h projection, three norms and one more layer (arXiv:2412.19437, 2.2).

    The layer is MoE when the model has experts. Embedding and head are shared with the main model unless
    mtp_own_embedding says that they are counted again.
    """
    is_moe = np.where(arch.experts > 0, 1.0, 0.0)
    layer = moe_layer(arch).times(is_moe).plus(dense_layer(arch).times(1 - is_moe))
    copies = arch.mtp_own_embedding * 2 * arch.vocab * arch.hidden
    extra = Buckets(copies, 2 * arch.hidden * arch.hidden + 3 * _norm(arch), np.zeros_like(copies))
    return layer.plus(extra)


def by_part(arch: Architecture) -> Parts:
    """Parameters of the whole model by part; the values add up to the total.

    >>> parts = by_part(describe(dict(layers=32, hidden=4096, ffn_hidden=11008, heads=32, vocab=32000,
    ...                               gated_mlp=True, tied_embeddings=False)))
    >>> int(sum(parts.values()))
    6738415616
    """
    moe, dense = arch.moe_layers, arch.layers - arch.moe_layers
    mixture = _moe_mlp(arch)
    head = output_head(arch, 1 - arch.tied_embeddings)
    return {
        "embedding": input_embedding(arch).total,
        "attention": _attention(arch).total * arch.layers,
        "dense_mlp": _dense_mlp(arch).total * dense,
        "router": mixture.replicated * moe,
        "shared_experts": mixture.tp_sharded * moe,
        "routed_experts": mixture.routed_experts * moe,
        "norms": arch.norms_per_layer * _norm(arch) * arch.layers + arch.final_norm * _norm(arch),
        "head": head.tp_sharded,
        "mtp": mtp_block(arch).total * arch.mtp_layers,
    }


def count(facts: Architecture | Mapping[str, Any]) -> Parts:
    """Totals of a decoder.

    Parameters
    ----------
    facts
        An `Architecture` or the mapping that `describe` reads.

    Returns
    -------
    dict
        total (without MTP), total_with_mtp, active (parameters a token passes, input embedding included),
        active_without_embedding (input embedding out, output head in even when tied), and the buckets
        tp_sharded, replicated, routed_experts (without MTP). All [parameters].

    Examples
    --------
    >>> mixtral = dict(layers=32, hidden=4096, heads=32, kv_heads=8, moe_ffn_hidden=14336, experts=8,
    ...                experts_per_token=2, vocab=32000, gated_mlp=True, tied_embeddings=False)
    >>> {name: int(value) for name, value in count(mixtral).items() if name in ("total", "active")}
    {'total': 46702792704, 'active': 12879925248}
    """
    arch = facts if isinstance(facts, Architecture) else describe(facts)
    parts = by_part(arch)
    mtp = parts.pop("mtp")
    total = sum(parts.values(), np.zeros(()))
    idle_share = np.where(arch.experts > 0, 1 - arch.experts_per_token / np.maximum(arch.experts, 1), 0.0)
    active = total - parts["routed_experts"] * idle_share
    head_again = arch.tied_embeddings * arch.vocab * arch.hidden
    buckets = whole_model(arch)
    return {
        "total": total,
        "total_with_mtp": total + mtp,
        "active": active,
        "active_without_embedding": active - parts["embedding"] + head_again,
        "tp_sharded": buckets.tp_sharded,
        "replicated": buckets.replicated,
        "routed_experts": buckets.routed_experts,
    }


def whole_model(arch: Architecture) -> Buckets:
    """All parameters (MTP apart) by bucket."""
    moe = arch.moe_layers
    layers = dense_layer(arch).times(arch.layers - moe).plus(moe_layer(arch).times(moe))
    return layers.plus(input_embedding(arch)).plus(output_head(arch, 1 - arch.tied_embeddings))
