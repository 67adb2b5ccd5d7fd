"""What the README shows can be run as it stands."""

import re
from pathlib import Path

import duckdb
import pytest

from etl.database.querying import query
from etl.paths import Paths

README = (Path(__file__).parents[3] / "README.md").read_text("utf-8")
QUERIES = re.findall(r"```sql\n(.*?)```", README, re.DOTALL)
# Counted by hand on tests/data/house, in the order of the README; no result tables, so no recomputed MFU.
ANSWERS = [
    [],
    [(2024, "Acme Site", 1000), (2025, "MoE 10B", 16)],
    [],
    [(2024, "Dense 1B", 1.2e20), (2025, "Secret", 5e20)],
    [("Acme", 3, 2)],
    [],
    [],
    [("US", 3, 2)],
    [],
    [("acme/chip-a", 1, 500.0)],
    [("Chip A", 26)],
    [],
]


def test_every_question_of_the_readme_has_an_answer_here() -> None:
    assert len(QUERIES) == len(ANSWERS)


@pytest.mark.parametrize(("text", "answer"), list(zip(QUERIES, ANSWERS, strict=False)))
def test_each_question_has_the_answer_that_the_made_up_records_give(
    built: Paths, text: str, answer: list[tuple[object, ...]]
) -> None:
    assert query(built.database, text).rows == answer


def test_tensor_parallelism_beyond_the_domain_is_found(memory: duckdb.DuckDBPyConnection) -> None:
    memory.execute("update record.phases set tp = 16 where name = 'small'")
    assert memory.execute(QUERIES[2]).fetchall() == [("acme/dense", "small", 16, 8)]
