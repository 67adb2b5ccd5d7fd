"""Accelerators, models and constants of the project's own records, read once."""

from pathlib import Path

import pytest

from analysis.records.load import Catalogue, load
from etl.database import building
from etl.paths import Paths

ROOT = Path(__file__).parents[2]


@pytest.fixture(scope="session")
def catalogue() -> Catalogue:
    with building.memory(Paths(ROOT), ("accelerator", "system", "model", "calibration")) as connection:
        return load(connection)
