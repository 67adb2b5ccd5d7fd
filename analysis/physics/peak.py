"""Memory of an accelerator by part and pipeline stage, and the stage that needs most."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.physics import activations, pipeline, states
from analysis.physics.architecture import Architecture, Array
from analysis.physics.memory_policy import MemoryPolicy
from analysis.physics.pipeline import Place
from analysis.physics.split import Split

Parts = dict[str, Array]

GIB = 2.0**30


@dataclass(frozen=True)
class Pieces:
    """Everything that does not depend on the stage: parameters per block, activations per layer [B per micro-batch]."""

    arch: Architecture
    split: Split
    policy: MemoryPolicy
    parameters: states.RankPieces
    dense_layer: Array
    moe_layer: Array
    head: Array
    logits: Array
    backward: Array


def pieces(
    arch: Architecture, split: Split, policy: MemoryPolicy, parameters: states.RankPieces | None = None
) -> Pieces:
    """Count the building blocks of a table of layouts once, for `stage_memory` to put together.

    `parameters` of the same architecture and degrees can be handed in, as they do not depend on the policy.
    """
    whole = activations.whole_layer(arch, split, policy)
    layer = np.where(arch.moe_layers > 0, activations.total(whole[1]), activations.total(whole[0]))
    dense, moe = (activations.checkpointed(parts, arch, split, policy) for parts in whole)
    return Pieces(
        arch=arch,
        split=split,
        policy=policy,
        parameters=states.rank_pieces(arch, split) if parameters is None else parameters,
        dense_layer=activations.total(dense),
        moe_layer=activations.total(moe),
        head=(1 + arch.mtp_layers) * activations.head_bytes(arch, split, policy),
        logits=(1 + arch.mtp_layers) * activations.logit_bytes(arch, split, policy),
        backward=activations.backward_bytes(arch, split, policy, layer),
    )


def stage_memory(of: Pieces, stage: Array, layers: Array | None = None, before: Array | None = None) -> Parts:
    """Allocated bytes on one rank of a pipeline stage at its fullest moment, by part.

    Parameters
    ----------
    of
        What is trained, how it is cut, what is stored (see `pieces`).
    stage
        Pipeline stage, from 0.
    layers, before
        Layers on the stage and on the stages before it where the split is stated; by default as
        `pipeline.layers_on_stage` deals them.

    Returns
    -------
    dict
        weights, gradients, master_weights, moments, gathered_weights, activations, head, working [B]. `working` is
        the larger of the logits (last stage) and the passing tensors of one layer's backward: they never meet.

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> arch = describe(dict(layers=48, hidden=6144, ffn_hidden=24576, heads=64, vocab=51200, gated_mlp=False,
    ...                      tied_embeddings=True))
    >>> parts = stage_memory(pieces(arch, split(seq_len=2048, micro_batch=4, tp=8), memory_policy()), np.asarray(0.0))
    >>> round(float(parts["weights"]) / GIB, 2)
    5.14
    """
    place = pipeline.place(of.arch, of.split, stage, layers, before)
    on_stage = states.stage_on_rank(of.parameters, place)
    parts = states.state_bytes(on_stage, of.split, of.policy)
    gathered = states.gathered_bytes(of.arch, of.split, of.policy, of.parameters, place.is_last)
    parts |= {
        "gathered_weights": gathered + states.kept_gathered_bytes(on_stage, of.split, of.policy),
        "activations": place.micro_batches * micro_batch_bytes(of, place),
        "head": place.is_last * of.head,
        "working": np.maximum(place.is_last * of.logits, of.backward),
    }
    return _late(parts, of)


def micro_batch_bytes(of: Pieces, place: Place) -> Array:
    """What a stage keeps of one micro-batch: its layers, MTP on the last, dropout of the embedding, what it sent on."""
    prediction = place.is_last * of.arch.mtp_layers
    stream = of.split.tokens * of.arch.hidden * of.split.residual_share
    mask = place.is_first * of.policy.dropout * stream
    sent = (1 - place.is_last) * of.policy.activation * of.policy.stage_output * stream
    has_experts = of.arch.experts > 0
    plain = place.layers - place.moe_layers + np.where(has_experts, 0.0, prediction)
    mixture = place.moe_layers + np.where(has_experts, prediction, 0.0)
    return states.times(plain, of.dense_layer) + states.times(mixture, of.moe_layer) + mask + sent


def _late(parts: Parts, of: Pieces) -> Parts:
    """The fuller of two moments where gradients appear late: the loss without them, the end without activations.

    At the end a tied embedding's second gradient stands beside the first until they are added.
    """
    late = (of.policy.late_gradients > 0) & (of.split.micro_batches <= 1) & (of.split.pp <= 1)
    if not np.any(late):
        return parts
    second = of.policy.gradient * of.arch.tied_embeddings * of.arch.vocab * of.arch.hidden / of.split.tp
    at_loss = parts["activations"] + parts["head"] + parts["working"]
    ends = late & (parts["gradients"] + second > at_loss)
    passing = {"activations", "head"}
    out = {name: np.where(ends, 0.0, value) if name in passing else value for name, value in parts.items()}
    out["working"] = np.where(ends, second, parts["working"])
    out["gradients"] = np.where(late & ~ends, 0.0, parts["gradients"])
    return out
