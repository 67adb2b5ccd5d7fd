"""Fit of the memory constants that measurements can tell apart, and what the fit misses on software it has not seen.

Two numbers are fitted, both medians: the factor between what tensors need and what nvidia-smi shows, and the cached
blocks per byte of passing tensors where software prints reserved memory. All others follow from how a tensor is stored
or have a source. The margins are then the errors on families of tables that the fit has not seen, by class of how well
the software is known.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.calibrate.step_time import family_weights
from analysis.engine.overhead import CLASSES, figure_class, figure_kind
from analysis.engine.peak_memory import PERSISTENT, PeakMemory, predict_memory
from analysis.engine.stack import OTHER, Constants, Stack, memory_constants
from analysis.layout import words
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.records.constants import with_values
from schemas.units import GIB

Texts = npt.NDArray[np.object_]

DEVICE, GAPS = "slack.device", "gap_share"


@dataclass(frozen=True)
class MemoryFit:
    """Fitted constants, and per row the prediction with all families in the fit and with its own left out.

    `left_out` has its bracket without margins; `unknown` is the same with the software's name withheld.
    """

    constants: dict[str, float]
    fitted: PeakMemory
    left_out: PeakMemory
    unknown: PeakMemory


def device_slack(rows: Rows, measured: Array, constants: Constants) -> float:
    """Median factor between what tensors need and what nvidia-smi shows less context and buffers.

    Parameters
    ----------
    rows, measured
        Layouts and their measured peak [B]; NaN where a row has none.
    constants
        Constants; the factor itself is not used.

    Returns
    -------
    float
        Factor [1]; the prior where no row can tell.
    """
    context = (constants["context_gib"] + constants["bucket_gib"]) * GIB
    shown = Stack.of(rows, constants).deepspeed & (measured > 0)
    if not shown.any():
        return constants["slack.device_prior"]
    tensors = predict_memory(rows, dict(constants) | {DEVICE: 1.0}).best - context
    return float(np.nanmedian((measured - context)[shown] / tensors[shown]))


def gap_share(rows: Rows, measured: Array, constants: Constants) -> float:
    """Median of cached blocks over passing tensors where software of the table prints reserved memory [1].

    Parameters and returns as `device_slack`; never negative.
    """
    stack = Stack.of(rows, constants)
    reserved = figure_kind(rows, stack, constants) == words.KINDS["reserved"]
    shown = reserved & stack.known & ~np.isnan(stack.habit(constants, GAPS)) & (measured > 0)
    if not shown.any():
        return constants["slack.gap_prior"]
    parts = predict_memory(rows, constants).parts
    lasting = sum((parts[name] for name in PERSISTENT), np.zeros(len(rows)))
    passing = sum(parts.values(), np.zeros(len(rows))) - lasting - parts["allocator"] - parts["context"]
    share = (measured - lasting - parts["context"])[shown] / passing[shown] - 1
    return float(max(np.nanmedian(share), 0.0))


def fitted_to(rows: Rows, measured: Array, constants: Constants) -> dict[str, float]:
    """The constants with both medians of these rows."""
    gaps = round(gap_share(rows, measured, constants), 2)
    shares = {name: gaps for name in constants if name.startswith("stacks.") and name.endswith(f".{GAPS}")}
    return dict(constants) | {DEVICE: round(device_slack(rows, measured, constants), 3)} | shares


def margins(measured: Array, prediction: PeakMemory, families: Texts, covered: float = 0.9) -> tuple[float, float]:
    """Shares by which both ends of a bracket must be moved out so that `covered` of the rows lie inside.

    Families count by the square root of their rows, so that one long table does not decide for software unseen.

    Parameters
    ----------
    measured
        Peak memory [B].
    prediction
        Predictions whose margins are zero.
    families
        Who published each row.
    covered
        Share of rows that should lie inside, half of the others below and half above.

    Returns
    -------
    tuple of float
        (low, high) [1], never negative.
    """
    known = np.isfinite(prediction.lean) & (measured > 0)
    if not known.any():
        return 0.0, 0.0
    weight = family_weights(pd.Series(families[known].astype(str)))
    tail = (1 - covered) / 2
    low = _quantile(measured[known] / np.minimum(prediction.lean, prediction.best)[known], weight, tail)
    high = _quantile(measured[known] / np.maximum(prediction.rich, prediction.best)[known], weight, 1 - tail)
    return max(1 - low, 0.0), max(high - 1, 0.0)


def _quantile(values: Array, weight: Array, share: float) -> float:
    order = np.argsort(values)
    middle = (np.cumsum(weight[order]) - weight[order] / 2) / weight.sum()
    return float(np.interp(share, middle, values[order]))


def _without_margins(constants: Mapping[str, float]) -> dict[str, float]:
    return dict(constants) | {f"margin.{kind}.{end}": 0.0 for kind in CLASSES for end in ("low", "high")}


def _nameless(rows: Rows) -> Rows:
    """The rows with their software's name withheld."""
    return rows.with_stack(np.full(len(rows), "", dtype=object))


