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
    parts = states.state_bytes(states.stage_parameters(arch, split, stage, layers), split, recipe)
    last = np.where(stage == split.pp - 1, 1.0, 0.0)
    flying = pipeline.in_flight(split.schedule, split.pp, split.vpp, stage, split.micro_batches)
    logits = last * (1 + arch.mtp_layers) * activations.logit_bytes(arch, split, recipe)
    parts |= {
        "gathered_weights": states.gathered_bytes(arch, split, recipe, stage),
        "activations": flying * micro_batch_bytes(arch, split, recipe, stage, layers),
        "head": last * (1 + arch.mtp_layers) * activations.head_bytes(arch, split),
        "working": np.maximum(logits, activations.backward_bytes(arch, split, recipe)),
    }
    return _late(parts, arch, split, recipe)


def micro_batch_bytes(arch: Architecture, split: Split, recipe: Recipe, stage: Array, layers: Array) -> Array:
    """What a stage keeps of one micro-batch: its layers, MTP on the last, dropout of the embedding, what it sent on."""
    mixture = pipeline.moe_layers_on_stage(arch, split.vpp, stage, layers)
    dense_parts, moe_parts = activations.layer_bytes(arch, split, recipe)
    dense, moe = activations.total(dense_parts), activations.total(moe_parts)
    is_last = stage == split.pp - 1
    prediction = np.where(is_last, arch.mtp_layers * np.where(arch.experts > 0, moe, dense), 0.0)
    stream = split.tokens * arch.hidden * split.residual_share
    mask = np.where(stage == 0, recipe.dropout, 0.0) * stream
    sent = np.where(is_last, 0.0, activations.HALF * recipe.stage_output) * stream
    return _times(layers - mixture, dense) + _times(mixture, moe) + prediction + mask + sent


def _late(parts: Parts, arch: Architecture, split: Split, recipe: Recipe) -> Parts:
    """Keep the fuller of two moments where gradients appear late: the loss without them, or the end without activations.

    At the end a tied embedding's second gradient stands beside the first until they are added.
    """
    second = recipe.gradient * arch.tied_embeddings * arch.vocab * arch.hidden / split.tp
    at_loss = parts["activations"] + parts["head"] + parts["working"]
    late = (recipe.late_gradients > 0) & (split.micro_batches <= 1) & (split.pp <= 1)
    ends = late & (parts["gradients"] + second > at_loss)
    passing = {"activations", "head"}
    out = {name: np.where(ends, 0.0, value) if name in passing else value for name, value in parts.items()}
    out["working"] = np.where(ends, second, parts["working"])
    out["gradients"] = np.where(late & ~ends, 0.0, parts["gradients"])
    return out


def _times(count: Array, each: Array) -> Array:
    """Product in which no layers of a kind weigh nothing, even where that kind's size is not known."""
    return np.where(count > 0, count * each, 0.0)
