"""Printed digits carry their own tolerance."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.records.spans import Span, printed, ranged


@pytest.mark.parametrize(
    ("value", "low", "high"),
    [
        (0.41, 0.405, 0.415),  # 41%
        (0.4, 0.395, 0.405),  # 40% loses a digit as a number, not as a figure
        (0.4373, 0.43725, 0.43735),
        (400, 399.5, 400.5),  # TFLOP/s
        (16384, 16383.5, 16384.5),
        (10000, 9500, 10500),  # zeros from 10,000 on are not printed digits; 5% at most
        (9000, 8999.5, 9000.5),
        (15.6e12, 15.55e12, 15.65e12),
        (2e12, 1.9e12, 2.1e12),  # half a digit would be 25%; 5% at most
        (30.84e6, 30.835e6, 30.845e6),
    ],
)
def test_a_printed_number_stands_for_half_a_digit_either_way(value, low, high):
    assert printed(value) == Span(pytest.approx(low), value, pytest.approx(high))


@given(st.floats(1e-3, 1e27))
def test_the_number_lies_inside_and_never_wider_than_five_percent(value):
    found = printed(value)
    assert found.low <= value <= found.high
    assert found.high - found.low <= 0.1001 * value


def test_a_range_without_a_centre_takes_the_geometric_mean():
    assert ranged(None, 2e25, 8e25) == Span(2e25, pytest.approx(4e25), 8e25)


def test_nothing_stated_is_nothing():
    assert ranged(None, None, None) is None


@given(*(st.floats(0.1, 1e3) for _ in range(4)))
def test_products_and_quotients_hold_every_combination(a, b, c, d):
    x, y = Span(min(a, b), (a + b) / 2, max(a, b)), Span(min(c, d), (c + d) / 2, max(c, d))
    assert (x * y).low <= a * c * (1 + 1e-12)
    assert (x / y).high >= a / c * (1 - 1e-12)