def fit_memory(rows: Rows, measured: Array, families: Texts, constants: Constants) -> MemoryFit:
    """Fit both medians, leave each family out in turn, and set the margins from the errors left out.

    Parameters
    ----------
    rows
        Layouts with a measured peak.
    measured
        Peak memory [B]; NaN where a row has none.
    families
        Who published each row: releases of one table belong together.
    constants
        Calibration of the memory as dotted names and values; what is not fitted is kept.

    Returns
    -------
    MemoryFit
        Constants with the medians and the margins of both classes replaced, and the predictions.
    """
    plain = _without_margins(constants)
    left_out, unknown = (predict_memory(rows, plain) for _ in range(2))
    for family in np.unique(families.astype(str)):
        mine = families.astype(str) == family
        others = fitted_to(rows, np.where(mine, np.nan, measured), plain)
        some = rows.take(np.flatnonzero(mine))
        for whole, part in ((left_out, some), (unknown, _nameless(some))):
            answer = predict_memory(part, others)
            for end in ("best", "lean", "rich"):
                getattr(whole, end)[mine] = getattr(answer, end)
    wide: dict[str, float] = {}
    for kind, prediction, rows_of_class in _by_class(rows, left_out, unknown, plain):
        values = margins(np.where(rows_of_class, measured, np.nan), prediction, families)
        wide |= {f"margin.{kind}.{end}": round(value, 3) for end, value in zip(("low", "high"), values, strict=True)}
    fitted = fitted_to(rows, measured, plain) | wide
    return MemoryFit(fitted, predict_memory(rows, fitted), left_out, unknown)


def _by_class(
    rows: Rows, left_out: PeakMemory, unknown: PeakMemory, constants: Constants
) -> Iterator[tuple[str, PeakMemory, Mask]]:
    """Each class, the predictions that judge it, and its rows; with names withheld, all rows are of other software."""
    of = figure_class(rows, Stack.of(rows, constants), constants)
    for position, kind in enumerate(CLASSES):
        yield (kind, unknown, np.ones(len(rows), dtype=bool)) if kind == OTHER else (kind, left_out, of == position)


def refit(
    table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]
) -> tuple[dict[str, Any], pd.DataFrame]:
    """The calibration with its memory constants refitted, and the errors per measured row.

    Parameters
    ----------
    table
        Measured rows: columns of a layout row, memory_gib [GiB], source and, where tables belong together, family.
    accelerators
        The accelerator table, vendor scale.
    calibration
        The calibration.

    Returns
    -------
    tuple
        (calibration, table with id, source, accelerator, class, fitted and left_out as relative errors, inside, width).
    """
    measured = pd.to_numeric(table["memory_gib"], errors="coerce")
    table = table[measured > 0].reset_index(drop=True)
    rows = read_rows(table, accelerators)
    bytes_measured = measured[measured > 0].to_numpy(dtype=float) * GIB
    families = table["family" if "family" in table else "source"].to_numpy(dtype=object)
    fit = fit_memory(rows, bytes_measured, families, memory_constants(calibration))
    new = dict(calibration)
    new["memory"] = with_values(calibration["memory"], fit.constants)
    stacks = {name.removeprefix("stacks."): value for name, value in fit.constants.items()}
    new |= {"stacks": with_values(calibration["stacks"], stacks)} if "stacks" in calibration else {}
    errors = _errors(table, rows, bytes_measured, fit)
    return new, errors[errors["fitted"].notna()]


def _errors(table: pd.DataFrame, rows: Rows, measured: Array, fit: MemoryFit) -> pd.DataFrame:
    """One row per class and measured row: relative errors, and whether the left-out range holds the measured value."""
    parts = []
    for kind, left, rows_of_class in _by_class(rows, fit.left_out, fit.unknown, fit.constants):
        low, high = (fit.constants[f"margin.{kind}.{end}"] for end in ("low", "high"))
        bottom, top = np.minimum(left.lean, left.best) * (1 - low), np.maximum(left.rich, left.best) * (1 + high)
        inside: Mask = (measured >= bottom) & (measured <= top)
        parts.append(
            table[["id", "source", "accelerator"]].assign(
                kind=kind,
                fitted=fit.fitted.best / measured - 1,
                left_out=left.best / measured - 1,
                inside=inside,
                width=(top - bottom) / left.best,
            )[rows_of_class]
        )
    return pd.concat(parts, ignore_index=True)


def report(errors: pd.DataFrame) -> str:
    """Fitted and left-out memory error side by side, with coverage: all rows, per source and per accelerator [%]."""
    known = errors[errors["kind"] != OTHER]
    groups = {"all": known} | {f"class {name}": part for name, part in errors.groupby("kind")}
    groups |= {f"  {name}": part for name, part in known.groupby("source")}
    groups |= {f"  {name}": part for name, part in known.groupby("accelerator")}
    heads = ("rows", "fitted", "left out", "bias", "median", "inside", "width")
    lines = [f"{'memory error %':<34}" + "".join(f"{head:>9}" for head in heads)]
    for name, part in groups.items():
        absolute = part[["fitted", "left_out"]].abs()
        shown = (*absolute.mean(), part["left_out"].mean(), absolute["left_out"].median())
        shown = (*shown, part["inside"].mean(), part["width"].median())
        numbers = [100 * x for x in shown]
        cells = "{:>9.1f}{:>9.1f}{:>+9.1f}{:>9.1f}{:>9.0f}{:>9.0f}".format(*numbers)
        lines.append(f"{str(name)[:33]:<34}{len(part):>9}{cells}")
    return "\n".join(lines)
