"""Peak memory of a table of layouts: best estimate, bounds, the stage that decides and its parts.

The bounds come from steps, not from noise alone: where a row does not say how the loss is computed, in which width
gradients and moments are kept, or whether layers are recomputed, the leaner and the richer choice are both computed.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace

import numpy as np
import numpy.typing as npt

from analysis.engine import stack as storage
from analysis.engine.stack import Stack
from analysis.layout import words as recipes
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array, Mask
from analysis.physics import attention, pipeline
from analysis.physics import peak as memory
from analysis.physics.split import Recipe

Constants = Mapping[str, float]
Texts = npt.NDArray[np.object_]

CHUNK = 16384
"""Rows computed at once, so that the arrays of one pass stay in the processor's cache."""


@dataclass(frozen=True)
class Footprint:
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
    parts: dict[str, Array]
    missing: Texts


def _unstated(rows: Rows) -> dict[str, Mask]:
    """Fields that change memory, and the rows that do not state them."""
    alone = rows.split.dp * rows.split.cp <= 1
    return {
        "recompute": np.isnan(rows.recompute.layer),
        "attention_kernel": np.isnan(rows.kernel),
        "zero_stage": np.isnan(rows.split.zero_stage) & ~alone,
        "sequence_parallel": np.isnan(rows.split.sequence_parallel),
    }


def assume(rows: Rows, *, lean: bool) -> Rows:
    """The rows with each unstated field set to the choice that needs least memory, or most.

    Pipelines shard optimizer states at most (ZeRO-1): with more, every micro-batch would reduce or gather again.
    """
    gaps = _unstated(rows)
    if not any(mask.any() for mask in gaps.values()) and not np.isnan(rows.split.zero_stage).any():
        return rows
    kernel = np.where(gaps["attention_kernel"], attention.FLASH if lean else attention.UNFUSED, rows.kernel)
    leanest = np.where(rows.split.pp > 1, 1.0, 3.0)
    stage = np.where(gaps["zero_stage"], leanest if lean else 0.0, np.nan_to_num(rows.split.zero_stage))
    parallel = np.where(gaps["sequence_parallel"], 1.0 if lean else 0.0, rows.split.sequence_parallel)
    said = {name: np.nan_to_num(values) for name, values in vars(rows.recompute).items()}
    said["layer"] = np.where(gaps["recompute"], 1.0 if lean else 0.0, said["layer"])
    split = replace(rows.split, zero_stage=stage, sequence_parallel=parallel)
    return replace(rows, kernel=kernel, split=split, recompute=replace(rows.recompute, **said))


def bracket(recipe: Recipe, rows: Rows, stack: Stack, constants: Constants, *, lean: bool) -> Recipe:
    """The recipe with what tables leave out at its leaner or richer step.

    Loss: chunked or PyTorch's own, Megatron's in-place or plain one. PyTorch stacks without compilation keep norms and
    gates piece by piece. Mixtures of experts and latent attention: gradients and moments in BF16 (the precision-aware
    optimizer) or FP32. FP8: weights in FP8 only, or beside BF16 ones.
    """
    native, flash = stack.native, rows.kernel != attention.UNFUSED
    open_width = stack.megatron & ((rows.arch.mla > 0) | (rows.arch.experts > 0))
    kinds = ("chunked", "in_place") if lean else ("eager", "unfused")
    widths = [np.asarray(constants[f"logits.{kind}_bytes"]) for kind in kinds]
    told, no_loss = rows.stated, np.isnan(rows.stated.loss)
    eager = np.where(native & (not lean), 1.0, 0.0)
    quantised = stack.megatron & (rows.words.dtype >= recipes.FP8) & (not lean)
    return replace(
        recipe,
        logit_bytes=np.select([native & no_loss, stack.megatron & flash & no_loss], widths, recipe.logit_bytes),
        gradient=np.where(open_width & np.isnan(told.gradient), 2.0 if lean else 4.0, recipe.gradient),
        moments=np.where(open_width & np.isnan(told.moment), 4.0 if lean else 8.0, recipe.moments),
        weight=np.where(quantised, 2 * recipe.weight, recipe.weight),
        eager_norm=eager,
        separate_gate=np.where(eager > 0, rows.arch.gated_mlp, recipe.separate_gate),
    )


def candidate_stages(rows: Rows) -> list[Array]:
    """Stages among which the fullest one is: the first three and the last, or all where a split is stated.

    Later middle stages hold the same layers as the third with no more micro-batches in flight.
    """
    last = rows.split.pp - 1
    deepest = float(np.fmax.reduce(last, initial=0.0))
    first = range(max(rows.stage_layers.shape[1] - 1, min(3, int(deepest))) or 1)
    return [np.minimum(float(stage), last) for stage in first] + ([last] if deepest > 0 else [])


def stated_layers(rows: Rows, stage: Array) -> tuple[Array | None, Array | None]:
    """(layers on the stage, layers before it) where any row states its split, else nothing."""
    stages = rows.stage_layers.shape[1]
    if not stages:
        return None, None
    split, arch = rows.split, rows.arch
    index = np.minimum(np.nan_to_num(stage), stages - 1).astype(int)
    row = np.arange(len(rows))
    stated, before = (
        rows.stage_layers[row, index],
        (np.cumsum(rows.stage_layers, axis=1) - rows.stage_layers)[row, index],
    )
    dealt = pipeline.layers_on_stage(arch.layers, split.pp, split.vpp, stage)
    return np.where(np.isnan(stated), dealt, stated), np.where(np.isnan(stated), stage * dealt, before)


