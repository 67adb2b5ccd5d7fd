"""Refit of the memory constants on rows whose answer is known."""

from typing import Any

import numpy as np
import pytest

from analysis.calibrate.memory import device_slack, fit_memory, gap_share, margins, refit, report
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
    assert device_slack(rows, np.full(2, 1e10), CONSTANTS) == 1.093


def test_cached_blocks_are_the_median_beyond_what_tensors_need() -> None:
    rows = read(*({"stack": "nanotron", "micro_batch": n} for n in (1, 2, 4)))
    constants = CONSTANTS | {"stacks.nanotron.reports": 1.0, "stacks.nanotron.gap_share": 0.1}
    held = predict_memory(rows, constants | {"stacks.nanotron.gap_share": 0.3}).best
    assert gap_share(rows, held, constants) == pytest.approx(0.3)
    assert gap_share(read({}), np.full(1, 1e10), constants) == 0.15  # GMLake (arXiv:2401.08156), abstract


def test_left_out_errors_do_not_see_their_own_family() -> None:
    values = measured(1.3)
    fit = fit_memory(read(*CHANGES), values, SOURCES, CONSTANTS)
    assert np.abs(fit.fitted.best / values - 1).max() < 1e-3
    assert (fit.left_out.best / values - 1)[:3].max() < -0.05
    assert (fit.left_out.best / values - 1)[3:].tolist() == pytest.approx([0, 0])


def test_the_fit_changes_the_medians_and_margins_only() -> None:
    fit = fit_memory(read(*CHANGES), measured(1.3), SOURCES, CONSTANTS)
    changed = {name for name, value in fit.constants.items() if value != CONSTANTS[name]}
    assert {name.split(".")[0] for name in changed} <= {"slack", "margin"}
    assert fit.constants["slack.device"] == 1.3


def plain(values: dict[str, float]) -> dict[str, float]:
    return values | {name: 0.0 for name in values if name.startswith("margin.")}


@pytest.mark.parametrize(("factor", "end"), [(1.25, "high"), (0.8, "low")])
def test_margins_reach_rows_beyond_their_bracket(factor: float, end: str) -> None:
    rows = read({}, {"micro_batch": 2})
    found = predict_memory(rows, plain(CONSTANTS))
    edge = found.high if end == "high" else found.low
    fit = fit_memory(rows, edge * factor, np.array(["a", "b"], dtype=object), CONSTANTS)
    assert fit.constants[f"margin.torch.{end}"] == pytest.approx(abs(factor - 1), abs=5e-4)


def test_margins_leave_the_asked_share_inside() -> None:
    rows = read(*[{}] * 20)
    found = predict_memory(rows, plain(CONSTANTS))
    values = found.best * np.array([0.5, *[1.0] * 18, 2.0])
    low, high = margins(values, found, np.full(20, "one", dtype=object), 0.9)
    inside = (values >= found.lean * (1 - low)) & (values <= found.rich * (1 + high))
    assert inside.mean() == 0.9


def test_margins_are_never_negative() -> None:
    found = predict_memory(read({}), plain(CONSTANTS))
    assert margins(found.best, found, np.array(["a"], dtype=object)) == (0, 0)


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
    assert errors.groupby("kind").size().to_dict() == {"device": 3, "other": 5, "torch": 2}


def test_the_report_shows_fitted_beside_left_out_per_source() -> None:
    frame = table(*CHANGES).assign(memory_gib=measured(1.3) / 2**30, source=SOURCES)
    lines = report(refit(frame, ACCELERATORS, calibration())[1]).splitlines()
    assert "fitted" in lines[0]
    assert lines[1].split()[:3] == ["all", "5", "0.0"]
    assert {line.split()[0] for line in lines[5:8]} == {"smi", "titan", "torch"}
