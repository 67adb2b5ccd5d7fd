"""Frames for charts, checked on rows small enough to read."""

import pandas as pd
import pytest

from reports.drawing import frames
from reports.words import Bi, phrase


def test_a_swarm_keeps_points_apart_and_symmetric():
    points = pd.DataFrame({"mfu": [0.396, 0.397, 0.398, 0.55], "group": ["a"] * 4})
    assert list(frames.swarm(points, ["group"])["offset"]) == [0, 1, -1, 0]


def test_the_record_line_holds_only_what_exceeds_everything_before():
    rows = pd.DataFrame({"date": ["2020", "2021", "2022", "2023"], "n": [10.0, 5.0, 30.0, 30.0]})
    assert list(frames.running_record(rows, "date", "n")["date"]) == ["2020", "2022"]


def test_a_range_without_a_best_value_is_written_as_a_range():
    rows = pd.DataFrame({"n": [None], "n_low": [100.0], "n_high": [200.0]})
    assert frames.ranges_as_text(rows, "n")["n_text"][0] == "100–200"


def test_values_in_a_phrase_are_escaped():
    said = phrase("verdicts.problems.title.some", bad="<b>", n=2)
    assert "&lt;b&gt;" in said.en
    assert "&lt;b&gt;" in said.zh


def test_a_pair_prints_once_when_both_languages_agree():
    assert str(Bi.same("GPT-4").__html__()) == "GPT-4"


def test_an_unknown_phrase_is_an_error_and_not_a_blank():
    with pytest.raises(KeyError, match=r"no phrase 'mfu\.nothing'"):
        phrase("mfu.nothing")
