"""Fit of the memory constants that measurements can tell apart, and what the fit misses on sources it has not seen.

One constant is fitted: the factor between what tensors need and what nvidia-smi shows on stacks that report nothing
else. All others follow from how a tensor is stored or are pinned to a published value. The margins are then the errors
at sources that the fit has not seen.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine.constants import with_values
from analysis.engine.peak_memory import predict_memory
from analysis.engine.stack import Stack, memory_constants
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.parse import Array

Constants = Mapping[str, float]
Texts = npt.NDArray[np.object_]

GIB = 2.0**30

UNSEEN_DEVICE_SLACK = 1.093
"""Device slack where no row can fit it: the largest ratio of reserved to allocated memory in 43 published B200 runs."""

INSIDE = 0.9
"""Share of rows of unseen sources that the margins should hold."""


@dataclass(frozen=True)
class MemoryFit:
    """Fitted constants, and per row the relative error with all sources in the fit and with its own left out."""

    constants: dict[str, float]
    fitted_error: Array
    left_out_error: Array


def device_slack(rows: Rows, measured: Array, constants: Constants) -> float:
    """Median factor between what tensors need and measured memory less context and buffers, on nvidia-smi stacks.

    Parameters: rows, measured [B], constants (the factor itself is not used). Returns: factor [1].
    """
    plain = dict(constants) | {"slack.device": 1.0}
    context = (constants["context_gib"] + constants["bucket_gib"]) * GIB
    told = Stack.of(rows, constants).deepspeed & (measured > 0)
    if not told.any():
        return UNSEEN_DEVICE_SLACK
    tensors = predict_memory(rows, plain).best - context
    return float(np.nanmedian((measured - context)[told] / tensors[told]))


def margin(measured: Array, low: Array, high: Array, share: float = INSIDE) -> float:
    """Smallest share by which both bounds must be moved out so that `share` of the rows lie inside [1].

    >>> round(margin(np.array([8.0, 10.0, 12.0]), np.array([9.0, 9.0, 9.0]), np.array([10.0, 10.0, 10.0]), 1.0), 3)
    0.2
    """
    outside = np.fmax(1 - measured / low, measured / high - 1)
    return float(max(np.nanquantile(outside, share), 0.0))


def fit_memory(rows: Rows, measured: Array, sources: Texts, constants: Constants) -> MemoryFit:
    """Fit the device slack, leave each source out in turn, and set the margins from the errors left out.

    Parameters
    ----------
    rows
        Layouts with a measured peak.
    measured
        Peak memory [B]; NaN where a row has none.
    sources
        Name of the source of each row.
    constants
        The `memory` section as dotted names and values; what is not fitted is kept.

    Returns
    -------
    MemoryFit
        Constants with `slack.device`, `margin.low`, `margin.high` replaced, and the errors.
    """
    slack = device_slack(rows, measured, constants)
    left_out, low, high = (np.full(len(rows), np.nan) for _ in range(3))
    for source in np.unique(sources.astype(str)):
        mine = sources.astype(str) == source
        seen = device_slack(rows, np.where(mine, np.nan, measured), constants)
        found = predict_memory(rows, dict(constants) | {"slack.device": seen, "margin.low": 0.0, "margin.high": 0.0})
        left_out[mine] = (found.best / measured - 1)[mine]
        low[mine], high[mine] = found.low[mine], found.high[mine]
    wide = round(margin(measured, low, high), 3)
    fitted = dict(constants) | {"slack.device": round(slack, 3), "margin.low": wide, "margin.high": wide}
    return MemoryFit(fitted, predict_memory(rows, fitted).best / measured - 1, left_out)


def refit(
    table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]
) -> tuple[dict[str, Any], pd.DataFrame]:
    """The calibration with its memory section refitted, and the errors per measured row.

    Parameters
    ----------
    table
        Measured rows: columns of a layout row, memory_gib [GiB] and source.
    accelerators
        The accelerator table, vendor scale.
    calibration
        The calibration file.

    Returns
    -------
    tuple
        (calibration, table with id, source, accelerator, fitted and left_out as relative errors).
    """
    measured = pd.to_numeric(table["memory_gib"], errors="coerce")
    table = table[measured > 0].reset_index(drop=True)
    rows = read_rows(table, accelerators)
    bytes_measured = measured[measured > 0].to_numpy(dtype=float) * GIB
    section = calibration["memory"]
    found = fit_memory(rows, bytes_measured, table["source"].to_numpy(dtype=object), memory_constants(calibration))
    errors = table[["id", "source", "accelerator"]].assign(fitted=found.fitted_error, left_out=found.left_out_error)
    return dict(calibration) | {"memory": with_values(section, found.constants)}, errors[errors["fitted"].notna()]


def report(errors: pd.DataFrame) -> str:
    """Fitted and left-out memory error side by side: all rows, per source and per accelerator [%]."""
    groups = {"all": errors}
    groups |= {f"  {name}": part for name, part in errors.groupby("source")}
    groups |= {f"  {name}": part for name, part in errors.groupby("accelerator")}
    lines = [f"{'memory error %':<34}{'rows':>5}{'fitted':>9}{'left out':>9}{'bias':>7}{'median':>8}"]
    for name, part in groups.items():
        absolute = part[["fitted", "left_out"]].abs()
        shown = (*absolute.mean(), part["left_out"].mean(), absolute["left_out"].median())
        numbers = [100 * x for x in shown]
        lines.append(f"{str(name)[:33]:<34}{len(part):>5}" + "{:>9.1f}{:>9.1f}{:>+7.1f}{:>8.1f}".format(*numbers))
    return "\n".join(lines)
