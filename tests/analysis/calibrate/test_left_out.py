"""Groups that are left out, what is known of a row then, and intervals as quantiles of the errors."""

import numpy as np
import pandas as pd
import pytest

from analysis.calibrate import error_tables, left_out
from analysis.calibrate.left_out import Fit, groups, interval, intervals, updated
from analysis.records.constants import flatten

from ..engine.shipped import CALIBRATION as SHIPPED
from ..engine.test_rates import ACCELERATORS
from .test_step_time import measured, pinned_but


def texts(*words: str) -> np.ndarray:  # type: ignore[type-arg]  # an array of objects
    return np.asarray(words, dtype=object)


def test_families_software_chips_and_pairs_are_left_out_whole() -> None:
    families, stacks = np.repeat(texts("a", "a", "b"), 5), np.repeat(texts("x", "y", "y"), 5)
    cores = np.repeat(texts("hopper", "hopper", "ampere"), 5)
    every = groups(families, stacks, cores, cores)
    found = [(one.kind, one.left_out[::5].tolist(), one.judged[::5].tolist()) for one in every]
    both, first = [True, True, False], [True, False, False]
    assert ("family", both, both) in found
    assert ("stack", first, first) in found
    assert ("cores", both, both) in found
    # the pair (y, hopper) leaves out every y and every hopper, and judges the rows that are both
    assert ("pair", [True, True, True], [False, True, False]) in found


def test_a_family_that_alone_has_its_software_is_left_out_in_parts() -> None:
    families, stacks = np.repeat(texts("a", "a", "b", "c"), 5), np.repeat(texts("x", "x", "y", "y"), 5)
    sizes = np.repeat(np.asarray([8, 16, 8, 8], dtype=object), 5)
    parts = [one.left_out[::5].tolist() for one in groups(families, stacks, families, sizes) if one.kind == "part"]
    assert parts == [[True, False, False, False], [False, True, False, False]]


def test_what_is_known_is_what_remains() -> None:
    rows = measured({}, sources=2)
    found = left_out.fit(rows, ACCELERATORS, pinned_but("products.gemm.hopper.bf16")).trials
    # three rows of one kind of chip are fewer than ten: everything is unknown
    assert set(found["knowledge"]) == {"neither"}
    assert found["error"].abs().max() < 1e-3


def test_interval_holds_nine_of_ten_rows() -> None:
    errors = pd.Series(np.linspace(-0.5, 0.5, 1001))
    low, high = interval(errors, pd.Series(["a"] * 1001), 0.9)
    inside = ((1 / (1 + errors)) >= low) & ((1 / (1 + errors)) <= high)
    assert inside.mean() == pytest.approx(0.90, abs=0.002)


def test_edges_of_an_interval_by_hand() -> None:
    # five rows of equal weight sit at shares 0.1, 0.3, 0.5, 0.7, 0.9; half of them lies between 0.25 and 0.75
    ratios = np.array([0.8, 0.9, 1.0, 1.1, 1.2])
    assert interval(pd.Series(1 / ratios - 1), pd.Series(["a"] * 5), 0.5) == pytest.approx((0.875, 1.125))


def test_long_tables_do_not_decide_the_interval_alone() -> None:
    errors = pd.Series([0.0] * 100 + [-0.5])
    families = pd.Series(["long"] * 100 + ["short"])
    assert interval(errors, families, 0.9)[1] > 1.0
    assert interval(errors, pd.Series(["one"] * 101), 0.9)[1] == pytest.approx(1.0)


def trial(kind: str, knowledge: str, *errors: float) -> pd.DataFrame:
    return pd.DataFrame({"kind": kind, "knowledge": knowledge, "family": "a", "error": list(errors)})


def test_small_classes_take_the_interval_of_the_class_before() -> None:
    tried = pd.concat([trial("dense", "both", *np.linspace(-0.2, 0.25, 40)), trial("dense", "one", 3.0)])
    found = intervals(tried, 0.9)
    assert found["intervals.dense.one.high"] == found["intervals.dense.both.high"] > 1.1
    assert found["intervals.moe.neither.low"] == 1.0


def test_written_intervals_and_counts_replace_the_old_ones() -> None:
    table = pd.DataFrame({"cores": ["hopper"] * 3, "stack": ["x", "x", ""]})
    result = Fit({}, table, trial("dense", "both", *[0.25] * 20, *[-0.5] * 20))
    after = flatten(updated(SHIPPED, result))
    assert (after["intervals.dense.both.low"], after["intervals.dense.both.high"]) == (0.8, 2.0)
    assert (after["measured.cores.hopper"], after["measured.stacks.x"]) == (3, 2)
    assert "measured.stacks." not in after


def test_report_shows_errors_and_the_coverage_of_each_class() -> None:
    result = left_out.fit(
        measured({"products.gemm.hopper.bf16": 0.65}), ACCELERATORS, pinned_but("products.gemm.hopper.bf16")
    )
    lines = error_tables.errors(result).splitlines()
    assert lines[0].split() == ["step", "time", "error", "%", "rows", "fitted", "left", "out", "bias", "median"]
    assert lines[1].split()[:2] == ["all", "9"]
    shares = error_tables.coverage(result, SHIPPED).splitlines()
    assert shares[0].split()[-6:] == ["rows", "inside", "low", "high", "width", "error"]
    assert sum("100.0" in line for line in shares[1:]) == len(shares) - 1
