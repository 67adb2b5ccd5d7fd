"""Layers on each pipeline stage and how many micro-batches' activations a stage keeps at its fullest moment."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.physics.architecture import Architecture, Array
from analysis.physics.bubble import Schedule
from analysis.physics.split import Split

MAX_SHORT_STAGES = 4
"""A split that leaves more than this many layers to fill is dealt evenly instead of shortening the ends."""


def layers_on_stage(layers: Array, pp: Array, vpp: Array, stage: Array) -> Array:
    """Layers that stage `stage` (from 0) holds.

    Equal shares when pp*vpp divides. Otherwise chunks are rounded up and the stages at the ends carry fewer, since
    they also carry embedding and head: the last gives up every second missing layer, the first the others
    (126 layers on 16 stages are 7, 8, ..., 8, 7, as in Llama 3.1, arXiv:2407.21783, sec. 3.3.2). When more than four
    layers are missing, stages differ by one at most and the first ones are the fuller ones.

    Parameters
    ----------
    layers, pp, vpp
        Layers of the model, stages and virtual stages [1].
    stage
        The stage, from 0.

    Returns
    -------
    array
        Layers on the stage.

    Examples
    --------
    >>> [int(layers_on_stage(np.asarray(126.0), 16, 1, np.asarray(i))) for i in (0, 1, 15)]
    [7, 8, 7]
    >>> [int(layers_on_stage(np.asarray(61.0), 16, 1, np.asarray(i))) for i in (0, 1, 15)]
    [3, 4, 2]
    """
    p = np.asarray(pp, dtype=float)
    full = np.ceil(layers / (p * vpp)) * vpp
    missing = p * full - layers
    from_last, from_first = np.ceil(missing / 2), np.floor(missing / 2)
    ends = full - np.where(stage == p - 1, from_last, 0.0) - np.where(stage == 0, from_first, 0.0)
    base = np.floor(layers / p)
    even = base + np.where(stage < layers - p * base, 1.0, 0.0)
    shortened = (missing <= MAX_SHORT_STAGES) & (p > 1) & (from_last <= full)
    return np.where(p <= 1, layers, np.where(shortened, ends, even))


def balanced_layers_up_to(layers: Array, head_layers: Array, pp: Array, stage: Array) -> Array:
    """Layers on stages 0 to `stage` where layers are dealt by their cost, the output head counted.

    Layers go to a stage until their cost reaches its share of the whole; the head weighs as many layers as its matrix
    has times the elements of one (nanotron, models/base.py, build_model).

    Parameters
    ----------
    layers
        Layers of the model.
    head_layers
        Matrix elements of the head over those of one layer [1].
    pp, stage
        Stages, and the stage from 0.

    Returns
    -------
    array
        Layers up to and with the stage.

    Examples
    --------
    >>> [int(balanced_layers_up_to(np.asarray(16.0), 4.0, 4.0, np.asarray(i))) for i in (0.0, 1.0, 3.0)]
    [5, 10, 16]
    """
    share = (layers + head_layers) * (stage + 1) / pp
    reached = np.maximum(np.ceil(share - 1e-9), stage + 1)
    return np.where(stage >= pp - 1, layers, np.minimum(reached, layers))


def moe_layers_on_stage(
    arch: Architecture, vpp: Array, stage: Array, on_stage: Array, before: Array | None = None
) -> Array:
    """MoE layers among the `on_stage` layers of a stage: the dense ones sit in the first layers of the first chunks.

    With interleaving a stage holds `vpp` chunks that lie pp chunks apart; only the first chunk of each stage can meet
    the first dense layers, which no known model has more of than one chunk per stage. `before` counts the layers of
    earlier stages where the split is stated.

    >>> from analysis.physics.architecture import describe
    >>> deep = describe(dict(layers=61, experts=256, dense_layers=3))
    >>> [int(moe_layers_on_stage(deep, 1, np.asarray(i), np.asarray(4.0))) for i in (0, 1)]
    [1, 4]
    """
    chunk = on_stage / vpp
    first = stage * chunk if before is None else before / vpp
    dense = np.clip(arch.dense_layers - first, 0.0, chunk)
    return np.where(arch.experts > 0, np.floor((on_stage - dense) / arch.moe_layer_step), 0.0)


def in_flight(schedule: Array, pp: Array, vpp: Array, stage: Array, micro_batches: Array) -> Array:
    """Micro-batches whose activations of all the stage's layers are kept at the peak [1].

    GPipe keeps all m. 1F1B: min(m, p - i) (Narayanan et al. 2019, PipeDream). Interleaved: the chunks of the warm-up,
    2(p-1-i) + (v-1)p + 1, of L/(pv) layers each: 1 + (p-1)/(pv) of the whole model on the first stage (Korthikanti
    et al. 2022, arXiv:2205.05198, sec. 4.2.3). Zero bubble (arXiv:2401.10241, sec. 3): ZB-1p and ZB-V are scheduled
    into the memory of p micro-batches and ZB-2p of 2p, on every stage. DualPipe p + 1 (arXiv:2412.19437, table 2).

    Parameters
    ----------
    schedule
        Code of `bubble.Schedule`.
    pp, vpp, stage, micro_batches
        Stages, virtual stages, the stage from 0, and micro-batches per step [1].

    Returns
    -------
    array
        Micro-batches [1].

    Examples
    --------
    >>> peak = in_flight(np.asarray(Schedule.INTERLEAVED), 8, 3, np.asarray(0), np.asarray(64))
    >>> round(float(peak) / 8, 5)
    1.29167
    """
    p = np.asarray(pp, dtype=float)
    m = np.asarray(micro_batches, dtype=float)
    remaining = p - stage
    chunks = np.minimum(2 * (remaining - 1) + (vpp - 1) * p + 1, m * vpp)
    kept = [
        (Schedule.GPIPE, m),
        (Schedule.ONE_F_ONE_B, np.minimum(m, remaining)),
        (Schedule.INTERLEAVED, chunks / vpp),
        (Schedule.ZB_1P, np.minimum(m, p)),
        (Schedule.ZB_2P, np.minimum(m, 2 * p)),
        (Schedule.ZB_V, np.minimum(m, p)),
        (Schedule.DUALPIPE, np.minimum(m, p + 1)),
    ]
    on_stage = np.select([schedule == code for code, _ in kept], [count + 0 * p * stage for _, count in kept], np.nan)
    return np.where(p <= 1, 1.0, on_stage)


@dataclass(frozen=True)
class Place:
    """What a stage is: its number, its layers, how many of them are MoE, and 1 where it is the first or last."""

    stage: Array
    layers: Array
    moe_layers: Array
    is_first: Array
    is_last: Array
    micro_batches: Array


def place(
    arch: Architecture, split: Split, stage: Array, layers: Array | None = None, before: Array | None = None
) -> Place:
    """The stage `stage` (from 0) of each row; layers as `layers_on_stage` deals unless stated, with those before it.

    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import split
    >>> last = place(describe(dict(layers=126)), split(seq_len=8192, pp=16, micro_batches=32), np.asarray(15.0))
    >>> float(last.layers), float(last.is_last), float(last.micro_batches)
    (7.0, 1.0, 1.0)
    """
    on_stage = layers_on_stage(arch.layers, split.pp, split.vpp, stage) if layers is None else layers
    return Place(
        stage=stage,
        layers=on_stage,
        moe_layers=moe_layers_on_stage(arch, split.vpp, stage, on_stage, before),
        is_first=np.where(stage == 0, 1.0, 0.0),
        is_last=np.where(stage == split.pp - 1, 1.0, 0.0),
        micro_batches=in_flight(split.schedule, split.pp, split.vpp, stage, split.micro_batches),
    )


def whole_stage(arch: Architecture, split: Split, stage: Array, layers: Array) -> Place:
    """A stage's place where only its weights matter: `layers` on it, no micro-batches.

    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.split import split
    >>> cut = split(seq_len=8192, pp=16)
    >>> float(whole_stage(describe(dict(layers=126)), cut, np.asarray(15.0), np.asarray(7.0)).is_last)
    1.0
    """
    return Place(
        stage=stage,
        layers=layers,
        moe_layers=moe_layers_on_stage(arch, split.vpp, stage, layers),
        is_first=np.where(stage == 0, 1.0, 0.0),
        is_last=np.where(stage == split.pp - 1, 1.0, 0.0),
        micro_batches=np.zeros(()),
    )


def weight_copies(schedule: Array) -> Array:
    """Copies of the stage's weights on a rank: DualPipe feeds the pipeline from both ends and keeps two.

    >>> float(weight_copies(np.asarray(Schedule.DUALPIPE))), float(weight_copies(np.asarray(Schedule.ZB_V)))
    (2.0, 1.0)
    """
    return np.where(schedule == Schedule.DUALPIPE, 2.0, 1.0)
