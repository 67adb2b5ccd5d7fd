"""Small statistics with honest intervals: growth of a series, one slope against two, two groups against each other."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy import stats

Array = NDArray[np.float64]
DRAWS = 2000
LEVEL = 0.90
SEED = 20260701
"""Fixed, so that the same records give the same intervals."""


@dataclass(frozen=True)
class Interval:
    """A value with the interval of LEVEL around it."""

    value: float
    low: float
    high: float


def _ends(draws: Array) -> tuple[float, float]:
    tail = (1 - LEVEL) / 2
    return float(np.quantile(draws, tail)), float(np.quantile(draws, 1 - tail))


def resampled(n: int, draws: int = DRAWS) -> NDArray[np.intp]:
    """Indices of bootstrap samples (draws x n), the same at every call."""
    return np.random.default_rng(SEED).integers(0, n, size=(draws, n))


def slope(x: Array, y: Array) -> tuple[Array, Array]:
    """Least-squares slope and intercept along the last axis.

    >>> float(slope(np.array([0.0, 1.0, 2.0]), np.array([1.0, 3.0, 5.0]))[0])
    2.0
    """
    mean_x, mean_y = x.mean(axis=-1, keepdims=True), y.mean(axis=-1, keepdims=True)
    spread = ((x - mean_x) ** 2).sum(axis=-1)
    with np.errstate(invalid="ignore", divide="ignore"):
        result = ((x - mean_x) * (y - mean_y)).sum(axis=-1) / spread
    return result, mean_y[..., 0] - result * mean_x[..., 0]


@dataclass(frozen=True)
class Growth:
    """Log-linear growth: factor per year, doubling time, and the fitted line with its band at some dates."""

    per_year: Interval
    doubling_months: Interval
    at: Array
    line: Array
    line_low: Array
    line_high: Array


def growth(years: Array, values: Array, at: Array) -> Growth:
    """Fit log10(values) on time; intervals by resampling the points.

    Parameters
    ----------
    years
        Dates as decimal years.
    values
        Positive values.
    at
        Decimal years at which line and band are wanted.

    >>> grown = growth(np.arange(2018.0, 2026.0), 10.0 ** np.arange(8), np.array([2026.0]))
    >>> round(grown.per_year.value, 6), round(grown.doubling_months.value, 3), round(float(grown.line[0]))
    (10.0, 3.612, 100000000)
    """
    y = np.log10(values)
    best, start = slope(years, y)
    index = resampled(len(years))
    slopes, starts = slope(years[index], y[index])
    kept = np.isfinite(slopes)
    slopes, starts = slopes[kept], starts[kept]
    lines = 10 ** (starts[:, None] + slopes[:, None] * at[None, :])
    low, high = (np.quantile(lines, q, axis=0) for q in ((1 - LEVEL) / 2, (1 + LEVEL) / 2))
    first, last = _ends(10**slopes)
    doubling = 12 * np.log10(2) / np.asarray([best, *_ends(slopes)[::-1]])
    return Growth(
        Interval(float(10**best), first, last),
        Interval(*(float(months) for months in doubling)),
        at, 10 ** (start + best * at), low, high,
    )  # fmt: skip


def broken_fits(x: Array, y: Array, breaks: Array) -> tuple[Array, Array, Array, Array]:
    """Continuous two-segment lines with least squared error, one per row of x and y (rows x points).

    Returns break, slope before, slope after and squared error of each row's best place among `breaks`. The line is
    a + b (x - t) + c max(x - t, 0); its normal equations are solved for every row and place t at once.

    >>> x = np.arange(10.0)[None, :]
    >>> result = broken_fits(x, np.minimum(x, 5.0), np.arange(2.0, 8.0))
    >>> [round(float(value[0]), 6) for value in result[:3]]
    [5.0, 1.0, 0.0]
    """
    shifted = x[:, None, :] - breaks[None, :, None]
    design = np.stack([np.ones_like(shifted), shifted, np.maximum(shifted, 0.0)], axis=-1)
    # A trace of ridge keeps samples solvable in which no point lies beyond a break.
    normal = np.einsum("rbni,rbnj->rbij", design, design) + 1e-9 * np.eye(3)
    right = np.einsum("rbni,rn->rbi", design, y)
    solution = np.linalg.solve(normal, right[..., None])[..., 0]
    error = ((np.einsum("rbni,rbi->rbn", design, solution) - y[:, None, :]) ** 2).sum(axis=-1)
    best = error.argmin(axis=1)
    rows = np.arange(len(x))
    chosen = solution[rows, best]
    return breaks[best], chosen[:, 1], chosen[:, 1] + chosen[:, 2], error[rows, best]


@dataclass(frozen=True)
class Break:
    """One slope against two: date of the break, growth before and after, and how much better two are."""

    date: Interval
    before: Interval
    after: Interval
    bic_gain: float
    preferred_share: float


def break_point(years: Array, values: Array, draws: int = 400) -> Break:
    """Hold a two-segment line against a straight one by the Bayesian information criterion.

    `bic_gain` above 0 prefers the break (above 6 strongly; Kass and Raftery 1995); `preferred_share` is the share of
    resampled data sets in which it does. The break is sought among the middle 80% of the dates.
    """
    y = np.log10(values)
    earliest, latest = (float(edge) for edge in np.quantile(years, [0.1, 0.9]))
    breaks = np.linspace(earliest, latest, 25)
    index = np.vstack([np.arange(len(y)), resampled(len(y), draws)])
    date, before, after, error = broken_fits(years[index], y[index], breaks)
    gains = _gain(years[index], y[index], error)

    def spread(result: Array) -> Interval:
        return Interval(float(result[0]), *_ends(result[1:]))

    return Break(spread(date), spread(10**before), spread(10**after), float(gains[0]), float((gains[1:] > 0).mean()))


def _gain(x: Array, y: Array, broken: Array) -> Array:
    """BIC of one slope minus BIC of two, by row: two more parameters (slope and place of the break)."""
    n = x.shape[-1]
    best, start = slope(x, y)
    straight = ((start[..., None] + best[..., None] * x - y) ** 2).sum(axis=-1)
    floor = 1e-12
    return np.asarray(n * np.log(np.maximum(straight, floor) / np.maximum(broken, floor)) - 2 * np.log(n))


@dataclass(frozen=True)
class Gap:
    """Two groups: medians, their difference, and the rank test."""

    first: Interval
    second: Interval
    difference: Interval
    p_value: float


def gap(first: Array, second: Array) -> Gap:
    """Medians of two groups, their difference by resampling within groups, and the two-sided Mann-Whitney test.

    >>> result = gap(np.array([0.4, 0.41, 0.42, 0.43]), np.array([0.2, 0.21, 0.22, 0.23]))
    >>> round(result.difference.value, 3), round(result.p_value, 3)
    (0.2, 0.029)
    """
    a = np.median(first[resampled(len(first))], axis=1)
    # A different stretch of the same generator, so that the groups are drawn independently.
    b = np.median(second[resampled(len(second), 2 * DRAWS)[DRAWS:]], axis=1)
    medians = float(np.median(first)), float(np.median(second))
    test = stats.mannwhitneyu(first, second, alternative="two-sided")
    return Gap(
        Interval(medians[0], *_ends(a)),
        Interval(medians[1], *_ends(b)),
        Interval(medians[0] - medians[1], *_ends(a - b)),
        float(test.pvalue),
    )
