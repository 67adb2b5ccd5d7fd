"""Fit of the timing constants to measured rows, with every error also on sources that the fit has not seen.

The objective is the sum of pseudo-Huber losses of the log error plus, for each fitted constant, the squared distance
from its physical prior in units of its spread. A family of tables counts by the square root of its rows, since what is
wanted is a good prediction for the next source, not for more rows of the longest one. Constants without a prior in the
file are pinned and stay as they are. Sources are left out whole, and so is every other table of the same family:
releases of one benchmark are no witnesses for each other.
"""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.optimize import least_squares

from analysis.engine import rates, step
from analysis.engine.constants import TIMING, FitSettings, leaves, read, subject, timing, with_values
from analysis.engine.recompute import has_to_recompute
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.parse import Array, Mask
from analysis.physics import timing as physics


@dataclass(frozen=True)
class Problem:
    """Measured rows in the form the fit evaluates: everything that does not depend on the constants."""

    rows: Rows
    facts: rates.ChipFacts
    load: step.Workload
    calibration: Mapping[str, Any]
    log_measured: Array
    weight: Array

    def predicted(self, values: Mapping[str, float] | None = None) -> Array:
        """Step times [s], with some constants replaced by dotted name."""
        k = timing(with_values(self.calibration, values or {}))
        parts = physics.step_parts(self.rows.arch, self.load.work, rates.chip(self.facts, k), k.efficiency)
        return physics.step_seconds(parts)

    def log_error(self, values: Mapping[str, float]) -> Array:
        """Log of predicted over measured step time, with some constants replaced by dotted name."""
        return np.asarray(np.log(self.predicted(values)) - self.log_measured)


@dataclass(frozen=True)
class Fit:
    """Fitted values by dotted name and, per measured row, the error of the fit and of the fit without its source."""

    values: dict[str, float]
    table: pd.DataFrame


