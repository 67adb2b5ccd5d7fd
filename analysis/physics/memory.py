"""Memory of an accelerator by part and pipeline stage, and the stage that needs most."""

from __future__ import annotations

import numpy as np

from analysis.physics import activations, pipeline, states
from analysis.physics.architecture import Architecture, Array
from analysis.physics.split import Recipe, Split

Parts = dict[str, Array]

GIB = 2.0**30


def stage_memory(arch: Architecture, split: Split, recipe: Recipe, stage: Array, held: Array | None = None) -> Parts:
    """Allocated bytes on one rank of a pipeline stage at its fullest moment, by part.

    Parameters
    ----------
    arch, split, recipe
        What is trained, how it is cut, what is stored.
    stage
        Pipeline stage, from 0.
    held
        Layers on the stage where the split is stated; by default `pipeline.layers_on_stage`.

    Returns
    -------
    dict
        weights, gradients, master_weights, moments, gathered_weights, activations, head, working [B]. `working` is
        the larger of the logits (last stage) and the passing tensors of one layer's backward: they never meet.

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import recipe, split
    >>> arch = describe(dict(layers=48, hidden=6144, ffn_hidden=24576, heads=64, vocab=51200, gated_mlp=False,
    ...                      tied_embeddings=True))
    >>> parts = stage_memory(arch, split(seq_len=2048, micro_batch=4, tp=8), recipe(), np.asarray(0.0))
    >>> round(float(parts["weights"]) / GIB, 2)
    5.14
    """
    layers = pipeline.layers_on_stage(arch.layers, split.pp, split.vpp, stage) if held is None else held
    parameters = states.stage_parameters(arch, split, stage, layers)
    mixture = pipeline.moe_layers_on_stage(arch, split.vpp, stage, layers)
    dense_parts, moe_parts = activations.layer_bytes(arch, split, recipe)
    dense, moe = activations.total(dense_parts), activations.total(moe_parts)
    last = np.where(stage == split.pp - 1, 1.0, 0.0)
    prediction = last * arch.mtp_layers * np.where(arch.experts > 0, moe, dense)
    flying = pipeline.in_flight(split.schedule, split.pp, split.vpp, stage, split.micro_batches)
    kept = _times(layers - mixture, dense) + _times(mixture, moe) + prediction
    masks = np.where(stage == 0, 1.0, 0.0) * recipe.dropout * split.tokens * arch.hidden * split.residual_share
    logits = last * (1 + arch.mtp_layers) * activations.logit_bytes(arch, split, recipe)
    return states.state_bytes(parameters, split, recipe) | {
        "gathered_weights": states.gathered_bytes(arch, split, recipe, stage),
        "activations": flying * (kept + masks),
        "head": last * (1 + arch.mtp_layers) * activations.head_bytes(arch, split),
        "working": np.maximum(logits, activations.backward_bytes(arch, split, recipe)),
    }


def _times(count: Array, each: Array) -> Array:
    """Product in which no layers of a kind weigh nothing, even where that kind's size is not known."""
    return np.where(count > 0, count * each, 0.0)
