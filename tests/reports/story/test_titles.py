"""Numbers of the titles, counted a second time in plain Python from the tables, not by the queries of the page."""

import shutil
from collections import defaultdict

import duckdb
import pytest

from reports.page.questions import questions
from reports.story.compute import section as compute
from reports.story.disclosure import section as disclosure
from reports.story.layout_map import section as layout_map
from reports.story.verdicts import section as verdicts

MAKERS = {"paper", "docs", "talk", "code", "datasheet", "model-card", "blog", "config", "log"}


@pytest.fixture
def rows(built, tmp_path):
    """Reads a table of a copy of the database as dictionaries, without any query of the page."""
    copy = shutil.copy(built, tmp_path / "copy.duckdb")

    def read(table):
        with duckdb.connect(str(copy), read_only=True) as connection:
            return connection.sql(f"from {table}").df().astype(object).to_dict("records")

    return read


def test_runs_that_contradict_themselves_are_counted_on_their_makers_numbers(source, rows):
    worst, aside = defaultdict(set), set()
    for row in rows("result.verdicts"):
        others = "rests_on" in str(row["reason_values"])
        explained = row["status"] in ("strained", "impossible") and isinstance(row["explained"], str)
        if others and not explained:
            aside.add(row["run_id"])
        elif not others and (row["status"] != "plausible" or row["decisive"]):
            worst[row["run_id"]].add("explained" if explained else row["status"])
    counts = verdicts.tally(source)
    assert counts["bad"] == sum("impossible" in seen for seen in worst.values())
    assert counts["strained"] == sum("strained" in seen and "impossible" not in seen for seen in worst.values())
    assert counts["others"] == len(aside)
    assert counts["n"] == sum(bool(seen - {"unknown"}) for seen in worst.values())
    figure = next(iter(verdicts.figures(source)))
    assert f"{counts['n']} runs that can be tested" in figure.words.title.en
    assert str(counts["strained"]) in questions(source)[0][1].en


def test_families_that_print_their_number_of_chips_are_counted_once_a_year(source, rows):
    kinds = {(row["kind"], row["record_id"], row["key"]): row["source_kind"] for row in rows("record.sources")}
    printed = {
        cited["record_id"]
        for cited in rows("record.citations")
        if cited["kind"] == "run" and cited["field"] == "accelerators" and cited["basis"] != "estimated"
        and kinds.get(("run", cited["record_id"], cited["source"])) in MAKERS
    }  # fmt: skip
    families = {
        row["id"]: row["family"] if isinstance(row["family"], str) else row["id"] for row in rows("record.models")
    }
    by_year = defaultdict(dict)
    for run in rows("record.runs"):
        if run["purpose"] in ("pretraining", "estimate") and run["released"] is not None:
            family = families.get(run["model"], run["model"])
            year = by_year[run["released"].year]
            year[family] = year.get(family, False) or run["id"] in printed
    last = max(year for year, found in by_year.items() if len(found) >= disclosure.FEW)
    share = sum(by_year[last].values()) / len(by_year[last])
    figure = next(iter(disclosure.figures(source)))
    assert f"{share:.0%} of {last}" in figure.words.title.en


def test_products_that_can_be_checked_have_four_printed_factors_or_three_that_settle_the_fourth(source, rows):
    derived = {
        (cited["record_id"], cited["block"].removeprefix("phases."))
        for cited in rows("record.citations")
        if cited["basis"] == "derived" and cited["field"] in ("tp", "cp", "pp", "dp", "accelerators")
    }
    tested = [
        row
        for row in rows("layout_map")
        if row["product_matches"] in (True, False) and (row["run_id"], row["phase"]) not in derived
    ]
    figure = next(iter(layout_map.figures(source)))
    assert f"Only {len(tested)} products can be checked" in figure.words.subtitle.en


def test_the_title_of_the_plateau_needs_both_flagships_and_the_newer_one_below(source, monkeypatch):
    both = [
        {"name": "GPT-4.5", "compute_flop": 3.8e26, "compute_flop_low": 2.7e26, "compute_flop_high": 5.4e26},
        {"name": "GPT-5", "compute_flop": 6.6e25, "compute_flop_low": 2e25, "compute_flop_high": 2e26},
    ]  # the ranges that Epoch AI prints
    monkeypatch.setattr(source, "rows", lambda _: both)
    assert compute.pair(source)["new_flop"] == "6.6×10²⁵ (2×10²⁵–2×10²⁶)"
    both[1] = both[1] | {"compute_flop": 4e26}
    assert compute.pair(source) is None
    monkeypatch.setattr(source, "rows", lambda _: both[:1])
    assert compute.pair(source) is None


@pytest.mark.parametrize(
    ("since", "before", "expected"),
    [((0.5, 8.0), (4, 6), "open"), ((0.5, 3.0), (4, 6), "slower"), ((1.5, 3.0), (4, 6), "slowed"),
     ((1.5, 8.0), (4, 6), "growing")],
)  # fmt: skip
def test_the_slope_since_2024_says_what_its_interval_leaves_open(source, monkeypatch, since, before, expected):
    ends = {compute.BEFORE: before, compute.SINCE: since}
    monkeypatch.setattr(compute, "statistic", lambda _source, trend, _name: {
        "value": 2.0, "low": ends[trend][0], "high": ends[trend][1], "n": 17, "window_to": "2026-05-18"})  # fmt: skip
    assert compute.since(source)[0] == expected
