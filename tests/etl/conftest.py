"""A made-up house of fourteen records, small enough to count by hand, and the database made of it."""

import shutil
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from etl.database import building
from etl.paths import Paths
from etl.records import loading

ROOT = Path(__file__).parents[2]
HOUSE = ROOT / "tests" / "data" / "house"


def copied(place: Path) -> Paths:
    shutil.copytree(HOUSE, place / "data")
    shutil.copytree(ROOT / "schemas", place / "schemas")
    return Paths(place)


@pytest.fixture
def house(tmp_path: Path) -> Paths:
    """A checkout of its own with the made-up records and our schemas."""
    return copied(tmp_path)


@pytest.fixture(scope="session")
def built(tmp_path_factory: pytest.TempPathFactory) -> Paths:
    """A checkout with its database built, shared by tests that only read it."""
    paths = copied(tmp_path_factory.mktemp("built"))
    building.build(paths, loading.load(paths.data))
    return paths


@pytest.fixture(scope="session")
def shared_memory(tmp_path_factory: pytest.TempPathFactory) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database of the house in memory, made once."""
    with building.memory(copied(tmp_path_factory.mktemp("memory"))) as connection:
        yield connection


@pytest.fixture
def memory(shared_memory: duckdb.DuckDBPyConnection) -> Iterator[duckdb.DuckDBPyConnection]:
    """The database of the house in memory, result tables empty; what a test changes is undone after it."""
    shared_memory.begin()
    yield shared_memory
    shared_memory.rollback()
