"""Growth, breaks and gaps on data whose answer is known by construction."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from analysis.trends.statistics import break_point, broken_fits, gap, growth

YEARS = np.linspace(2016, 2026, 41)


def noisy(values, spread=0.15, seed=3):
    return values * 10 ** np.random.default_rng(seed).normal(0, spread, len(values))


def test_a_doubling_every_six_months_is_a_factor_of_four_a_year():
    found = growth(YEARS, 2.0 ** (2 * (YEARS - 2016)), np.array([2017.0]))
    assert found.per_year.value == pytest.approx(4.0)
    assert found.doubling_months.value == pytest.approx(6.0)
    assert found.line[0] == pytest.approx(4.0)


@given(factor=st.floats(1.2, 20), seed=st.integers(0, 50))
def test_the_interval_holds_the_slope_that_scipy_finds(factor, seed):
    values = noisy(factor ** (YEARS - 2016), seed=seed)
    found = growth(YEARS, values, YEARS[:2])
    slope = stats.linregress(YEARS, np.log10(values)).slope
    assert found.per_year.value == pytest.approx(10**slope)
    assert found.per_year.low < 10**slope < found.per_year.high


def test_a_plateau_is_found_where_it_begins():
    values = noisy(10 ** np.minimum(YEARS - 2016, 6), spread=0.2)
    found = break_point(YEARS, values)
    assert found.date.low <= 2022 <= found.date.high
    assert found.after.low < 1 < found.after.high
    assert found.before.value == pytest.approx(10, rel=0.25)
    assert found.bic_gain > 6
    assert found.preferred_share > 0.9


def test_the_slopes_beside_a_break_are_factors_of_ten_per_decade():
    # By construction tenfold a year until 2022, then doubling; a millionth of scatter moves neither.
    values = noisy(10.0 ** np.where(YEARS < 2022, YEARS - 2016, 6 + (YEARS - 2022) * np.log10(2)), spread=1e-6)
    found = break_point(YEARS, values)
    assert found.date.value == pytest.approx(2022)
    assert found.before.value == pytest.approx(10, rel=1e-3)
    assert found.after.value == pytest.approx(2, rel=1e-3)


def test_steady_growth_needs_no_break():
    found = break_point(YEARS, noisy(4 ** (YEARS - 2016), spread=0.3))
    assert found.bic_gain < 0


def test_the_broken_line_is_the_least_squares_one():
    # Second derivation: numpy's lstsq on the same design at each break.
    x, y, breaks = YEARS, np.log10(noisy(3 ** (YEARS - 2016))), np.array([2019.0, 2021.0, 2023.0])
    errors = []
    for point in breaks:
        design = np.stack([np.ones_like(x), x, np.maximum(x - point, 0)], axis=1)
        errors.append(float(np.linalg.lstsq(design, y, rcond=None)[1][0]))
    found = broken_fits(x[None, :], y[None, :], breaks)
    assert found[0][0] == breaks[int(np.argmin(errors))]
    assert found[3][0] == pytest.approx(min(errors), rel=1e-6)


def test_two_groups_that_do_not_differ_have_a_gap_that_spans_zero():
    values = np.linspace(0.3, 0.5, 21)
    found = gap(values, values[::-1].copy())
    assert found.difference.low < 0 < found.difference.high
    assert found.p_value > 0.9


def test_the_rank_test_is_the_one_of_scipy():
    dense, moe = np.array([0.38, 0.41, 0.43, 0.35, 0.44]), np.array([0.2, 0.25, 0.3, 0.22, 0.37])
    assert gap(dense, moe).p_value == pytest.approx(stats.mannwhitneyu(dense, moe).pvalue)
    assert gap(dense, moe).difference.value == pytest.approx(0.41 - 0.25)
