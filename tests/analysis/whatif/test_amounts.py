"""What a run takes, against runs that print it."""

import pytest

from analysis.records.spans import Span
from analysis.whatif.amounts import PUE, amounts

STEP = Span(4.0, 5.0, 6.0)


def test_llama_3_405b_takes_its_hours():
    # Model card of Llama 3.1 405B: 30.84M H100 hours for 15.6T tokens; 16,384 cards at 700 W.
    # 15.6e12 tokens / (16.78e6 a step) x 7.29 s = 78.4 days = 30.84e6 h; 30.84e6 h x 700 W = 21,588 MWh.
    made = amounts(Span(7.29, 7.29, 7.29), 2048 * 8192, 16384, tokens=15.6e12, watts=700)
    assert made.days.best == pytest.approx(78.4, rel=0.01)
    assert made.accelerator_hours.best == pytest.approx(30.84e6, rel=0.01)
    assert made.energy_mwh.low == pytest.approx(21588 * PUE.low, rel=0.01)


def test_a_slow_step_is_few_tokens_and_many_days():
    made = amounts(STEP, 1e6, 8, tokens=1e9)
    assert made.tokens_per_s == Span(1e6 / 6, 2e5, 2.5e5)
    assert made.tokens_per_s_each.best == 2.5e4
    assert made.days.low < made.days.best < made.days.high
    assert made.days.best == pytest.approx(1000 * 5 / 86400)


def test_what_is_not_stated_is_not_made_up():
    made = amounts(STEP, 1e6, 8)
    assert (made.days, made.accelerator_hours, made.energy_mwh, made.cost) == (None, None, None, None)
    assert amounts(STEP, 1e6, 8, tokens=1e9).energy_mwh is None
    assert amounts(STEP, 1e6, 8, tokens=1e9, price=2.0).cost.best == pytest.approx(2 * 8 * 1000 * 5 / 3600)
