"""How far predictions miss on rows of families, software and accelerators that the fit has not seen.

Tables of one publisher are left out together: releases of one benchmark do not witness for each other. Software and
kinds of accelerator are left out whole, alone and in pairs, so that errors exist for rows of which both are known, one
or neither; intervals are their quantiles.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.calibrate.step_time import Problem, family_weights, fit_values, prepare, usable
from analysis.engine.predict import KINDS, KNOWLEDGE, kinds
from analysis.engine.timing_constants import FitSettings, Intervals, Measured
from analysis.layout.parse import Array, Mask
from analysis.physics.timing import step_seconds
from analysis.records.constants import read, subject, with_values

Texts = npt.NDArray[np.object_]


@dataclass(frozen=True)
class Fit:
    """Fitted constants and their errors.

    Attributes
    ----------
    values
        Value by dotted name.
    table
        One row per measured row: id, source, family, accelerator, stack, cores, moe; `fitted` and `left_out` are
        relative errors with all families in the fit and with the row's own left out.
    trials
        One row per measured row and group that it was left out with: family, kind (of `KINDS`), knowledge (of
        `KNOWLEDGE`, after the group was left out) and error.
    """

    values: dict[str, float]
    table: pd.DataFrame
    trials: pd.DataFrame


@dataclass(frozen=True)
class Group:
    """Rows that are left out together, and those of them that are judged."""

    kind: str
    left_out: Mask
    judged: Mask


SMALLEST_GROUP = 5
"""Rows from which a part of a family or a pair is left out on its own; fewer are seen with their family."""


def groups(families: Texts, stacks: Texts, cores: Texts, sizes: Texts) -> Iterator[Group]:
    """Families, software, kinds of accelerator, and pairs of the last two.

    A family that alone has its software is left out in parts too, one number of accelerators at a time: its rows are
    then judged as rows of known software. Neighbours in a sweep share the number.
    """
    for name in sorted(set(families)):
        yield Group("family", families == name, families == name)
        alone = [stack for stack in set(stacks[families == name]) if stack and set(families[stacks == stack]) == {name}]
        mine = (families == name) & np.isin(stacks, alone)
        for size in sorted(set(sizes[mine])):
            part = mine & (sizes == size)
            if part.sum() >= SMALLEST_GROUP:
                yield Group("part", part, part)
    for name in sorted(set(stacks)):
        yield Group("stack", stacks == name, stacks == name)
    for name in sorted(set(cores)):
        yield Group("cores", cores == name, cores == name)
    for stack, core in sorted(set(zip(stacks, cores, strict=True))):
        either, both = (stacks == stack) | (cores == core), (stacks == stack) & (cores == core)
        if both.sum() >= SMALLEST_GROUP:
            yield Group("pair", either, both)


def _enough(names: Texts, used: Mask, known: float) -> frozenset[str]:
    counts = pd.Series(names[used]).value_counts()
    return frozenset(str(name) for name in counts.index[counts >= known] if name)


def trials(
    problem: Problem, table: pd.DataFrame, settings: FitSettings, known: float, waiting_share: float
) -> pd.DataFrame:
    """Errors of every row under every group that it is left out with.

    Parameters
    ----------
    problem, table
        Measured rows, with stack and cores.
    settings
        How to fit.
    known
        Rows from which software or a kind of accelerator counts as known.
    waiting_share
        Share of the step from which a row counts as waiting.

    Returns
    -------
    DataFrame
        Columns group, row, family, kind (of `KINDS`), knowledge, error.
    """
    moe = table["moe"].to_numpy(dtype=bool)
    names = ("family", "stack", "cores", "accelerators")
    families, stacks, cores, sizes = (table[name].to_numpy(dtype=object) for name in names)
    out = []
    for group in groups(families, stacks, cores, sizes):
        used = ~group.left_out
        values = fit_values(problem, settings, used)
        software, chips = _enough(stacks, used, known), _enough(cores, used, known)
        unseen = set(stacks) - set(stacks[used])
        parts = problem.parts(values, unseen)
        error = step_seconds(parts) / np.exp(problem.log_measured) - 1.0
        kind = np.asarray(KINDS, dtype=object)[kinds(parts, moe, waiting_share)]
        lacking = (~np.isin(stacks, list(software))).astype(int) + (~np.isin(cores, list(chips))).astype(int)
        chosen = np.flatnonzero(group.judged)
        judged = table.iloc[chosen][["family"]].assign(group=group.kind, row=chosen, kind=kind[chosen])
        known_as = [KNOWLEDGE[count] for count in lacking[chosen]]
        out.append(judged.assign(error=error[chosen], knowledge=known_as))
    return pd.concat(out, ignore_index=True)


def fit(rows: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> Fit:
    """Fit the timing constants and judge them on rows left out.

    Parameters
    ----------
    rows
        Measured rows: columns of a layout row, step_time_s [s], source and optionally family.
    accelerators
        The accelerator table, vendor scale.
    calibration
        Constants by subject; their priors start and hold the fit.

    Returns
    -------
    Fit
        Values, and errors with everything in the fit and with groups left out.
    """
    table = usable(rows, accelerators, calibration)
    settings = read(FitSettings, "fit", subject(calibration, "fit"))
    known = read(Measured, "measured", subject(calibration, "measured")).known
    problem = prepare(table, accelerators, calibration)
    values = fit_values(problem, settings)
    stacks = [str(name).strip().lower() if isinstance(name, str) else "" for name in problem.rows.stack]
    moe = np.nan_to_num(problem.rows.arch.experts) > 0
    table = table.assign(stack=stacks, cores=problem.cores, moe=moe, fitted=np.expm1(problem.log_error(values)))
    waiting = read(Intervals, "intervals", subject(calibration, "intervals")).waiting_share
    tried = trials(problem, table, settings, known, waiting)
    by_family = tried[tried["group"] == "family"].set_index("row")["error"]
    columns = ["id", "source", "family", "accelerator", "stack", "cores", "moe", "fitted"]
    return Fit(values, table[columns].assign(left_out=by_family), tried)


def interval(errors: pd.Series[float], families: pd.Series[str], covered: float) -> tuple[float, float]:
    """Factors (low, high) on a prediction that hold a share of the measured values.

    Measured over predicted is 1 / (1 + error). The edges are the mean of two: rows counting alike, and families
    counting by the square root of their rows, which keeps one long table from deciding for unseen sources.

    >>> low, high = interval(pd.Series([0.1, 0.0, -0.1]), pd.Series(["a", "b", "c"]), 0.9)
    >>> round(low, 3), round(high, 3)
    (0.909, 1.111)
    """
    ratio: Array = np.asarray(1.0 / (1.0 + errors), dtype=np.float64)
    even: Array = np.ones(len(ratio), dtype=np.float64)
    by_family = family_weights(families)
    ends = np.stack([_edges(np.asarray(ratio), weight, covered) for weight in (even, by_family)])
    low, high = np.exp(np.mean(np.log(ends), axis=0))
    return float(low), float(high)


def _edges(ratio: Array, weight: Any, covered: float) -> Array:
    order = np.argsort(ratio)
    share = (np.cumsum(weight[order]) - weight[order] / 2.0) / weight.sum()
    return np.interp([(1.0 - covered) / 2.0, (1.0 + covered) / 2.0], share, ratio[order])


SMALLEST = 20
"""Rows from which a class has an interval of its own; smaller ones take that of the class before them."""


def intervals(tried: pd.DataFrame, covered: float) -> dict[str, float]:
    """Values of the `intervals` constants by kind of model and knowledge."""
    values: dict[str, float] = {}
    for kind in KINDS:
        edges = (1.0, 1.0)
        for knowledge in KNOWLEDGE:
            part = tried[(tried["kind"] == kind) & (tried["knowledge"] == knowledge)]
            if len(part) >= SMALLEST:
                low, high = interval(part["error"], part["family"], covered)
                edges = (min(low, 1.0), max(high, 1.0))
            values |= {f"intervals.{kind}.{knowledge}.{end}": x for end, x in zip(("low", "high"), edges, strict=True)}
    return values


def updated(calibration: Mapping[str, Any], result: Fit, digits: int = 4) -> dict[str, Any]:
    """The calibration with fitted values, intervals and counts of rows, rounded to significant digits."""
    covered = read(FitSettings, "fit", subject(calibration, "fit")).covered
    values = result.values | intervals(result.trials, covered)
    rounded = {name: float(f"{value:.{digits}g}") for name, value in values.items()}
    after = with_values(calibration, rounded)
    counts = {name: result.table[name].value_counts() for name in ("cores", "stack")}
    measured = {key: _counts(counts[name]) for key, name in (("cores", "cores"), ("stacks", "stack"))}
    return after | {"measured": dict(subject(calibration, "measured")) | measured}


def _counts(counts: pd.Series[int]) -> dict[str, Any]:
    names = sorted(str(name) for name in counts.index if name)
    return {name: {"value": int(counts[name]), "unit": "measured rows", "how": "fit"} for name in names}
