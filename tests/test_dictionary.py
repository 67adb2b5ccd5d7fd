"""The dictionary says what the database holds: every word that a result table uses, and no column that stays empty."""

from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

import shardbook
from etl.database import building
from etl.paths import Paths
from etl.records import schema

ROOT = Path(__file__).parents[1]
RESULTS = schema.load(ROOT / "schemas").results
FILLED = sorted(RESULTS.keys() - {"claims", "trends"})  # those two come after the runs


@pytest.fixture(scope="module")
def assessed() -> Iterator[duckdb.DuckDBPyConnection]:
    with building.memory(Paths(ROOT)) as connection:
        shardbook.assess(connection)
        yield connection


@pytest.mark.parametrize("table", FILLED)
def test_listed_words_are_those_that_are_written(assessed: duckdb.DuckDBPyConnection, table: str) -> None:
    for column, shape in RESULTS[table].properties.items():
        if shape.enum:
            rows = assessed.execute(f"select distinct {column} from result.{table} where {column} is not null")  # noqa: S608  (our own names)
            assert {row[0] for row in rows.fetchall()} <= set(shape.enum), column


@pytest.mark.parametrize(
    ("table", "column"), [("memory", "part"), ("parameters", "part"), ("communication", "dimension")]
)
def test_every_listed_part_is_written_by_some_run(assessed: duckdb.DuckDBPyConnection, table: str, column: str) -> None:
    rows = assessed.execute(f"select distinct {column} from result.{table}").fetchall()  # noqa: S608  (our own names)
    assert {row[0] for row in rows} == set(RESULTS[table].properties[column].enum)


@pytest.mark.parametrize("table", FILLED)
def test_no_column_stays_empty(assessed: duckdb.DuckDBPyConnection, table: str) -> None:
    columns = list(RESULTS[table].properties)
    counts = ", ".join(f'count("{column}")' for column in columns)
    row = assessed.execute(f"select {counts} from result.{table}").fetchone()  # noqa: S608  (our own names)
    assert row is not None
    assert [column for column, count in zip(columns, row, strict=True) if count == 0] == []
