"""Answers are readable on a screen and lose nothing as CSV and JSON."""

import csv
import io
import json
from datetime import date

import pytest
from hypothesis import given
from hypothesis import strategies as st

from etl.database.rowset import Answer, as_csv, as_json, as_table, cell

NUMBERS = st.floats(allow_nan=False, allow_infinity=False)


@pytest.mark.parametrize(
    ("value", "flop", "shown"),
    [
        (3.8e25, True, "3.8e+25"),
        (6e14, True, "6e+14"),
        (15.6e12, False, "15600000000000"),
        (16384, False, "16384"),
        (0.41, False, "0.41"),
        (None, False, ""),
        (True, False, "true"),
        (date(2024, 7, 23), False, "2024-07-23"),
        (["a", "b"], False, "a, b"),
        (float("nan"), False, ""),
    ],
)
def test_a_cell_shows_what_a_reader_wants(value: object, flop: bool, shown: str) -> None:
    assert cell(value, flop) == shown


def test_a_wide_row_becomes_a_block_with_full_column_names() -> None:
    answer = Answer(("accelerators_per_node_as_software_sees_them", "other"), [(8, "x" * 80)])
    assert as_table(answer, 60).splitlines()[1].split() == ["accelerators_per_node_as_software_sees_them", "8"]


def test_markup_and_escapes_in_the_data_are_shown_not_obeyed() -> None:
    assert "[red]x \\[31my" in as_table(Answer(("note",), [("[red]x\x1b\\[31my",)]))


@given(st.lists(st.tuples(NUMBERS, st.text(), st.none()), max_size=5))
def test_json_gives_back_what_went_in(rows: list[tuple[object, ...]]) -> None:
    back = json.loads(as_json(Answer(("number", "text", "nothing"), rows)))
    assert [tuple(row.values()) for row in back] == rows


@given(st.lists(st.tuples(NUMBERS, st.text(alphabet=st.characters(exclude_categories=["C"]))), max_size=5))
def test_csv_gives_back_what_went_in(rows: list[tuple[object, ...]]) -> None:
    back = list(csv.reader(io.StringIO(as_csv(Answer(("number", "text"), rows)))))
    # What a spreadsheet would run as a formula comes back behind an apostrophe.
    shown = [(number, f"'{text}" if text.startswith(("=", "+", "-", "@")) else text) for number, text in rows]
    assert [(float(number), text) for number, text in back[1:]] == shown
