"""Layers of a pipeline stage: as stated, as the software deals them, or evenly; and which stages to look at."""

from __future__ import annotations

import numpy as np

from analysis.engine.stack import Constants, Stack
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.physics import pipeline
from analysis.physics.architecture import Architecture


def candidate_stages(rows: Rows) -> list[Array]:
    """Stages among which the fullest one is: the first three and the last, or all where a split is stated.

    Later middle stages hold the same layers as the third with no more micro-batches in flight.
    """
    last = rows.split.pp - 1
    deepest = float(np.fmax.reduce(last, initial=0.0))
    first = range(max(rows.stage_layers.shape[1] - 1, min(3, int(deepest))) or 1)
    return [np.minimum(float(stage), last) for stage in first] + ([last] if deepest > 0 else [])


def layers_of(rows: Rows, stack: Stack, constants: Constants, stage: Array) -> tuple[Array, Array]:
    """Layers on a stage and before it.

    Parameters
    ----------
    rows, stack
        Layouts and their software.
    constants
        `stacks.<name>.balanced_split` is 1 for software that deals layers by their cost.
    stage
        Stage of each row, from 0.

    Returns
    -------
    tuple of arrays
        (layers on the stage, layers on the stages before it).
    """
    split, arch = rows.split, rows.arch
    dealt = pipeline.layers_on_stage(arch.layers, split.pp, split.vpp, stage)
    before = stage * dealt
    balanced = (stack.habit(constants, "balanced_split", 0.0) > 0) & (split.vpp <= 1)
    if balanced.any():
        head = arch.vocab * arch.hidden / np.maximum(_layer_cost(arch), 1.0)
        up_to = pipeline.balanced_layers_up_to(arch.layers, head, split.pp, stage)
        until = np.where(stage > 0, pipeline.balanced_layers_up_to(arch.layers, head, split.pp, stage - 1), 0.0)
        dealt, before = np.where(balanced, up_to - until, dealt), np.where(balanced, until, before)
    return _stated(rows, stage, dealt, before)


def _layer_cost(arch: Architecture) -> Array:
    """Matrix elements of a layer of a dense model, as the software weighs it: every head counted as a query head."""
    return 4 * arch.hidden * arch.heads * arch.head_dim + arch.mlp_matrices * arch.hidden * arch.ffn_hidden


def _stated(rows: Rows, stage: Array, dealt: Array, before: Array) -> tuple[Array, Array]:
    """The split that a row states, else the one that was dealt."""
    stages = rows.stage_layers.shape[1]
    if not stages:
        return dealt, before
    index = np.minimum(np.nan_to_num(stage), stages - 1).astype(int)
    row = np.arange(len(rows))
    on_stage = rows.stage_layers[row, index]
    earlier = (np.cumsum(rows.stage_layers, axis=1) - rows.stage_layers)[row, index]
    return np.where(np.isnan(on_stage), dealt, on_stage), np.where(np.isnan(on_stage), before, earlier)
