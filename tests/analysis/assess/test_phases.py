"""What the engine says of a phase, as facts for the checks."""

from types import SimpleNamespace

import pytest

from analysis.assess.phases import _facts
from analysis.layout.reasons import Reason


def detail(**step: float) -> SimpleNamespace:
    unknown = dict.fromkeys(("memory_gib", "memory_gib_low", "memory_gib_high"), float("nan"))
    return SimpleNamespace(prediction=unknown | step, lacks=[Reason("unstated", "recompute")])


def test_the_fastest_step_has_the_highest_utilisation() -> None:
    # 40 % of the peak in ten seconds is 4 in 12.5 s: 32 %, and in 8 s: 50 %
    facts = _facts(detail(mfu=0.4, step_time_s=10.0, step_time_s_low=8.0, step_time_s_high=12.5), {})
    assert facts["modelled_mfu"] == pytest.approx(0.4)
    assert facts["modelled_mfu_low"] == pytest.approx(0.32)
    assert facts["modelled_mfu_high"] == pytest.approx(0.5)


def test_what_cannot_be_modelled_is_left_out_and_named() -> None:
    facts = _facts(detail(mfu=float("nan"), step_time_s=float("nan")), {"cp": 1})
    assert facts == {"engine_lacks": [Reason("unstated", "recompute")], "modelled_with": {"cp": 1}}
