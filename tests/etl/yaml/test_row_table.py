"""Rows in a CSV file beside their record: places, values, canonical form, and the same table as from YAML."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from etl.checks.runner import examine
from etl.records import schema
from etl.records.formatting import rewrite
from etl.records.loading import load
from etl.yaml import row_table

ROOT = Path(__file__).parents[3]
VALID = ROOT / "tests" / "data" / "valid"
SCHEMAS = schema.load(ROOT / "schemas")


def sweep(place: Path, old: str, new: str) -> Path:
    """A copy of the valid records whose table has one text replaced."""
    shutil.copytree(VALID, place / "data")
    table = place / "data" / "benchmarks" / "acme-sweep.csv"
    table.write_text(table.read_text().replace(old, new))
    return place / "data"


def test_columns_of_words_are_the_lists_of_the_schema() -> None:
    rows = SCHEMAS.kind("benchmark").properties["rows"].items
    assert rows is not None
    assert {name for name, field in rows.properties.items() if field.types == ("array",)} == row_table.LISTS


@pytest.mark.parametrize(
    ("old", "new", "place"),
    [
        ("a1,small,8,1", "a1,small,8,one", "acme-sweep.csv:2:12 SCH003"),
        ("a2,small", "a2,smal", "acme-sweep.csv:3:4 REF004"),
        ("a2,small", "a1,small", "acme-sweep.csv:3:1 REF005"),
        (",tp,pp,", ",tp,pq,", "acme-sweep.csv:1:26 SCH001"),
        ('"first try, alone"', '"first try, alone",7', "acme-sweep.csv:2:1 CSV002"),
        ('"first try, alone"', "first try", ""),
        ("a1,small", '"a1",small', "acme-sweep.csv:2:1 FMT001"),
        ("ran,2.5", "run,2.5", "acme-sweep.csv:2:18 SCH004"),
    ],
)
def test_a_finding_names_the_cell(tmp_path: Path, old: str, new: str, place: str) -> None:
    found = examine(load(sweep(tmp_path, old, new)), SCHEMAS, date(2026, 8, 1))
    assert [one.text().split(" ")[0] + " " + one.code for one in found] == (
        [f"data/benchmarks/{place}"] if place else []
    )


def test_a_table_without_its_record_is_found(tmp_path: Path) -> None:
    data = sweep(tmp_path, "", "")
    (data / "benchmarks" / "acme-sweep.yaml").unlink()
    assert [one.code for one in examine(load(data), SCHEMAS, date(2026, 8, 1))] == ["REF003"]


def test_fmt_writes_the_table_in_schema_order(tmp_path: Path) -> None:
    data = sweep(tmp_path, "", "")
    table = data / "benchmarks" / "acme-sweep.csv"
    wanted = table.read_text()
    table.write_text("shape,id,accelerators,tp,pp,dp,outcome,step_time_s,memory_gib,assumed,note,hfu\r\n"
                     'small,a1,8,1,1,8,ran,2.5,40.25,tp  pp,"first try, alone",\r\n'
                     "small,a2,16,2,1,8,oom,,,,,\r\n")  # fmt: skip
    record = load(data)["benchmark"]["acme-sweep"]
    assert rewrite(record, SCHEMAS.kind("benchmark")).changed
    assert table.read_text() == wanted


def test_rows_of_a_table_and_of_a_record_are_the_same_rows() -> None:
    # The first line of the table, written as YAML would give it.
    record = load(VALID)["benchmark"]["acme-sweep"]
    assert record.value["rows"][0] == {
        "id": "a1", "shape": "small", "accelerators": 8, "tp": 1, "pp": 1, "dp": 8, "outcome": "ran",
        "step_time_s": 2.5, "memory_gib": 40.25, "assumed": ["tp", "pp"], "note": "first try, alone",
    }  # fmt: skip
