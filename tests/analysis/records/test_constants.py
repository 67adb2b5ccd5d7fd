"""The calibration: names, typed reading, rewriting, and what every constant must carry."""

import pytest

from analysis.engine.timing_constants import FitSettings, timing
from analysis.records import constants
from analysis.records.constants import Values, leaves, read, with_values

from ..engine.shipped import CALIBRATION

SECTION = {"gemm": {"hopper": {"bf16": {"value": 0.76, "unit": "1"}}}, "host": {"value": 2.0, "unit": "s"}}
LEAVES = dict(leaves(CALIBRATION))
TIMED = {name: leaf for name, leaf in LEAVES.items() if name.split(".")[0] not in ("memory", "stacks")}


def test_names_are_dotted_paths() -> None:
    assert constants.flatten(SECTION) == {"gemm.hopper.bf16": 0.76, "host": 2.0}


def test_new_values_replace_old_ones_and_nothing_else() -> None:
    changed = with_values(SECTION, {"gemm.hopper.bf16": 0.8})
    assert constants.flatten(changed) == {"gemm.hopper.bf16": 0.8, "host": 2.0}
    assert SECTION["gemm"]["hopper"]["bf16"]["value"] == 0.76  # type: ignore[index]  # a nested mapping, as written above


def test_a_missing_constant_is_named() -> None:
    lacks = CALIBRATION | {"links": {"scale_up_share": {"value": 0.75}}}
    with pytest.raises(constants.MissingConstantError, match=r"data/calibration lacks links\.scale_out_share"):
        timing(lacks)
    with pytest.raises(constants.MissingConstantError, match=r"data/calibration/links\.yaml is missing"):
        timing({name: part for name, part in CALIBRATION.items() if name != "links"})


class _Read(Values):
    """A nested mapping that remembers which leaves were read."""

    def __init__(self, section: dict, seen: set[str], path: str = "") -> None:  # type: ignore[type-arg]  # any nesting
        super().__init__(
            {
                key: _Read(item, seen, f"{path}{key}.") if isinstance(item, dict) and "value" not in item else item
                for key, item in section.items()
            }
        )
        self._seen, self._path = seen, path

    def get(self, key: str, default: object = None) -> object:
        if isinstance(item := super().get(key, default), dict) and "value" in item:
            self._seen.add(self._path + key)
        return item

    def items(self):  # type: ignore[no-untyped-def]  # the pairs of a dict
        for key, item in super().items():
            if "value" in item:
                self._seen.add(self._path + key)
            yield key, item


def test_every_constant_of_the_step_time_is_read_by_somebody() -> None:
    seen: set[str] = set()
    watched = _Read(CALIBRATION, seen)
    timing(watched)
    read(FitSettings, "fit", watched["fit"])
    assert sorted(set(TIMED) - seen) == []


def test_every_constant_has_value_unit_and_ground() -> None:
    needed, ground = {"value", "unit", "how"}, {"cite", "note"}
    fits = ("fit", "left out")
    bare = [n for n, leaf in TIMED.items() if leaf.get("how") not in fits and not ground & set(leaf)]
    assert [n for n, leaf in LEAVES.items() if not needed <= set(leaf)] == []
    assert bare == []


def test_fitted_constants_lie_within_three_spreads_of_their_prior() -> None:
    far = []
    for name, leaf in TIMED.items():
        if "prior" in leaf and abs(leaf["value"] / leaf["prior"] - 1) > 3 * leaf["spread"]:
            far.append(name)
    assert far == []


def test_fitted_constants_cite_their_prior() -> None:
    assert [n for n, leaf in TIMED.items() if "prior" in leaf and (leaf["how"] != "fit" or "cite" not in leaf)] == []


def test_shares_of_peak_are_physical() -> None:
    shares = {n: leaf["value"] for n, leaf in TIMED.items() if leaf["unit"] == "share of dense peak"}
    assert all(0.1 < share <= 0.97 for share in shares.values())
    # Largest measured products of H100: 794.5 of 989 and 1402.6 of 1979 TFLOP/s (ml-engineering).
    assert shares["products.gemm.hopper.bf16"] <= 794.5 / 989
    assert shares["products.gemm.hopper.fp8"] <= 1402.6 / 1979


def test_intervals_hold_the_prediction() -> None:
    edges = {n: leaf["value"] for n, leaf in TIMED.items() if n.startswith("intervals.")}
    assert all(value <= 1.0 for name, value in edges.items() if name.endswith("low"))
    assert all(value >= 1.0 for name, value in edges.items() if name.endswith("high"))
