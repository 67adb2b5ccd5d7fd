"""Memory, step time, utilisation and the largest loss of every row of a table of layouts.

Model FLOP are counted in the causal convention (`flops.per_token`, `causal`; MTP included where a row has it) and held
against the dense 16-bit peak, also for FP8 and FP4 rows, since that is what reports print.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine import rates as chips
from analysis.engine import step as workload
from analysis.engine.constants import flatten
from analysis.engine.peak_memory import PeakMemory, predict_memory
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.columns import check_columns
from analysis.layout.parse import Array, Mask
from analysis.layout.words import Recompute
from analysis.physics import flops, timing
from analysis.physics.work import Chip, Parts, Work

COLUMNS = (
    "id", "memory_gib", "memory_gib_low", "memory_gib_high", "step_time_s", "step_time_s_low", "step_time_s_high",
    "mfu", "bound_by", "missing",
)  # fmt: skip
GIB = 2.0**30
#: Rows that are computed at once; bounds the memory of a large table.
CHUNK = 50000
#: What a part of the step is called when it is the largest loss.
LOSSES = {
    "compute": "compute", "attention": "attention", "memory": "memory-bandwidth", "moe": "moe-overhead", "tp": "tp",
    "cp": "cp", "ep": "ep", "host": "host", "pp": "pp-send", "bubble": "pp-bubble", "dp": "dp",
    "optimizer": "optimizer", "scale": "scale",
}  # fmt: skip
NO_RATE = (
    "the accelerator's record has no dense 16-bit peak",
    "hbm_bandwidth_gb_s is not in the accelerator's record",
    "the accelerator's record has no peak for this precision, or no link that the layout needs",
)
MEMORY_ENDS = {"": "best", "_low": "low", "_high": "high"}
#: How far the leanest estimate must exceed the card before a row without stated recompute is taken as recomputing all:
#: published runs at 1.1 to 1.4 times ran at the speed of none, having dropped single tensors.
KEPT_SLACK = 1.5
#: Open inputs that move the time by a step rather than a little: their sentences begin with one of these.
STEPS = ("recompute", "attention_kernel", "no measured rows", "bf16_tflops", "fp8_tflops")


@dataclass(frozen=True)
class Timed:
    """Step times of a table: what runs on which chip, parts [s], model FLOP per step, peak of all accelerators, open
    inputs by sentence."""

    work: Work
    chip: Chip
    parts: Parts
    model_flop: Array
    linear_flop: Array
    peak: Array
    hbm_bandwidth: Array
    moe: Mask
    assumed: dict[str, Mask]

    @property
    def seconds(self) -> Array:
        """Step time [s]."""
        return timing.step_seconds(self.parts)


def timed(rows: Rows, accelerators: pd.DataFrame, k: Mapping[str, float], full: Array | float = 0.0) -> Timed:
    """Step time by part of rows.

    Parameters: rows, accelerators (vendor scale), k (timing constants by dotted name),
    full (1 where a row without stated recompute has to recompute everything to fit).
    """
    facts = chips.chip_facts(rows, accelerators, k)
    load = workload.workload(rows, facts, full)
    chip = chips.chip(facts, k)
    parts = timing.step_parts(rows.arch, load.work, chip, k)
    token = flops.per_token(rows.arch, rows.split.seq_len)
    tokens = rows.number["global_batch"] * rows.split.seq_len
    return Timed(
        work=load.work,
        chip=chip,
        parts=parts,
        model_flop=np.asarray(token["causal-with-mtp"] * tokens),
        linear_flop=np.asarray(token["6nd"] * tokens),
        peak=facts.half_peak * rows.number["accelerators"],
        hbm_bandwidth=facts.hbm,
        moe=np.nan_to_num(rows.arch.experts) > 0,
        assumed=facts.assumed | load.assumed,
    )


def largest_loss(times: Timed) -> npt.NDArray[np.object_]:
    """Name of the part that costs most beyond the model FLOP at the dense 16-bit peak; empty where time is unknown.

    Compute and attention count with what they take over their share of the ideal time; all other parts are loss.
    """
    ideal = times.model_flop / times.peak
    linear = np.minimum(times.linear_flop / times.model_flop, 1.0)
    useful = {"compute": ideal * linear, "attention": ideal * (1.0 - linear)}
    size = times.seconds.shape
    losses = np.stack([np.broadcast_to(times.parts[n] - useful.get(n, 0.0), size) for n in LOSSES])
    names = np.asarray(list(LOSSES.values()), dtype=object)
    known = np.isfinite(times.seconds)
    return np.where(known, names[np.argmax(np.nan_to_num(losses, nan=-np.inf), axis=0)], "")


def bounds(times: Timed, k: Mapping[str, float]) -> tuple[Array, Array]:
    """(low, high) factors on the step time by class: dense or MoE, widened by each open input that is a step."""
    kind = np.where(times.moe, 1, 0)
    low, high = (np.asarray([k[f"interval.dense.{side}"], k[f"interval.moe.{side}"]])[kind] for side in ("low", "high"))
    for sentence, mask in times.assumed.items():
        if sentence.startswith(STEPS):
            name = "recompute" if sentence.startswith("recompute") else "unmeasured"
            low = np.where(mask, low * k[f"interval.{name}.low"], low)
            high = np.where(mask, high * k[f"interval.{name}.high"], high)
    return low, high


def said(assumed: Mapping[str, Mask], reasons: npt.NDArray[np.object_]) -> npt.NDArray[np.object_]:
    """What keeps a row from being computed or, where nothing does, what had to be assumed; one text per row."""
    sentences = list(assumed)
    code = np.zeros(len(reasons), dtype=np.int64)
    for bit, mask in enumerate(assumed.values()):
        code |= np.where(mask, np.int64(1) << bit, 0)
    distinct, position = np.unique(code, return_inverse=True)
    texts = ["; ".join(s for bit, s in enumerate(sentences) if c >> bit & 1) for c in distinct]
    return np.where(reasons == "", np.asarray(texts, dtype=object)[position], reasons)


def has_to_recompute(rows: Rows, superchip: Mask, memory: Mapping[str, float], peak: PeakMemory | None = None) -> Array:
    """1 where a row states no recompute and everything kept would not fit, even in the leanest reading of the row.

    Superchips are left alone: their recipes move activations to the host's memory instead. Where the richest reading
    (`peak`) is given, only rows in which it is too large are computed again.
    """
    unknown, full = np.full(len(rows), np.nan), np.zeros(len(rows))
    limit = KEPT_SLACK * rows.chip.get("card", unknown)
    silent = np.isnan(rows.recompute.layer) & ~superchip & (rows.memory_reasons == "")
    index = np.flatnonzero(silent if peak is None else silent & (peak.rich > limit))
    if index.size:
        some = rows.take(index)
        nothing = {name: np.nan_to_num(values) for name, values in vars(some.recompute).items()}
        kept = replace(some, recompute=Recompute(**nothing))
        full[index] = predict_memory(kept, memory).lean > limit[index]
    return full


def computed(
    table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]
) -> tuple[Rows, PeakMemory, Timed]:
    """A table read, its peak memory and its step times by part; NaN in rows that lack a number."""
    k, of_memory = flatten(calibration["timing"]), memory_constants(calibration)
    rows = read_rows(table, accelerators)
    superchip = chips.is_superchip(rows, accelerators)
    peak = predict_memory(rows, of_memory)
    with np.errstate(all="ignore"):  # rows that lack a number carry NaN through every formula
        return rows, peak, timed(rows, accelerators, k, has_to_recompute(rows, superchip, of_memory, peak))


def _chunk(table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> pd.DataFrame:
    return answers(*computed(table, accelerators, calibration), calibration)


def answers(rows: Rows, peak: PeakMemory, times: Timed, calibration: Mapping[str, Any]) -> pd.DataFrame:
    """The columns of `predict` from what was computed of the rows."""
    with np.errstate(all="ignore"):
        seconds = np.where(rows.time_reasons == "", times.seconds, np.nan)
        mfu = times.model_flop / (seconds * times.peak)
    reasons = _reasons(rows, times, seconds)
    low, high = bounds(times, flatten(calibration["timing"]))
    gib = {f"memory_gib{end}": getattr(peak, name) / 2.0**30 for end, name in MEMORY_ENDS.items()}
    return pd.DataFrame({
        "id": rows.ids, **gib, "step_time_s": seconds, "step_time_s_low": seconds * low,
        "step_time_s_high": seconds * high, "mfu": mfu,
        "bound_by": np.where(np.isfinite(seconds), largest_loss(times), ""), "missing": said(times.assumed, reasons),
    })[list(COLUMNS)]  # fmt: skip


def _reasons(rows: Rows, times: Timed, seconds: Array) -> npt.NDArray[np.object_]:
    """Why a row has no time or no memory; empty where it has both."""
    unknown = (rows.time_reasons == "") & ~np.isfinite(seconds)
    lacks = np.select([np.isnan(times.peak), np.isnan(times.hbm_bandwidth)], NO_RATE[:2], NO_RATE[2])
    reasons = np.where(unknown, lacks, rows.time_reasons)
    only_memory = (reasons == "") & (rows.memory_reasons != "")
    return np.where(only_memory, "memory: " + rows.memory_reasons, reasons)


def _chunks(table: pd.DataFrame) -> Iterator[pd.DataFrame]:
    for start in range(0, max(len(table), 1), CHUNK):
        yield table.iloc[start : start + CHUNK].reset_index(drop=True)


def predict(rows: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> pd.DataFrame:
    """Predict memory and step time of a table of layouts.

    Parameters
    ----------
    rows
        One layout per row, columns as `columns.REQUIRED` and its optional ones. Bad cells make their row unknown.
    accelerators
        The accelerator table, vendor scale.
    calibration
        Sections `timing` and `memory` of the calibration file.

    Returns
    -------
    DataFrame
        One row per row of `rows`, columns `COLUMNS`: memory [GiB], step time [s], each with the bounds of a 90 %
        interval; mfu (causal model FLOP over the dense 16-bit peak); bound_by; missing (what is unknown or assumed).

    Raises
    ------
    ValueError
        When needed columns are absent.
    """
    check_columns(rows.columns)
    return pd.concat([_chunk(part, accelerators, calibration) for part in _chunks(rows)], ignore_index=True)
