"""Peak memory of a table of layouts: best estimate, bounds, the stage that decides and its parts.

The bounds come from steps, not from noise alone: where a row does not say how the loss is computed, in which width
gradients and moments are kept, or whether layers are recomputed, the leaner and the richer choice are both computed.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.engine.open_fields import Reading, assume, bracket, unstated
from analysis.engine.overhead import CLASSES, Overhead, figure_class, overhead
from analysis.engine.stack import Constants, Stack
from analysis.engine.stage_layers import candidate_stages, layers_of
from analysis.engine.tensors import policy_of
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.physics import peak

Texts = npt.NDArray[np.object_]
Parts = dict[str, Array]

CHUNK = 16384
"""Rows computed at once, so that the arrays of one pass stay in the processor's cache."""

PERSISTENT = ("weights", "gradients", "master_weights", "moments")
"""Parts that live through the step."""


@dataclass(frozen=True)
class PeakMemory:
    """Peak memory per row [B]; NaN where a row says too little, with the reason in `missing`.

    `stage` is the pipeline stage (from 0) that needs most, `parts` its bytes by name: they add up to `best`, except
    in rows whose `missing` names a field that was bracketed. `lean` and `rich` are the two ends of the bracket before
    the margins that `low` and `high` include.
    """

    best: Array
    low: Array
    high: Array
    lean: Array
    rich: Array
    stage: Array
    parts: Parts
    missing: Texts


@dataclass(frozen=True)
class Model:
    """Rows in one reading: what they keep, what lies beyond the tensors, and the building blocks of their stages."""

    rows: Rows
    stack: Stack
    constants: Constants
    pieces: peak.Pieces
    beyond: Overhead

    def on_stage(self, stage: Array) -> Parts:
        """Parts of the memory of a stage [B], cached blocks and context included."""
        parts = peak.stage_memory(self.pieces, stage, *layers_of(self.rows, self.stack, self.constants, stage))
        lasting = sum((value for name, value in parts.items() if name in PERSISTENT), np.zeros(()))
        passing = sum((value for name, value in parts.items() if name not in PERSISTENT), np.zeros(()))
        cached = lasting * self.beyond.persistent + passing * self.beyond.passing
        return parts | {"allocator": cached, "context": self.beyond.beside}

    def total(self, stage: Array) -> Array:
        """Memory of a stage [B]."""
        return sum(self.on_stage(stage).values(), np.zeros(()))

    def fullest(self) -> Array:
        """The stage (from 0) that needs most; the earliest of equals."""
        best_stage, best = np.zeros(len(self.rows)), np.full(len(self.rows), -1.0)
        for stage in candidate_stages(self.rows):
            needed = self.total(stage)
            best_stage, best = np.where(needed > best, stage, best_stage), np.fmax(best, needed)
        return best_stage


def model(rows: Rows, constants: Constants) -> Model:
    """The rows as they are, open fields as most software has them."""
    full = assume(rows, Reading.USUAL)
    stack = Stack.of(full, constants)
    pieces = peak.pieces(full.arch, full.split, policy_of(full, stack, constants))
    return Model(full, stack, constants, pieces, overhead(full, stack, constants))


def by_stage(rows: Rows, constants: Constants, row: int) -> Parts:
    """Parts of one row's memory on every pipeline stage [B]; cached blocks and context apart as their own parts."""
    one = model(rows.take(slice(row, row + 1)), constants)
    stages = [np.full(1, float(stage)) for stage in range(int(one.rows.split.pp[0]))]
    parts = [one.on_stage(stage) for stage in stages]
    return {name: np.concatenate([np.broadcast_to(part[name], (1,)) for part in parts]) for name in parts[0]}


def _end(rows: Rows, of: Model, stage: Array, *, lean: bool) -> Array:
    """One end of the bracket: what the stage needs, cached blocks and context included [B]."""
    full = assume(rows, Reading.LEAN if lean else Reading.RICH)
    stack = Stack.of(full, of.constants)
    policy = bracket(policy_of(full, stack, of.constants), full, stack, of.constants, lean=lean)
    same_cut = full.split.etp is of.rows.split.etp or np.array_equal(full.split.etp, of.rows.split.etp, equal_nan=True)
    pieces = peak.pieces(full.arch, full.split, policy, of.pieces.parameters if same_cut else None)
    return Model(full, stack, of.constants, pieces, overhead(full, stack, of.constants, lean=lean)).total(stage)


def _chunk(rows: Rows, constants: Constants) -> PeakMemory:
    of = model(rows, constants)
    stage = of.fullest()
    parts = of.on_stage(stage)
    ends = {
        "best": sum(parts.values(), np.zeros(())),
        "lean": _end(rows, of, stage, lean=True),
        "rich": _end(rows, of, stage, lean=False),
    }
    return _bounded(rows, of, ends, stage, parts)


def _bounded(rows: Rows, of: Model, ends: Parts, stage: Array, parts: Parts) -> PeakMemory:
    """Margins around the bracket by class, and NaN in rows that say too little."""
    gaps, value, constants = unstated(rows), ends["best"], of.constants
    kind = figure_class(of.rows, of.stack, constants)
    bad = rows.memory_reasons != ""
    low, high = (np.asarray([constants[f"margin.{name}.{end}"] for name in CLASSES])[kind] for end in ("low", "high"))
    low = np.minimum(ends["lean"], value) * (1 - low)
    high = np.maximum(ends["rich"], value) * (1 + high)
    known = ends | {"low": low, "high": high, "stage": stage}
    known = {name: np.where(bad, np.nan, values) for name, values in known.items()}
    named = {name: np.where(bad, np.nan, part) for name, part in parts.items()}
    return PeakMemory(**known, parts=named, missing=_named_gaps(rows, gaps, bad))


def _named_gaps(rows: Rows, gaps: dict[str, Mask], bad: Mask) -> Texts:
    """The reasons, and in rows without one the fields that were bracketed."""
    missing = rows.memory_reasons.copy()
    for name, mask in gaps.items():
        for row in np.flatnonzero(mask & ~bad):
            missing[row] = f"{missing[row]}; {name} is not stated" if missing[row] else f"{name} is not stated"
    return missing


def predict_memory(rows: Rows, constants: Constants) -> PeakMemory:
    """Peak memory per accelerator of every row.

    Parameters
    ----------
    rows
        Layouts in base units (`arrays.read_rows`).
    constants
        Calibration of the memory as dotted names and values, the table of stacks (`stacks.*`) included.

    Returns
    -------
    PeakMemory
        One value per row [B].
    """
    starts = range(0, max(len(rows), 1), CHUNK)
    with np.errstate(invalid="ignore", divide="ignore", over="ignore"):
        chunks = [_chunk(rows.take(slice(start, start + CHUNK)), constants) for start in starts]
    names = chunks[0].parts
    joined = {
        name: np.concatenate([getattr(chunk, name) for chunk in chunks])
        for name in ("best", "low", "high", "lean", "rich", "stage", "missing")
    }
    return PeakMemory(**joined, parts={name: np.concatenate([chunk.parts[name] for chunk in chunks]) for name in names})
