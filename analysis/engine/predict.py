"""Memory, step time, utilisation and the largest loss of every row of a table of layouts.

Model FLOP are counted in the causal convention (`flops.per_token`, `causal`; MTP included where a row has it) and held
against the dense 16-bit peak, also for FP8 and FP4 rows, since that is what reports print.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine import chip_facts, rates, software, step
from analysis.engine.assumptions import WIDENS, Assumed, texts
from analysis.engine.forced_recompute import has_to_recompute, with_recompute
from analysis.engine.peak_memory import PeakMemory, predict_memory
from analysis.engine.stack import memory_constants
from analysis.engine.timing_constants import Intervals, Measured, Timing
from analysis.engine.timing_constants import timing as timing_constants
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.columns import check_columns
from analysis.layout.parse import Array, Mask
from analysis.physics import flops, timing
from analysis.physics.work import Chip, Parts, Work
from schemas.units import GIB

COLUMNS = (
    "id", "memory_gib", "memory_gib_low", "memory_gib_high", "step_time_s", "step_time_s_low", "step_time_s_high",
    "mfu", "bound_by", "missing",
)  # fmt: skip
CHUNK = 50000
"""Rows computed at once; bounds the memory of a large table."""
LOSSES = {
    "compute": "compute", "attention": "attention", "memory": "memory-bandwidth", "moe": "moe-overhead", "tp": "tp",
    "cp": "cp", "ep": "ep", "host": "host", "pp": "pp-send", "bubble": "pp-bubble", "dp": "dp",
    "optimizer": "optimizer", "fixed": "fixed-cost", "scale": "scale",
}  # fmt: skip
"""What a part of the step is called when it is the largest loss."""
NO_RATE = (
    "the accelerator's record has no dense 16-bit peak",
    "hbm_bandwidth_gb_s is not in the accelerator's record",
    "the accelerator's record has no peak for this precision, or no link that the layout needs",
)
KINDS = ("dense", "dense_waiting", "moe")
"""Kinds of rows that have intervals of their own."""
KNOWLEDGE = ("both", "one", "neither")
"""Classes of `ByKnowledge` by the number of unknowns."""
MEMORY_ENDS = {"": "best", "_low": "low", "_high": "high"}


@dataclass(frozen=True)
class Timed:
    """Step times of a table.

    Attributes
    ----------
    work, chip
        What runs on which accelerator.
    parts
        Seconds by part.
    model_flop, linear_flop
        Model FLOP of a step in the causal convention, and of its matrix products alone.
    peak
        Dense 16-bit peak of all accelerators [FLOP/s].
    hbm_bandwidth
        Of one accelerator [B/s].
    moe
        Rows with experts.
    unknowns
        How many of software and kind of accelerator have no measured rows.
    assumed
        What had to be assumed.
    """

    work: Work
    chip: Chip
    parts: Parts
    model_flop: Array
    linear_flop: Array
    peak: Array
    hbm_bandwidth: Array
    moe: Mask
    unknowns: npt.NDArray[np.intp]
    assumed: Assumed

    @property
    def seconds(self) -> Array:
        """Step time [s]."""
        return timing.step_seconds(self.parts)


def timed(
    rows: Rows, facts: chip_facts.ChipFacts, k: Timing, memory: Mapping[str, float], full: Array | float = 0.0
) -> Timed:
    """Step time by part of rows.

    Parameters
    ----------
    rows
        The table as read.
    facts
        Accelerators of the rows.
    k
        Constants.
    memory
        Constants of the memory model with the table of stacks.
    full
        1 where a row without stated recompute has to recompute everything to fit.

    Returns
    -------
    Timed
        Times, and what they rest on.
    """
    rows, filled = step.with_vocabulary(rows, k.class_values.vocab)
    load = step.workload(rows, facts, k.efficiency.recompute, memory, full)
    chip = rates.chip(facts, k)
    parts = timing.step_parts(rows.arch, load.work, chip, software.efficiency(rows, k))
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
        unknowns=unknowns(rows, facts, k.measured),
        assumed=facts.assumed | load.assumed | filled,
    )


def kinds(parts: Parts, moe: Mask, waiting_share: float) -> npt.NDArray[np.intp]:
    """Index into `KINDS` of every row: mixtures of experts, and dense models by how much of the step is not work.

    >>> busy, idle = np.array([6.0, 9.0]), np.zeros(2)
    >>> step = {"compute": busy, "attention": idle, "memory": idle, "tp": np.array([4.0, 1.0])}
    >>> kinds(step, np.array([False, False]), 0.3).tolist()
    [1, 0]
    """
    work = sum((parts[name] for name in ("compute", "attention", "memory")), np.zeros(()))
    waiting = 1.0 - work / timing.step_seconds(parts) > waiting_share
    return np.where(moe, 2, np.where(waiting, 1, 0)).astype(np.intp)


def unknowns(rows: Rows, facts: chip_facts.ChipFacts, k: Measured) -> npt.NDArray[np.intp]:
    """How many of software and kind of accelerator have no measured rows: 0, 1 or 2 per row."""
    code, distinct = pd.factorize(rows.stack)
    names = [*(str(name).strip().lower() for name in distinct), ""]
    software_known = np.asarray([k.stacks.get(name, 0.0) >= k.known for name in names])[code]
    cores_known = facts.parts.spread([k.cores.get(name, 0.0) >= k.known for name in facts.parts.cores]) > 0
    return np.asarray(2 - software_known.astype(np.intp) - cores_known.astype(np.intp))


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


def bounds(times: Timed, k: Intervals) -> tuple[Array, Array]:
    """(low, high) factors on the step time.

    By class: kind of row, and measured rows of software and accelerator, of one or of neither; widened by each open
    input that is a step.
    """
    classes = [getattr(getattr(k, kind), name) for kind in KINDS for name in KNOWLEDGE]
    index = kinds(times.parts, times.moe, k.waiting_share) * len(KNOWLEDGE) + times.unknowns
    low, high = (np.asarray([getattr(one, end) for one in classes])[index] for end in ("low", "high"))
    for assumption, mask in times.assumed.items():
        if assumption.code in WIDENS:
            wider = k.recompute if WIDENS[assumption.code] == "recompute" else k.unmeasured
            low, high = np.where(mask, low * wider.low, low), np.where(mask, high * wider.high, high)
    return low, high


def computed(
    table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]
) -> tuple[Rows, PeakMemory, Timed]:
    """A table read, its peak memory and its step times by part; NaN in rows that lack a number."""
    k, of_memory = timing_constants(calibration), memory_constants(calibration)
    rows = read_rows(table, accelerators)
    peak = predict_memory(rows, of_memory)
    with np.errstate(all="ignore"):  # rows that lack a number carry NaN through every formula
        facts = chip_facts.chip_facts(rows, accelerators, k)
        superchip = facts.parts.spread(facts.parts.superchip) > 0
        slack = float(k.efficiency.recompute.kept_slack)
        full = has_to_recompute(rows, superchip, of_memory, slack, peak)
        return rows, with_recompute(rows, peak, full, of_memory), timed(rows, facts, k, of_memory, full)


def _chunk(table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> pd.DataFrame:
    return answers(*computed(table, accelerators, calibration), calibration)


def answers(rows: Rows, peak: PeakMemory, times: Timed, calibration: Mapping[str, Any]) -> pd.DataFrame:
    """The columns of `predict` from what was computed of the rows."""
    with np.errstate(all="ignore"):
        seconds = np.where(rows.time_reasons == "", times.seconds, np.nan)
        mfu = times.model_flop / (seconds * times.peak)
    reasons = _reasons(rows, times, seconds)
    low, high = bounds(times, timing_constants(calibration).intervals)
    gib = {f"memory_gib{end}": getattr(peak, name) / GIB for end, name in MEMORY_ENDS.items()}
    columns = gib | {
        "id": rows.ids,
        "step_time_s": seconds,
        "step_time_s_low": seconds * low,
        "step_time_s_high": seconds * high,
        "mfu": mfu,
        "bound_by": np.where(np.isfinite(seconds), largest_loss(times), ""),
        "missing": np.where(reasons == "", texts(times.assumed, len(rows)), reasons),
    }
    return pd.DataFrame(columns)[list(COLUMNS)]


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
        Constants by subject, as in data/calibration.

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
