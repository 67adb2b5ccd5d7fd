"""Which rows without a stated recompute have to recompute everything to fit; the fit and `predict` ask the same."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

import numpy as np

from analysis.engine.peak_memory import PeakMemory, predict_memory
from analysis.layout.arrays import Rows
from analysis.layout.checkpointing import Recompute
from analysis.layout.parse import Array, Mask


def has_to_recompute(
    rows: Rows, superchip: Mask, memory: Mapping[str, float], slack: float, peak: PeakMemory | None = None
) -> Array:
    """Rows in which everything kept would not fit, even in the leanest reading of the row.

    Superchips are left alone: their recipes move activations to the host's memory instead.

    Parameters
    ----------
    rows
        The table as read.
    superchip
        Rows whose accelerator shares a package link with its host.
    memory
        Constants of the memory model.
    slack
        Lean estimate over the card from which a row has to recompute [1].
    peak
        Memory of the rows in their richest reading, if it is at hand: only rows in which it is too large are computed
        again.

    Returns
    -------
    ndarray
        1 where a row has to recompute everything, else 0.
    """
    unknown, full = np.full(len(rows), np.nan), np.zeros(len(rows))
    limit = slack * rows.chip.get("card", unknown)
    silent = np.isnan(rows.recompute.layer) & ~superchip & ~rows.memory_lacks.bad
    index = np.flatnonzero(silent if peak is None else silent & (peak.rich > limit))
    if index.size:
        some = rows.take(index)
        nothing = {name: np.nan_to_num(values) for name, values in vars(some.recompute).items()}
        kept = replace(some, recompute=Recompute(**nothing))
        full[index] = predict_memory(kept, memory).lean > limit[index]
    return full


def with_recompute(rows: Rows, peak: PeakMemory, full: Array, memory: Mapping[str, float]) -> PeakMemory:
    """The memory of rows that have to recompute everything, as the step time takes them; bounds stay.

    Parameters
    ----------
    rows
        The table as read.
    peak
        Memory of the rows with nothing recomputed where they say nothing.
    full
        1 where a row has to recompute everything (`has_to_recompute`).
    memory
        Constants of the memory model.

    Returns
    -------
    PeakMemory
        The same with best estimate, stage and parts of those rows replaced.
    """
    index = np.flatnonzero(full > 0)
    if not index.size:
        return peak
    some = rows.take(index)
    words = {name: np.nan_to_num(values) for name, values in vars(some.recompute).items()} | {
        "layer": np.ones(index.size)
    }
    again = predict_memory(replace(some, recompute=Recompute(**words)), memory)
    best, stage = peak.best.copy(), peak.stage.copy()
    best[index], stage[index] = again.best, again.stage
    parts = {name: values.copy() for name, values in peak.parts.items()}
    for name, values in parts.items():
        values[index] = again.parts[name]
    return replace(peak, best=best, stage=stage, parts=parts)
