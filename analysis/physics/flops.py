"""Floating-point operations of training, per token and per step, in the conventions people report."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from analysis.physics.architecture import Architecture, Array, describe
from analysis.physics.parameters import attention_weights, count

BACKWARD_AND_FORWARD = 3.0
"""The backward pass costs two forward passes (Narayanan et al. 2021, arXiv:2104.04473, appendix)."""


def mlp_matmul_weights(arch: Architecture) -> tuple[Array, Array]:
    """Matrix elements that one token passes in (a dense MLP, the experts of an MoE block without its router)."""
    dense = arch.mlp_matrices * arch.hidden * arch.ffn_hidden
    width = arch.experts_per_token * arch.moe_ffn_hidden + arch.shared_ffn_hidden
    return dense, arch.mlp_matrices * arch.hidden * width


def router_matmul(arch: Architecture) -> Array:
    """Matrix elements of the routers (and shared-expert gates) of all layers."""
    gate = arch.shared_expert_gate * np.where(arch.shared_ffn_hidden > 0, arch.hidden, 0.0)
    return arch.moe_layers * (arch.hidden * arch.experts + gate)


def _mean_layer_matmul(arch: Architecture) -> Array:
    """Matrix elements of all layers that one token passes, routers apart."""
    sharded, whole = attention_weights(arch)
    dense, mixture = mlp_matmul_weights(arch)
    moe = arch.moe_layers
    dense_layers = arch.layers - moe
    dense_part = np.where(dense_layers > 0, dense, 0.0) * dense_layers
    return (sharded + whole) * arch.layers + dense_part + np.where(moe > 0, mixture, 0.0) * moe


def _mtp_matmul(arch: Architecture) -> Array:
    """Matrix elements of the prediction depths: projection, one more layer, and the head once more."""
    sharded, whole = attention_weights(arch)
    dense, mixture = mlp_matmul_weights(arch)
    layer = sharded + whole + np.where(arch.experts > 0, mixture, dense)
    return arch.mtp_layers * (2 * arch.hidden**2 + layer + arch.hidden * arch.vocab)


def attention_context(arch: Architecture, seq_len: Array, *, causal: bool) -> Array:
    """Keys that one query meets, summed over all layers [tokens].

    Full attention: seq_len, or half of it when only the causal half is counted. A window of w tokens, and sparse
    attention that picks w, meets min(w, seq_len), and w - w^2/(2 seq_len) when the triangle at its start is left out.
    Chunks of c tokens meet c, or half. Layers of linear attention meet none.

    >>> float(attention_context(describe({"layers": 2, "hidden": 8, "heads": 1}), np.asarray(4096.0), causal=True))
    4096.0
    """
    window = np.where(arch.sliding_window > 0, np.minimum(arch.sliding_window, seq_len), seq_len)
    chunk = np.where(arch.attention_chunk > 0, np.minimum(arch.attention_chunk, seq_len), seq_len)
    picked = np.where(arch.index_topk > 0, np.minimum(arch.index_topk, seq_len), seq_len)
    full, windowed = _met(picked, seq_len, causal), _met(window, seq_len, causal)
    chunked = chunk / 2 if causal else chunk
    rest = arch.softmax_layers - arch.windowed_layers - arch.chunked_layers
    return full * rest + windowed * arch.windowed_layers + chunked * arch.chunked_layers


def _met(most: Array, seq_len: Array, causal: bool) -> Array:
    """Keys that a query meets on average where it meets `most` at most."""
    return most - most**2 / (2 * seq_len) if causal else most


def index_flop(arch: Architecture, seq_len: Array) -> Array:
    """Forward FLOP per token of the indexer's scores over all layers: every earlier token is scored.

    >>> v32 = dict(layers=61, hidden=7168, heads=128, index_topk=2048, index_heads=64, index_head_dim=128)
    >>> float(index_flop(describe(v32), np.asarray(131072.0))) == 61 * 2 * 64 * 128 * 65536
    True
    """
    return arch.softmax_layers * 2 * arch.index_heads * arch.index_head_dim * seq_len / 2


def linear_core_flop(arch: Architecture) -> Array:
    """Forward FLOP per token of the gated delta rule over all its layers.

    The state of a head (key width x value width) is read by the key, written by the outer product and read by the
    query: 2 FLOP per element each (Gated DeltaNet, arXiv:2412.06464, eq. 10).
    """
    state = arch.linear_value_heads * arch.linear_key_dim * arch.linear_value_dim
    return arch.linear_layers * 3 * 2 * state


def _core(arch: Architecture, context: Array) -> Array:
    """Forward and backward of scores and weighted values: two products of 2 FLOP per multiply-add."""
    return 2 * BACKWARD_AND_FORWARD * arch.heads * (arch.qk_dim + arch.v_dim) * context


def per_token(
    facts: Architecture | Mapping[str, Any],
    seq_len: Any,
    *,
    recomputed_linear: Any = 0.0,
    recomputed_core: Any = 0.0,
) -> dict[str, Array]:
    """FLOP per trained token, forward and backward, in four conventions.

    Parameters
    ----------
    facts
        An `Architecture` or the mapping that `describe` reads.
    seq_len
        Sequence length [tokens].
    recomputed_linear, recomputed_core
        Share of the layers' matrix products and of the attention core that the backward pass computes again
        (full recompute: 1 and 1; selective: 0 and 1; none: 0 and 0). The output head is never recomputed.

    Returns
    -------
    dict
        `6nd` (6 x active parameters), `model-flops` (every score counted; Chowdhery et al. 2022, arXiv:2204.02311,
        app. B), `causal` (half of the scores; what Megatron-LM prints since March 2025, which leaves routers out),
        `hardware-flops` (every score and the recomputation), and `causal-with-mtp` [FLOP/token]. MTP is left out of
        the others.

    Examples
    --------
    >>> llama = dict(layers=126, hidden=16384, ffn_hidden=53248, heads=128, kv_heads=8, vocab=128256,
    ...              gated_mlp=True, tied_embeddings=False)
    >>> {name: round(float(flop) / 1e9, 1) for name, flop in per_token(llama, 8192).items()}["causal"]
    2524.0
    """
    arch = facts if isinstance(facts, Architecture) else describe(facts)
    length = np.asarray(seq_len, dtype=float)
    layers = 2 * BACKWARD_AND_FORWARD * _mean_layer_matmul(arch)
    router = 2 * BACKWARD_AND_FORWARD * router_matmul(arch)
    head = 2 * BACKWARD_AND_FORWARD * arch.hidden * arch.vocab
    beside = BACKWARD_AND_FORWARD * (index_flop(arch, length) + linear_core_flop(arch))
    full = _core(arch, attention_context(arch, length, causal=False)) + beside
    causal = _core(arch, attention_context(arch, length, causal=True)) + beside
    mtp_core = arch.mtp_layers * _core(arch, length / 2)
    again = (layers + router) * np.asarray(recomputed_linear) + full * np.asarray(recomputed_core)
    return {
        "6nd": 6 * count(arch)["active"],
        "model-flops": layers + router + head + full,
        "causal": layers + head + causal,
        "hardware-flops": layers + router + head + full + again / BACKWARD_AND_FORWARD,
        "causal-with-mtp": layers + head + causal + 2 * BACKWARD_AND_FORWARD * _mtp_matmul(arch) + mtp_core,
    }


def gpt_iteration(
    layers: Any, hidden: Any, vocab: Any, seq_len: Any, sequences: Any, *, full_recompute: bool = False
) -> Array:
    """FLOP of one step of a GPT with a 4h MLP and multi-head attention.

    72 B L s h^2 (1 + s/6h + V/12Lh), or 96 B L s h^2 (1 + s/6h + V/16Lh) when every layer is computed again
    (Narayanan et al. 2021, arXiv:2104.04473, eq. 3 and appendix).

    Parameters
    ----------
    layers, hidden, vocab, seq_len, sequences
        Layers, model width, vocabulary, sequence length [tokens] and sequences in the step.

    Returns
    -------
    array
        [FLOP]

    Examples
    --------
    >>> f"{float(gpt_iteration(48, 6144, 51200, 2048, 4)):.5e}"
    '1.14356e+15'
    """
    depth, width, words = (np.asarray(value, dtype=float) for value in (layers, hidden, vocab))
    tokens, length = np.asarray(sequences, dtype=float) * np.asarray(seq_len), np.asarray(seq_len, dtype=float)
    passes = 4.0 if full_recompute else BACKWARD_AND_FORWARD
    products = 24 * depth * width**2 + 4 * depth * length * width
    flop: Array = tokens * (passes * products + 2 * BACKWARD_AND_FORWARD * width * words)
    return flop
