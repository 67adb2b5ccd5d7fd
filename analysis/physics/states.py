"""Weights, gradients and optimizer states that one rank of a pipeline stage holds."""

from __future__ import annotations

import numpy as np

from analysis.physics import pipeline
from analysis.physics.architecture import Architecture, Array
from analysis.physics.parameters import Buckets, dense_layer, input_embedding, moe_layer, mtp_block, output_head
from analysis.physics.split import Recipe, Split

Parts = dict[str, Array]

GATHERED_LAYERS = 2.0
"""Layers whose whole weights ZeRO-3 holds at once: the one at work and the one being fetched."""


def stage_parameters(arch: Architecture, split: Split, stage: Array, held: Array) -> Buckets:
    """Parameters of a stage's layers, embedding (first stage), head and MTP (last stage), by bucket, before splitting.

    A tied head is stored once more when first and last stage differ, as each needs the matrix.

    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import split
    >>> gpt = describe(dict(layers=48, hidden=6144, ffn_hidden=24576, heads=64, vocab=51200, gated_mlp=False,
    ...                     tied_embeddings=True, qkv_bias=1, attention_output_bias=1, mlp_bias=1, norm_vectors=2,
    ...                     learned_positions=2048))
    >>> int(stage_parameters(gpt, split(seq_len=2048, tp=8), np.asarray(0.0), np.asarray(48.0)).total)
    22074273792
    """
    mixture = pipeline.moe_layers_on_stage(arch, split.vpp, stage, held)
    layers = dense_layer(arch).times(held - mixture).plus(moe_layer(arch).times(mixture))
    first = np.where(stage == 0, 1.0, 0.0)
    last = np.where(stage == split.pp - 1, 1.0, 0.0)
    own_head = np.where(split.pp > 1, 1.0, 1.0 - arch.tied_embeddings)
    ends = input_embedding(arch).times(first).plus(output_head(arch, own_head).times(last))
    return layers.plus(ends).plus(mtp_block(arch).times(arch.mtp_layers * last))


def on_rank(parameters: Buckets, split: Split) -> tuple[Array, Array]:
    """Parameters that one rank holds when nothing is sharded over replicas: (dense part, routed experts).

    TP divides the sharded bucket only; routed experts are divided by ep and etp (Megatron-Core MoE,
    arXiv:2603.07685, sec. 3).
    """
    dense = parameters.tp_sharded / split.tp + parameters.replicated
    return dense, parameters.routed_experts / (split.ep * split.etp)


def _sharded(width: Array, dense: Array, experts: Array, split: Split, from_stage: float) -> Array:
    """Bytes of `width` per parameter, divided over the replicas from ZeRO stage `from_stage` on."""
    is_sharded = split.zero_stage >= from_stage
    over = np.where(is_sharded, split.replicas, 1.0)
    experts_over = np.where(is_sharded, split.expert_replicas, 1.0)
    return width * (dense / over + experts / experts_over)


def state_bytes(parameters: Buckets, split: Split, recipe: Recipe) -> Parts:
    """Bytes of the states on one rank, by part.

    ZeRO-1 divides master weights and moments by the replicas, ZeRO-2 gradients too, ZeRO-3 weights too (Rajbhandari
    et al. 2020, arXiv:1910.02054, sec. 3). Offloaded states are master weights and moments moved to the host.

    Parameters: parameters (of the stage), split, recipe. Returns: weights, gradients, master_weights, moments [B].

    >>> from analysis.physics.split import recipe, split
    >>> one = np.asarray(7.5e9)
    >>> zero = Buckets(one, 0 * one, 0 * one)
    >>> parts = state_bytes(zero, split(seq_len=1, dp=64, zero_stage=2), recipe(gradient=2))
    >>> round(float(sum(parts.values())) / 1e9, 1)
    16.6
    """
    dense, experts = on_rank(parameters, split)
    copies = pipeline.weight_copies(split.schedule)
    resident = 1 - recipe.offloaded_states
    return {
        "weights": copies * _sharded(recipe.weight, dense, experts, split, 3),
        "gradients": _sharded(recipe.gradient, dense, experts, split, 2),
        "master_weights": resident * _sharded(recipe.master, dense, experts, split, 1),
        "moments": resident * _sharded(recipe.moments, dense, experts, split, 1),
    }


def gathered_bytes(arch: Architecture, split: Split, recipe: Recipe, stage: Array) -> Array:
    """Whole 16-bit weights that ZeRO-3 holds while it works: two layers and, on the last stage, the output head.

    The head stays gathered between forward and backward; beside it lies its gradient before it is scattered.

    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import recipe, split
    >>> small = describe(dict(layers=2, hidden=8, ffn_hidden=32, heads=2, vocab=64, gated_mlp=False,
    ...                       tied_embeddings=False, norm_vectors=0))
    >>> int(gathered_bytes(small, split(seq_len=8, dp=2, zero_stage=3), recipe(), np.asarray(0.0)))
    5120
    """
    is_moe = np.where(arch.moe_layers > 0, 1.0, 0.0)
    layer = moe_layer(arch).times(is_moe).plus(dense_layer(arch).times(1 - is_moe))
    dense, experts = on_rank(layer, split)
    last = np.where(stage == split.pp - 1, 1.0, 0.0)
    head = 2 * last * arch.vocab * arch.hidden / split.tp
    total = recipe.working_weight * (GATHERED_LAYERS * (dense + experts) + head)
    return np.where(split.zero_stage >= 3, total, 0.0)
