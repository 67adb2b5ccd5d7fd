"""The calibration file: flat names, rewriting, and what every constant must carry."""

from pathlib import Path

import pytest
import yaml

from analysis.engine import constants

FILE = Path(__file__).parents[3] / "data" / "calibration.yaml"
SECTION = {"gemm": {"hopper": {"bf16": {"value": 0.76, "unit": "1"}}}, "host": {"value": 2.0, "unit": "s"}}


def test_names_are_dotted_paths() -> None:
    assert constants.flatten(SECTION) == {"gemm.hopper.bf16": 0.76, "host": 2.0}


def test_new_values_replace_old_ones_and_nothing_else() -> None:
    changed = constants.with_values(SECTION, {"gemm.hopper.bf16": 0.8})
    assert constants.flatten(changed) == {"gemm.hopper.bf16": 0.8, "host": 2.0}
    assert SECTION["gemm"]["hopper"]["bf16"]["value"] == 0.76


def test_text_reads_back_as_the_same_mapping() -> None:
    text = constants.to_yaml({"timing": SECTION})
    assert yaml.safe_load(text) == {"timing": SECTION}
    assert text.splitlines()[1:4] == ["  gemm:", "    hopper:", "      bf16: {value: 0.76, unit: '1'}"]


@pytest.fixture(scope="module")
def timing() -> dict[str, dict[str, object]]:
    """Every timing constant of the shipped file by name."""
    shipped = yaml.safe_load(FILE.read_text(encoding="utf-8"))
    return dict(constants.leaves(shipped["timing"]))


def test_every_constant_has_value_unit_and_ground(timing: dict[str, dict[str, object]]) -> None:
    needed, ground = {"value", "unit", "how"}, {"cite", "note"}
    assert [n for n, leaf in timing.items() if not needed <= set(leaf) or not ground & set(leaf)] == []


def test_fitted_constants_lie_within_three_spreads_of_their_prior(timing: dict[str, dict[str, object]]) -> None:
    far = []
    for name, leaf in timing.items():
        if "prior" in leaf:
            prior, spread, value = (float(str(leaf[key])) for key in ("prior", "spread", "value"))
            far += [name] if abs(value / prior - 1) > 3 * spread else []
    assert far == []


def test_fitted_constants_cite_their_prior(timing: dict[str, dict[str, object]]) -> None:
    assert [n for n, leaf in timing.items() if "prior" in leaf and (leaf["how"] != "fit" or "cite" not in leaf)] == []


def test_shares_of_peak_are_physical(timing: dict[str, dict[str, object]]) -> None:
    shares = {n: float(str(leaf["value"])) for n, leaf in timing.items() if leaf["unit"] == "share of dense peak"}
    assert all(0.1 < share < 0.97 for share in shares.values())
    # Largest measured products of H100: 794.5 of 989 and 1402.6 of 1979 TFLOP/s (ml-engineering).
    assert shares["gemm.hopper.bf16"] <= 794.5 / 989
    assert shares["gemm.hopper.fp8"] <= 1402.6 / 1979


def test_intervals_hold_the_prediction(timing: dict[str, dict[str, object]]) -> None:
    edges = {n: float(str(leaf["value"])) for n, leaf in timing.items() if n.startswith("interval.")}
    assert all(value <= 1.0 for name, value in edges.items() if name.endswith("low"))
    assert all(value >= 1.0 for name, value in edges.items() if name.endswith("high"))
    assert edges["interval.dense.high"] - edges["interval.dense.low"] < 0.45