def usable(rows: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> pd.DataFrame:
    """The measured rows that can be computed: a positive step time and nothing missing.

    Columns beyond those of a layout row: step_time_s, source and, where tables belong together, family.
    """
    measured = pd.to_numeric(rows["step_time_s"], errors="coerce")
    table = rows[measured > 0].reset_index(drop=True)
    problem = prepare(table, accelerators, calibration)
    finite = np.isfinite(problem.log_error({}))
    kept: pd.DataFrame = table[finite & (problem.rows.time_reasons == "")].reset_index(drop=True)
    return kept.assign(family=kept["family"] if "family" in kept else kept["source"].map(family_of))


def family_of(source: str) -> str:
    """Tables that belong together: the first two words of a source's name, before versions, dates and models.

    >>> family_of("nvidia-dgxc-v24.11.1-llama3.1-8b"), family_of("Megatron-Bridge performance summary, 25.09")
    ('nvidia-dgxc', 'megatron-bridge')
    """
    return "-".join(re.split(r"[\s\-]+", source.lower())[:2])


def prepare(table: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> Problem:
    """Read measured rows once, so that the fit only evaluates formulas."""
    constants = {name: subject(calibration, name) for name in TIMING}
    k = timing(constants)
    rows = read_rows(table, accelerators)
    facts = rates.chip_facts(rows, accelerators, k)
    superchip = facts.parts.spread(facts.parts.superchip) > 0
    memory, slack = memory_constants(calibration), float(k.efficiency.recompute.kept_slack)
    load = step.workload(rows, facts, k.efficiency.recompute, has_to_recompute(rows, superchip, memory, slack))
    measured = np.log(pd.to_numeric(table["step_time_s"]).to_numpy(dtype=float))
    weight = family_weights(table["family"]) if "family" in table else np.ones(len(table))
    return Problem(rows, facts, load, constants, measured, weight)


def family_weights(families: pd.Series[str]) -> Array:
    """Weight of each row, 1 on average: families count by the square root of their rows.

    >>> family_weights(pd.Series(["a"] * 4 + ["b"])).round(3).tolist()
    [0.833, 0.833, 0.833, 0.833, 1.667]
    """
    weight = 1.0 / np.sqrt(families.map(families.value_counts()).to_numpy(dtype=float))
    return np.asarray(weight * len(weight) / weight.sum())


def _priors(section: Mapping[str, Any]) -> tuple[list[str], Array, Array]:
    fitted = [(name, leaf) for name, leaf in leaves(section) if "prior" in leaf]
    prior = np.asarray([leaf["prior"] for _, leaf in fitted], dtype=float)
    return [name for name, _ in fitted], prior, np.asarray([leaf["spread"] for _, leaf in fitted], dtype=float)


def pseudo_huber(residual: Array) -> Array:
    """Root of the pseudo-Huber loss with its sign, as a least-squares residual: square near 0, linear far away.

    >>> [round(float(x), 4) for x in pseudo_huber(np.array([0.0, 0.01, -100.0]))]
    [0.0, 0.01, -14.0716]
    """
    size = np.sqrt(2.0 * (np.sqrt(1.0 + residual**2) - 1.0))
    return np.asarray(np.sign(residual) * size)


def fit_values(problem: Problem, settings: FitSettings) -> dict[str, float]:
    """Values of the fitted constants that minimise the objective, from the priors on; the same for the same rows."""
    names, prior, spread = _priors(problem.calibration)

    def values(theta: Array) -> dict[str, float]:
        return dict(zip(names, (prior * np.exp(theta * spread)).tolist(), strict=True))

    def residuals(theta: Array) -> Array:
        error = problem.log_error(values(theta)) / settings.robust_width
        return np.concatenate([np.sqrt(problem.weight) * pseudo_huber(error), np.sqrt(settings.prior_weight) * theta])

    solution = least_squares(residuals, np.zeros(len(names)), max_nfev=int(settings.evaluations))
    return values(np.asarray(solution.x))


def fit(rows: pd.DataFrame, accelerators: pd.DataFrame, calibration: Mapping[str, Any]) -> Fit:
    """Fit the timing constants and judge them on sources left out.

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
        values, and a table with id, source, family, accelerator, moe, fitted and left_out (relative errors).
    """
    table = usable(rows, accelerators, calibration)
    settings = read(FitSettings, "fit", subject(calibration, "fit"))
    problem = prepare(table, accelerators, calibration)
    values = fit_values(problem, settings)
    fitted = problem.log_error(values)
    left_out = np.full(len(table), np.nan)
    for family in sorted(table["family"].unique()):
        unseen = (table["family"] == family).to_numpy()
        others = fit_values(prepare(_rest(table, unseen), accelerators, calibration), settings)
        left_out[unseen] = problem.log_error(others)[unseen]
    moe = np.nan_to_num(problem.rows.arch.experts) > 0
    errors = {"moe": moe, "fitted": np.expm1(fitted), "left_out": np.expm1(left_out)}
    return Fit(values, table[["id", "source", "family", "accelerator", "recompute"]].assign(**errors))


def _rest(table: pd.DataFrame, unseen: Mask) -> pd.DataFrame:
    return table[~unseen].reset_index(drop=True)


def interval(errors: pd.Series[float], families: pd.Series[str], covered: float = 0.9) -> tuple[float, float]:
    """Factors (low, high) on a prediction that hold `covered` of the measured values, each family with equal weight
    given by the square root of its rows.

    Measured over predicted is 1 / (1 + error). Weighting keeps one long table from deciding for unseen sources.

    >>> low, high = interval(pd.Series([0.1, 0.0, -0.1]), pd.Series(["a", "b", "c"]))
    >>> round(low, 3), round(high, 3)
    (0.909, 1.111)
    """
    ratio = (1.0 / (1.0 + errors)).to_numpy(dtype=float)
    weight = family_weights(families)
    order = np.argsort(ratio)
    share = (np.cumsum(weight[order]) - weight[order] / 2.0) / weight.sum()
    edges = np.interp([(1.0 - covered) / 2.0, (1.0 + covered) / 2.0], share, ratio[order])
    return float(edges[0]), float(edges[1])


def report(result: Fit) -> str:
    """Fitted and left-out error side by side: all rows, dense and MoE, per family and per accelerator [%]."""
    table = result.table
    groups = {"all": table, "dense": table[~table["moe"]], "moe": table[table["moe"]]}
    groups |= {f"  {name}": part for name, part in table.groupby("family")}
    groups |= {f"  {name}": part for name, part in table.groupby("accelerator")}
    lines = [f"{'step time error %':<34}{'rows':>5}{'fitted':>9}{'left out':>9}{'bias':>7}{'median':>8}"]
    for name, part in groups.items():
        if len(part):
            shown = [part["fitted"].abs().mean(), part["left_out"].abs().mean(), part["left_out"].mean()]
            numbers = [100 * x for x in (*shown, part["left_out"].abs().median())]
            lines.append(f"{str(name)[:33]:<34}{len(part):>5}" + "{:>9.1f}{:>9.1f}{:>+7.1f}{:>8.1f}".format(*numbers))
    return "\n".join(lines)


def updated(calibration: Mapping[str, Any], result: Fit, digits: int = 4) -> dict[str, Any]:
    """The calibration with fitted values and intervals, rounded to significant digits.

    An interval spans those of the left-out and of the fitted errors: a class that hangs on one family has a bias when
    that family is left out, and the scatter around it is only seen with the family in.
    """
    table = result.table
    values = dict(result.values)
    for name, part in (("dense", table[~table["moe"]]), ("moe", table[table["moe"]])):
        if len(part):
            covered = read(FitSettings, "fit", subject(calibration, "fit")).covered
            edges = [interval(part[errors], part["family"], covered) for errors in ("left_out", "fitted")]
            values |= {f"intervals.{name}.low": min(low for low, _ in edges)}
            values |= {f"intervals.{name}.high": max(high for _, high in edges)}
    rounded = {name: float(f"{value:.{digits}g}") for name, value in values.items()}
    return with_values(calibration, rounded)
