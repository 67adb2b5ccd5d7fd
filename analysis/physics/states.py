"""Weights, gradients and optimizer states that one rank of a pipeline stage holds."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.physics import pipeline
from analysis.physics.architecture import Architecture, Array
from analysis.physics.memory_policy import MemoryPolicy
from analysis.physics.parameters import Buckets, dense_layer, input_embedding, moe_layer, mtp_block, output_head
from analysis.physics.pipeline import Place
from analysis.physics.split import Split

Parts = dict[str, Array]
Pair = tuple[Array, Array]

GATHERED_LAYERS = 2.0
"""Layers whose whole weights ZeRO-3 holds at once: the one at work and the one being fetched."""


@dataclass(frozen=True)
class RankPieces:
    """Parameters that one rank holds of each building block: (dense part, routed experts), nothing sharded yet."""

    dense_layer: Pair
    moe_layer: Pair
    embedding: Pair
    head: Pair
    prediction: Pair


def on_rank(parameters: Buckets, split: Split) -> Pair:
    """Parameters that one rank holds when nothing is sharded over replicas.

    TP divides the sharded bucket only; routed experts are divided by ep and etp (Megatron-Core MoE,
    arXiv:2603.07685, sec. 3).

    Parameters
    ----------
    parameters
        What is split, by bucket.
    split
        Degrees of each row.

    Returns
    -------
    tuple of arrays
        (dense part, routed experts).
    """
    dense = parameters.tp_sharded / split.tp + parameters.replicated
    return dense, parameters.routed_experts / (split.ep * split.etp)


def rank_pieces(arch: Architecture, split: Split) -> RankPieces:
    """The building blocks of every stage, counted once for all stages.

    Parameters
    ----------
    arch, split
        Model and degrees of each row.

    Returns
    -------
    RankPieces
        Parameters on one rank.
    """
    own_head = np.where(split.pp > 1, 1.0, 1.0 - arch.tied_embeddings)
    repeated, nothing = repeated_keys(arch, split), (np.zeros(()), np.zeros(()))
    dense = on_rank(dense_layer(arch), split)
    mixture = on_rank(moe_layer(arch), split) if np.any(arch.experts > 0) else dense
    return RankPieces(
        dense_layer=(dense[0] + repeated, dense[1]),
        moe_layer=(mixture[0] + repeated, mixture[1]),
        embedding=on_rank(input_embedding(arch), split),
        head=on_rank(output_head(arch, own_head), split),
        prediction=on_rank(mtp_block(arch).times(arch.mtp_layers), split) if np.any(arch.mtp_layers) else nothing,
    )


def repeated_keys(arch: Architecture, split: Split) -> Array:
    """Key and value weights of a layer that a rank holds beyond its share, where TP exceeds the key/value heads.

    Each rank then holds a whole head, repeated on tp / heads ranks (Megatron-Core, transformer/attention.py).

    Parameters
    ----------
    arch, split
        Model and degrees of each row.

    Returns
    -------
    array
        Parameters.

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import split
    >>> arch = describe(dict(layers=1, hidden=4096, heads=32, kv_heads=2, head_dim=128))
    >>> [int(repeated_keys(arch, split(seq_len=1, tp=t))) for t in (2, 8)]
    [0, 786432]
    """
    beyond = np.maximum(split.tp - arch.kv_heads, 0.0) / split.tp
    extra = 2 * arch.hidden * arch.head_dim * beyond * (1 - arch.linear_share)
    return np.where(arch.mla > 0, 0.0, extra)


def stage_on_rank(pieces: RankPieces, place: Place) -> Pair:
    """Parameters on one rank of a stage.

    The last stage carries head and MTP. A tied head is stored once more when first and last stage differ.

    Parameters
    ----------
    pieces
        Building blocks (see `rank_pieces`).
    place
        The stage.

    Returns
    -------
    tuple of arrays
        (dense part, routed experts).

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import split
    >>> gpt = describe(dict(layers=48, hidden=6144, ffn_hidden=24576, heads=64, vocab=51200, gated_mlp=False,
    ...                     tied_embeddings=True, qkv_bias=1, attention_output_bias=1, mlp_bias=1, norm_vectors=2,
    ...                     learned_positions=2048))
    >>> cut = split(seq_len=2048)
    >>> dense, _ = stage_on_rank(rank_pieces(gpt, cut), pipeline.place(gpt, cut, np.asarray(0.0)))
    >>> int(dense)
    22074273792
    """
    plain = place.layers - place.moe_layers
    dense = times(plain, pieces.dense_layer[0]) + times(place.moe_layers, pieces.moe_layer[0])
    dense = dense + place.is_first * pieces.embedding[0] + place.is_last * pieces.head[0]
    dense = dense + times(place.is_last, pieces.prediction[0])
    experts = times(place.moe_layers, pieces.moe_layer[1]) + times(place.is_last, pieces.prediction[1])
    return dense, experts


def times(count: Array, each: Array) -> Array:
    """Product in which nothing of a kind weighs nothing, even where that kind's size is not known."""
    return np.where(count > 0, count * each, 0.0)


