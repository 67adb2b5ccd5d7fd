"""Cells: numbers, switches and categories, and the words for those that say nothing usable."""

import numpy as np
import pandas as pd
import pytest

from analysis.layout.parse import LARGEST, categories, distinct_texts, numbers, switches
from analysis.layout.reasons import Reason, Reasons


def one(cell: object, name: str = "tp", least: float = 1.0) -> tuple[float, str]:
    """Value and reason of one cell."""
    reasons = Reasons(1)
    value = numbers(pd.Series([cell], dtype=object), name, reasons, least=least)
    return float(value[0]), str(reasons.text()[0])


@pytest.mark.parametrize(("cell", "value"), [("8", 8), (8, 8), (8.0, 8), (" 8 ", 8), ("1e3", 1000), (np.int64(4), 4)])
def test_numbers_in_any_dress_are_numbers(cell: object, value: float) -> None:
    assert one(cell) == (value, "")


@pytest.mark.parametrize("cell", ["", " ", None, float("nan"), "nan", "None", "n/a", "-", "null"])
def test_blank_cells_are_unknown_without_a_reason(cell: object) -> None:
    value, reason = one(cell)
    assert np.isnan(value)
    assert reason == ""


@pytest.mark.parametrize(
    ("cell", "sentence"),
    [
        ("eight", "tp is not a number: 'eight'"),
        ("16:8", "tp is not a number: '16:8'"),
        ("-8", "tp must be at least 1, found -8"),
        ("0", "tp must be at least 1, found 0"),
        ("2.5", "tp must be a whole number, found 2.5"),
        ("1e30", "tp = 1e+30 is implausibly large"),
        ("inf", "tp = inf is implausibly large"),
        ("-inf", "tp must be at least 1, found -inf"),
    ],
)
def test_unusable_cells_say_what_and_found(cell: str, sentence: str) -> None:
    value, reason = one(cell)
    assert np.isnan(value)
    assert reason == sentence


@pytest.mark.parametrize("name", sorted(LARGEST))
def test_each_field_has_its_own_absurdity(name: str) -> None:
    assert one(LARGEST[name], name)[1] == ""
    assert "implausibly large" in one(LARGEST[name] * 2, name)[1]


def test_tallies_may_be_zero() -> None:
    assert one("0", least=0.0) == (0, "")
    assert one("-1", least=0.0)[1] == "tp must be at least 0, found -1"


def test_columns_of_numbers_are_read_without_text() -> None:
    reasons = Reasons(3)
    values = numbers(pd.Series([1.0, np.nan, -2.0]), "pp", reasons)
    assert np.isnan(values[1:]).all()
    assert reasons.text().tolist() == ["", "", "pp must be at least 1, found -2"]


def test_long_texts_are_cut_in_the_reason() -> None:
    assert len(one("x" * 1000)[1]) < 90


@pytest.mark.parametrize(
    ("cell", "value"),
    [
        ("True", 1),
        (True, 1),
        ("1", 1),
        (1.0, 1),
        ("yes", 1),
        ("FALSE", 0),
        (False, 0),
        ("0", 0),
        ("no", 0),
        ("0.0", 0),
        ("1.0", 1),
    ],
)
def test_switches_in_any_dress(cell: object, value: float) -> None:
    reasons = Reasons(1)
    assert float(switches(pd.Series([cell], dtype=object), "mla", reasons)[0]) == value
    assert not reasons.bad[0]


def test_a_switch_that_is_neither_says_so() -> None:
    reasons = Reasons(2)
    values = switches(pd.Series(["perhaps", ""]), "mla", reasons)
    assert np.isnan(values).all()
    assert reasons.text().tolist() == ["mla is neither true nor false: 'perhaps'", ""]


def test_reasons_of_one_row_are_joined_and_rows_kept_apart() -> None:
    reasons = Reasons(3)
    reasons.add(np.array([True, False, False]), "unstated", "tp")
    reasons.add(np.array([True, False, True]), "too-large", "pp", value=np.array([1.0, 2.0, 3e9]))
    assert reasons.text().tolist() == [
        "tp is not stated; pp = 1 is implausibly large", "", "pp = 3e+09 is implausibly large",
    ]  # fmt: skip
    assert reasons.bad.tolist() == [True, False, True]
    assert reasons.of(2) == [Reason("too-large", "pp", {"value": 3e9})]
    assert reasons.of(0)[0].text("zh") == "未说明 tp"


def test_a_cell_that_cannot_be_used_is_not_also_called_unstated() -> None:
    reasons = Reasons(2)
    reasons.add(np.array([True, False]), "too-small", "tp", least=1.0, value=np.array([0.0, 8.0]))
    reasons.add(np.array([True, True]), "unstated", "tp")
    assert reasons.text().tolist() == ["tp must be at least 1, found 0", "tp is not stated"]


def test_reasons_follow_their_rows() -> None:
    reasons = Reasons(4)
    reasons.add(np.array([True, False, False, True]), "too-large", "pp", value=np.array([1.0, 2.0, 3.0, 4.0]))
    assert reasons.take(np.array([3, 1])).text().tolist() == ["pp = 4 is implausibly large", ""]
    assert reasons.take(slice(0, 2)).text().tolist() == ["pp = 1 is implausibly large", ""]


def test_a_copy_of_reasons_grows_on_its_own() -> None:
    reasons = Reasons(1)
    reasons.copy().add(np.array([True]), "unstated", "tp")
    assert reasons.text().tolist() == [""]


def test_categories_read_each_text_once() -> None:
    seen: list[str] = []

    def read(text: str) -> float:
        seen.append(text)
        return float(len(seen))

    column = pd.Series(["Full", "none at all", "Full", None])
    assert categories(column, read)[:3].tolist() == [1, 2, 1]
    assert seen == ["full", "none at all"]


def test_distinct_texts_of_nothing() -> None:
    codes, texts = distinct_texts(pd.Series([], dtype=object))
    assert (len(codes), texts) == (0, [])
