"""Refit of the memory constants on rows whose answer is known."""

from typing import Any

import numpy as np
import pytest

from analysis.calibrate.memory import UNSEEN_DEVICE_SLACK, device_slack, fit_memory, margin, refit, report
from analysis.engine.peak_memory import predict_memory

from ..rows import ACCELERATORS, CONSTANTS, read, table

OLD = {"precision": "fp16", "stack": "megatron-deepspeed", "attention_kernel": "unfused", "gated_mlp": False}
CHANGES: list[dict[str, Any]] = [OLD | {"micro_batch": n} for n in (1, 2, 4)] + [{}, {"zero_stage": 3}]
SOURCES = np.array(["smi", "smi", "smi", "torch", "titan"], dtype=object)


def measured(slack: float) -> np.ndarray[tuple[int], np.dtype[np.float64]]:
    """What the rows would have measured with that device slack."""
    return predict_memory(read(*CHANGES), CONSTANTS | {"slack.device": slack}).best


@pytest.mark.parametrize("slack", [1.0, 1.13, 1.3])
def test_the_fit_finds_the_slack_that_made_the_rows(slack: float) -> None:
    assert device_slack(read(*CHANGES), measured(slack), CONSTANTS) == pytest.approx(slack)


def test_without_rows_of_its_kind_the_slack_stays_at_the_published_bound() -> None:
    rows = read({}, {"zero_stage": 3})
    assert device_slack(rows, np.full(2, 1e10), CONSTANTS) == UNSEEN_DEVICE_SLACK == 1.093


def test_left_out_errors_do_not_see_their_own_source() -> None:
    fit = fit_memory(read(*CHANGES), measured(1.3), SOURCES, CONSTANTS)
    assert np.abs(fit.fitted_error).max() < 1e-3
    assert fit.left_out_error[:3].max() < -0.05
    assert fit.left_out_error[3:].tolist() == pytest.approx([0, 0])


def test_the_fit_changes_slack_and_margins_only() -> None:
    fit = fit_memory(read(*CHANGES), measured(1.3), SOURCES, CONSTANTS)
    changed = {name for name, value in fit.constants.items() if value != CONSTANTS[name]}
    assert changed <= {"slack.device", "margin.low", "margin.high"}
    assert fit.constants["slack.device"] == 1.3
    assert fit.constants["margin.low"] == fit.constants["margin.high"]


def test_margins_cover_rows_beyond_their_bracket() -> None:
    rows = read({}, {"zero_stage": 3})
    plain = predict_memory(rows, CONSTANTS | {"margin.low": 0.0, "margin.high": 0.0})
    fit = fit_memory(rows, plain.high * 1.25, np.array(["a", "b"], dtype=object), CONSTANTS)
    assert fit.constants["margin.high"] == pytest.approx(0.25)
    fit = fit_memory(rows, plain.low * 0.8, np.array(["a", "b"], dtype=object), CONSTANTS)
    assert fit.constants["margin.low"] == pytest.approx(0.2)


def test_margins_hold_the_asked_share() -> None:
    low, high = np.full(10, 90.0), np.full(10, 110.0)
    values = np.array([80.0, 85.0, *[100.0] * 7, 140.0])
    wide = margin(values, low, high, 0.9)
    inside = (values >= low * (1 - wide)) & (values <= high * (1 + wide))
    assert inside.mean() == 0.9


def test_margins_are_never_negative() -> None:
    assert margin(np.array([100.0]), np.array([50.0]), np.array([150.0])) == 0


def calibration() -> dict[str, Any]:
    """The constants as the calibration file nests them."""
    sections: dict[str, Any] = {}
    for name, value in CONSTANTS.items():
        *path, last = name.split(".")
        place = sections
        for step in path:
            place = place.setdefault(step, {})
        place[last] = {"value": value, "unit": "1"}
    return {"memory": sections, "timing": {}}


def test_refit_reads_measured_rows_and_skips_rows_without_memory() -> None:
    frame = table(*CHANGES, {}).assign(memory_gib=[*(measured(1.3) / 2**30), np.nan], source=[*SOURCES, "torch"])
    updated, errors = refit(frame, ACCELERATORS, calibration())
    assert updated["memory"]["slack"]["device"]["value"] == pytest.approx(1.3)
    assert updated["timing"] == {}
    assert len(errors) == 5


def test_the_report_shows_fitted_beside_left_out_per_source() -> None:
    frame = table(*CHANGES).assign(memory_gib=measured(1.3) / 2**30, source=SOURCES)
    lines = report(refit(frame, ACCELERATORS, calibration())[1]).splitlines()
    assert "fitted" in lines[0]
    assert lines[1].split()[:3] == ["all", "5", "0.0"]
    assert {line.split()[0] for line in lines[2:5]} == {"smi", "titan", "torch"}