def _sharded(width: Array, on_stage: Pair, split: Split, from_stage: float) -> Array:
    """Bytes of `width` per parameter, divided over the replicas from ZeRO stage `from_stage` on."""
    is_sharded = split.zero_stage >= from_stage
    over = np.where(is_sharded, split.replicas, 1.0)
    experts_over = np.where(is_sharded, split.expert_replicas, 1.0)
    return width * (on_stage[0] / over + on_stage[1] / experts_over)


def state_bytes(on_stage: Pair, split: Split, policy: MemoryPolicy) -> Parts:
    """Bytes of the states on one rank, by part.

    ZeRO-1 divides master weights and moments by the replicas, ZeRO-2 gradients too, ZeRO-3 weights too (Rajbhandari
    et al. 2020, arXiv:1910.02054, sec. 3). What is offloaded to the host has width 0 in the policy.

    Parameters
    ----------
    on_stage
        Dense parameters and routed experts on the rank.
    split, policy
        Degrees, and bytes per parameter.

    Returns
    -------
    dict
        weights, gradients, master_weights, moments [B].

    Examples
    --------
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> cut = split(seq_len=1, dp=64, zero_stage=2)
    >>> parts = state_bytes((np.asarray(7.5e9), np.asarray(0.0)), cut, memory_policy(gradient=2))
    >>> round(float(sum(parts.values())) / 1e9, 1)
    16.6
    """
    copies = pipeline.weight_copies(split.schedule)
    return {
        "weights": copies * _sharded(policy.weight, on_stage, split, 3),
        "gradients": _sharded(policy.gradient, on_stage, split, 2),
        "master_weights": _sharded(policy.master, on_stage, split, 1),
        "moments": _sharded(policy.moments, on_stage, split, 1),
    }


def gathered_bytes(arch: Architecture, split: Split, policy: MemoryPolicy, pieces: RankPieces, is_last: Array) -> Array:
    """Whole 16-bit weights that ZeRO-3 holds while it works: two layers and, on the last stage, the output head.

    The head stays gathered between forward and backward; beside it lies its gradient before it is scattered.

    Parameters
    ----------
    arch, split, policy
        Model, degrees and widths of each row.
    pieces
        Building blocks (see `rank_pieces`).
    is_last
        1 on the last stage.

    Returns
    -------
    array
        Bytes.

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> small = describe(dict(layers=2, hidden=8, ffn_hidden=32, heads=2, vocab=64, gated_mlp=False,
    ...                       tied_embeddings=False, norm_vectors=0))
    >>> cut = split(seq_len=8, dp=2, zero_stage=3)
    >>> int(gathered_bytes(small, cut, memory_policy(), rank_pieces(small, cut), np.asarray(1.0)))
    5120
    """
    of_layer = [np.where(arch.moe_layers > 0, m, d) for d, m in zip(pieces.dense_layer, pieces.moe_layer, strict=True)]
    head = 2 * is_last * arch.vocab * arch.hidden / split.tp
    total = policy.working_weight * (GATHERED_LAYERS * (of_layer[0] + of_layer[1]) + head)
    return np.where((split.zero_stage >= 3) & (split.pp <= 1), total, 0.0)


def kept_gathered_bytes(on_stage: Pair, split: Split, policy: MemoryPolicy) -> Array:
    """What ZeRO-3 keeps whole in a pipeline: the stage's 16-bit weights and, over several micro-batches, its gradients.

    Gathering again for every micro-batch would cost more than it saves, so weights stay gathered and gradients are
    added up whole until the last micro-batch (PyTorch's pipeline stages with fully_shard; torchtitan's default).

    Parameters
    ----------
    on_stage
        Dense parameters and routed experts on the rank.
    split, policy
        Degrees and widths of each row.

    Returns
    -------
    array
        Bytes.

    Examples
    --------
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> cut = split(seq_len=8, dp=2, pp=2, zero_stage=3, micro_batches=4)
    >>> float(kept_gathered_bytes((np.asarray(10.0), np.asarray(0.0)), cut, memory_policy()))
    60.0
    """
    added_up = np.where(split.micro_batches > 1, policy.gradient, 0.0)
    whole = (policy.working_weight + added_up) * (on_stage[0] + on_stage[1])
    return np.where((split.zero_stage >= 3) & (split.pp > 1), whole, 0.0)
