"""Fit of the timing constants to measured rows.

The objective is the sum of pseudo-Huber losses of the log error plus, for each fitted constant, the squared distance
from its physical prior in units of its spread. A family of tables counts by the square root of its rows, since what is
wanted is a good prediction for the next source, not for more rows of the longest one. Constants without a prior in the
file are pinned and stay as they are.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd
from scipy.optimize import least_squares

from analysis.engine import chip_facts, rates, software, step
from analysis.engine.forced_recompute import has_to_recompute
from analysis.engine.stack import memory_constants
from analysis.engine.timing_constants import TIMING, FitSettings, timing
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.parse import Array, Mask
from analysis.physics import timing as physics
from analysis.physics.work import Parts
from analysis.records.constants import leaves, subject, with_values


@dataclass(frozen=True)
class Problem:
    """Measured rows in the form the fit evaluates: everything that does not depend on the constants."""

    rows: Rows
    facts: chip_facts.ChipFacts
    load: step.Workload
    calibration: Mapping[str, Any]
    log_measured: Array
    families: pd.Series[str]

    def predicted(self, values: Mapping[str, float] | None = None, unknown: Collection[str] = ()) -> Array:
        """Step times [s], with some constants replaced by dotted name and some software taken as unknown."""
        return physics.step_seconds(self.parts(values or {}, unknown))

    def parts(self, values: Mapping[str, float], unknown: Collection[str] = ()) -> Parts:
        """Seconds by part; arguments as of `predicted`."""
        k = timing(with_values(self.calibration, values))
        k = replace(k, stacks={name: habits for name, habits in k.stacks.items() if name not in unknown})
        constants = software.efficiency(self.rows, k)
        return physics.step_parts(self.rows.arch, self.load.work, rates.chip(self.facts, k), constants)

    def log_error(self, values: Mapping[str, float], unknown: Collection[str] = ()) -> Array:
        """Log of predicted over measured step time; arguments as of `predicted`."""
        return np.asarray(np.log(self.predicted(values, unknown)) - self.log_measured)

    @property
    def cores(self) -> npt.NDArray[np.object_]:
        """Core family of each row's accelerator."""
        return np.asarray(self.facts.parts.cores, dtype=object)[self.facts.parts.code]


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
    rows, _ = step.with_vocabulary(read_rows(table, accelerators), k.class_values.vocab)
    facts = chip_facts.chip_facts(rows, accelerators, k)
    superchip = facts.parts.spread(facts.parts.superchip) > 0
    memory, slack = memory_constants(calibration), float(k.efficiency.recompute.kept_slack)
    full = has_to_recompute(rows, superchip, memory, slack)
    load = step.workload(rows, facts, k.efficiency.recompute, memory, full)
    measured = np.log(pd.to_numeric(table["step_time_s"]).to_numpy(dtype=float))
    families = table["family"] if "family" in table else pd.Series([""] * len(table))
    return Problem(rows, facts, load, constants, measured, families)


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


def fit_values(problem: Problem, settings: FitSettings, used: Mask | None = None) -> dict[str, float]:
    """Values of the fitted constants that minimise the objective, from the priors on; the same for the same rows.

    Parameters
    ----------
    problem
        Measured rows.
    settings
        How to fit.
    used
        Rows that count; all if absent.

    Returns
    -------
    dict
        Value by dotted name.
    """
    names, prior, spread = _priors(problem.calibration)
    rows = np.ones(len(problem.families), dtype=bool) if used is None else used
    weight = np.zeros(len(rows))
    weight[rows] = family_weights(problem.families[rows])

    def values(theta: Array) -> dict[str, float]:
        return dict(zip(names, (prior * np.exp(theta * spread)).tolist(), strict=True))

    def residuals(theta: Array) -> Array:
        error = problem.log_error(values(theta)) / settings.robust_width
        return np.concatenate([np.sqrt(weight) * pseudo_huber(error), np.sqrt(settings.prior_weight) * theta])

    start, steps = np.zeros(len(names)), int(settings.evaluations)
    solution = least_squares(residuals, start, max_nfev=steps, ftol=settings.tolerance)
    return values(np.asarray(solution.x))
