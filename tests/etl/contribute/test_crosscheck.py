"""Our figures beside another party's: names are matched, agreement is judged, usual ratios are explained.

The rows are made up; only the column names are those of Epoch AI's table (CC BY 4.0).
"""

from pathlib import Path

import duckdb
import pytest

from etl.contribute import crosscheck
from schemas.refusal import RefusalError


def row(name: str, **figures: object) -> dict[str, str]:
    columns = dict.fromkeys((crosscheck.NAME, crosscheck.EPOCHS, *crosscheck.MEASURES.values()), "")
    given = {crosscheck.MEASURES.get(measure, measure): str(value) for measure, value in figures.items()}
    return columns | {crosscheck.NAME: name} | given


def only_pair(ours: dict[str, object], theirs: dict[str, str]) -> crosscheck.Pair:
    (pair,) = crosscheck.pairs({"run_id": "acme/x", **ours}, theirs)
    return pair


@pytest.mark.parametrize("name", ["Dense 1B", "DENSE-1B", "Dense (1B)", "D-1B", "Dense 1B (Mar 2024)"])
def test_a_run_is_found_under_any_of_its_names(memory: duckdb.DuckDBPyConnection, name: str) -> None:
    found = crosscheck.compare(memory, [row(name, tokens=2e10)])
    assert [(pair.run_id, pair.agrees) for pair in found.pairs] == [("acme/dense", True)]
    assert found.unmatched == ["acme/moe", "acme/secret"]


def test_a_dated_name_is_not_guessed_where_two_rows_would_fit(memory: duckdb.DuckDBPyConnection) -> None:
    rows = [row("Dense 1B (Mar 2024)", tokens=2e10), row("Dense 1B (May 2024)", tokens=3e10)]
    assert crosscheck.compare(memory, rows).pairs == []


def test_common_figures_are_set_side_by_side(memory: duckdb.DuckDBPyConnection) -> None:
    theirs = row("Dense 1B", parameters=1e9, compute=1.6e20, accelerators=64.0, hours=60, MFU=0.4)
    found = {pair.measure: (pair.ours, pair.agrees) for pair in crosscheck.compare(memory, [theirs]).pairs}
    # 2.5 days are 60 hours; 1.6e20 / 1.2e20 = 4/3
    assert found == {
        "parameters": (1e9, True),
        "compute": (1.2e20, False),
        "accelerators": (64, True),
        "hours": (60, True),
        "MFU": (0.4, True),
    }


@pytest.mark.parametrize(
    ("measure", "ours", "theirs", "said"),
    [
        ("compute", 3e23, 4e23, "8ND"),
        ("compute", 1.107e25, 1.845e24, "factor 6"),
        ("MFU", 0.39, 0.195, "FP8"),
        ("MFU", 0.317, 0.1, "A100"),
        ("accelerators", 512, 1024, "cores"),
        ("accelerators", 1024, 128, "nodes"),
        ("hours", 10, 240, "days"),
        ("tokens", 4e11, 3e11, "words"),
        ("tokens", 15.6e9, 15.6e12, "thousands"),
        ("hours", 10, 17, ""),
    ],
)
def test_a_usual_ratio_has_its_usual_cause(measure: str, ours: float, theirs: float, said: str) -> None:
    pair = only_pair({measure: ours}, row("x", **{measure: theirs}))
    assert not pair.agrees
    assert said in pair.cause
    assert bool(pair.cause) == bool(said)


def test_a_corpus_read_several_times_is_recognised() -> None:
    pair = only_pair({"tokens": 300e9}, row("x", tokens=180e9, Epochs=1.6667))
    assert pair.cause == "their data set times 1.6667 epochs is ours"


def test_total_and_active_parameters_are_told_apart() -> None:
    pair = only_pair({"parameters": 1e10, "parameters_active": 2e9}, row("x", parameters=2.02e9))
    assert pair.cause == "total against active parameters"


@pytest.mark.parametrize(("theirs", "agrees"), [(1e20, True), (9e20, True), (1.1e21, False), (5e19, False)])
def test_any_figure_inside_our_range_agrees(memory: duckdb.DuckDBPyConnection, theirs: float, agrees: bool) -> None:
    (pair,) = crosscheck.compare(memory, [row("Secret", compute=theirs)]).pairs
    assert pair.agrees is agrees


@pytest.mark.parametrize(
    ("text", "said"), [("Model,Year\nx,2024\n", "no column 'Parameters'"), ("", "no column 'Model'")]
)
def test_another_table_is_refused(tmp_path: Path, text: str, said: str) -> None:
    file = tmp_path / "table.csv"
    file.write_text(text)
    with pytest.raises(RefusalError, match=said):
        crosscheck.read(file)


def test_differences_come_first_and_the_largest_on_top(memory: duckdb.DuckDBPyConnection) -> None:
    rows = [row("Dense 1B", compute=1.6e20, tokens=2e10), row("MoE 10B", tokens=9e10)]
    shown = crosscheck.answer(crosscheck.compare(memory, rows)).rows
    assert [(line[0], line[1], line[4]) for line in shown] == [
        ("acme/moe", "tokens", 3.0),
        ("acme/dense", "compute", 1.333),
        ("acme/dense", "tokens", 1.0),
    ]
