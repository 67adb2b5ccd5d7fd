"""Sustained rates: measured products, power limits and caps."""

import numpy as np
import pytest

from analysis.physics import sustained


def test_less_power_per_flop_costs_clock() -> None:
    # H100 PCIe: 350 W for 756 TFLOP/s against 700 W for 989 TFLOP/s
    assert float(sustained.power_share(350, 756e12, 700 / 989e12, 1.0)) == pytest.approx(350 / 756 * 989 / 700)
    assert float(sustained.power_share(350, 756e12, 700 / 989e12, 0.5)) == pytest.approx((350 / 756 * 989 / 700) ** 0.5)


def test_more_power_than_the_reference_gains_nothing() -> None:
    assert float(sustained.power_share(1400, 989e12, 700 / 989e12, 1.0)) == 1.0


def test_unknown_power_changes_nothing() -> None:
    assert sustained.power_share(np.array([np.nan, 700.0]), 989e12, 700 / 989e12, 1.0).tolist() == [1.0, 1.0]


def test_sustained_rate_is_peak_times_share_times_power() -> None:
    assert float(sustained.sustained_rate(989e12, 0.8, 0.5)) == pytest.approx(395.6e12)


def test_no_product_reaches_its_peak() -> None:
    assert float(sustained.sustained_rate(100e12, 1.2, highest=0.97)) == pytest.approx(97e12)


SHARES = [(271.2, 312, 0.869), (794.5, 989, 0.803), (668.4, 1307.4, 0.511)]


@pytest.mark.parametrize(("measured", "peak", "share"), SHARES)
def test_measured_products_give_the_published_shares(measured: float, peak: float, share: float) -> None:
    # Largest measured products of A100, H100 and MI300X (ml-engineering, compute/accelerator, commit 744d01e).
    assert float(sustained.measured_share(measured, peak, 1.0)) == pytest.approx(share, abs=5e-4)
    assert float(sustained.measured_share(measured, peak, 0.9)) == pytest.approx(0.9 * share, abs=5e-4)
