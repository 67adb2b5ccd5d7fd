"""The statistics count the fourteen made-up records as one counts them by hand."""

import duckdb

from etl.paths import Paths
from etl.publish import stats
from etl.records import schema


def section(memory: duckdb.DuckDBPyConnection, name: str) -> list[tuple[object, ...]]:
    (found,) = stats.sections(memory, [name])
    return found.answer.rows


def test_runs_are_counted_by_what_they_tell(memory: duckdb.DuckDBPyConnection) -> None:
    counts = dict(section(memory, "counts"))
    wanted = {
        "training runs": 3,
        "- dense": 1,
        "- mixture of experts": 1,
        "- with a parallel layout": 2,
        "- with tokens and hardware": 2,
        "- estimates of undisclosed runs": 1,
        "phases of runs": 4,
        "- measured rows": 2,
        "- dated sizes": 2,
    }
    assert wanted.items() <= counts.items()


def test_sourcing_adds_up_and_counts_second_hand_apart(memory: duckdb.DuckDBPyConnection) -> None:
    (run,) = [row for row in section(memory, "sourcing") if row[0] == "run"]
    # 36 cited values: 1 derived, 2 estimated, 1 second-hand, the other 32 printed; two fields said not to be disclosed.
    assert run == ("run", 36, 88.9, 2.8, 5.6, 2.8, 2)


def test_years_tell_dense_from_sparse(memory: duckdb.DuckDBPyConnection) -> None:
    assert section(memory, "years") == [("2024", 1, 1, 0, 1, 0, 0), ("2025", 2, 0, 1, 1, 1, 0)]


def test_accelerators_are_counted_by_run_and_phase(memory: duckdb.DuckDBPyConnection) -> None:
    assert section(memory, "accelerators") == [("Chip A", 2, 3, 64), ("not stated", 1, 1, 200)]


def test_coverage_counts_a_range_as_known_and_names_what_is_hidden(
    memory: duckdb.DuckDBPyConnection, house: Paths
) -> None:
    rows = {(row[0], row[1]): row[3:] for row in stats.coverage(memory, schema.load(house.schemas)).answer.rows}
    assert rows["phases", "accelerators"] == (4, 4, 100.0, 0)
    assert rows["phases", "recompute"] == (0, 4, 0.0, 1)
    assert rows["runs", "tokens"] == (2, 3, 66.7, 1)
    assert ("runs", "tokens_low") not in rows