def on_stage(rows: Rows, pieces: memory.Pieces, stage: Array) -> dict[str, Array]:
    """Parts of the memory of a stage, with the split a row states."""
    return memory.stage_memory(pieces, stage, *stated_layers(rows, stage))


def fullest(rows: Rows, pieces: memory.Pieces) -> Array:
    """The stage (from 0) that needs most; the earliest of equals."""
    best_stage, best = np.zeros(len(rows)), np.full(len(rows), -1.0)
    for stage in candidate_stages(rows):
        needed = sum(on_stage(rows, pieces, stage).values(), np.zeros(()))
        best_stage, best = np.where(needed > best, stage, best_stage), np.fmax(best, needed)
    return best_stage


def by_stage(rows: Rows, constants: Constants, row: int) -> dict[str, Array]:
    """Parts of one row's memory on every pipeline stage [B]; allocator slack and context apart as their own parts."""
    one = assume(rows.take(slice(row, row + 1)), lean=False)
    stack = Stack.of(one)
    pieces = memory.pieces(one.arch, one.split, storage.resolve(one, stack, constants))
    stages = [np.full(1, float(stage)) for stage in range(int(one.split.pp[0]))]
    parts = [on_stage(one, pieces, stage) for stage in stages]
    joined = {name: np.concatenate([np.broadcast_to(part[name], (1,)) for part in parts]) for name in parts[0]}
    factor, beside = storage.overheads(one, stack, constants)
    tensors = sum(joined.values(), np.zeros(()))
    return joined | {"allocator": tensors * (factor - 1), "context": beside + np.zeros(len(stages))}


def _end(rows: Rows, base: memory.Pieces, stage: Array, constants: Constants, *, lean: bool) -> Array:
    """One end of the bracket: what the stage needs, allocator and context included [B]."""
    filled = assume(rows, lean=lean)
    stack = Stack.of(filled)
    recipe = bracket(storage.resolve(filled, stack, constants), filled, stack, constants, lean=lean)
    pieces = memory.pieces(filled.arch, filled.split, recipe, base.parameters)
    total = sum(on_stage(filled, pieces, stage).values(), np.zeros(()))
    factor, beside = storage.overheads(filled, stack, constants)
    return total * factor + beside


def _chunk(rows: Rows, constants: Constants) -> Footprint:
    filled = assume(rows, lean=False)
    stack = Stack.of(filled)
    pieces = memory.pieces(filled.arch, filled.split, storage.resolve(filled, stack, constants))
    stage = fullest(filled, pieces)
    parts = on_stage(filled, pieces, stage)
    factor, beside = storage.overheads(filled, stack, constants)
    tensors = sum(parts.values(), np.zeros(()))
    parts |= {"allocator": tensors * (factor - 1), "context": beside}
    ends = {
        "best": tensors * factor + beside,
        "lean": _end(rows, pieces, stage, constants, lean=True),
        "rich": _end(rows, pieces, stage, constants, lean=False),
    }
    return _bounded(rows, ends, stage, parts, constants)


def _bounded(
    rows: Rows, ends: dict[str, Array], stage: Array, parts: dict[str, Array], constants: Constants
) -> Footprint:
    """Margins around the bracket, the middle in rows with an open field, and NaN in rows that say too little."""
    gaps = _unstated(rows)
    is_open = np.logical_or.reduce(list(gaps.values()))
    value = np.where(is_open, np.sqrt(ends["lean"] * ends["rich"]), ends["best"])
    bad = rows.memory_reasons != ""
    low = np.minimum(ends["lean"], value) * (1 - constants["margin.low"])
    high = np.maximum(ends["rich"], value) * (1 + constants["margin.high"])
    known = ends | {"best": value, "low": low, "high": high, "stage": stage}
    known = {name: np.where(bad, np.nan, values) for name, values in known.items()}
    named = {name: np.where(bad, np.nan, part) for name, part in parts.items()}
    return Footprint(**known, parts=named, missing=_named_gaps(rows, gaps, bad))


def _named_gaps(rows: Rows, gaps: dict[str, Mask], bad: Mask) -> Texts:
    """The reasons, and in rows without one the fields that were bracketed."""
    missing = rows.memory_reasons.copy()
    for name, mask in gaps.items():
        for row in np.flatnonzero(mask & ~bad):
            missing[row] = f"{missing[row]}; {name} is not stated" if missing[row] else f"{name} is not stated"
    return missing


def predict_memory(rows: Rows, constants: Constants) -> Footprint:
    """Peak memory per accelerator of every row.

    Parameters
    ----------
    rows
        Layouts in base units (`inputs.read_rows`).
    constants
        The `memory` section of the calibration file as dotted names and values.

    Returns
    -------
    Footprint
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
    return Footprint(**joined, parts={name: np.concatenate([chunk.parts[name] for chunk in chunks]) for name in names})
