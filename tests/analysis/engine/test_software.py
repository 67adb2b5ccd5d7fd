"""Constants by software: what the table says of it, what its subject says, and what stands for the unknown."""

from dataclasses import replace

import numpy as np
import pytest

from analysis.engine.software import COLUMNS, efficiency

from ..rows import read
from .shipped import CALIBRATION
from .test_rates import K


def test_software_replaces_what_tuned_recipes_do() -> None:
    k = replace(K, stacks={"nanotron": {"tp_exposed": 0.75, "passes": 4.0}})
    rows = read({"stack": "nanotron"}, {"stack": "Nanotron"}, {"stack": "other-trainer"}, {"stack": None})
    found = efficiency(rows, k)
    usual = k.efficiency.overlap.tp
    assert np.asarray(found.overlap.tp).tolist() == [0.75, 0.75, usual, usual]
    assert np.asarray(found.elementwise.passes).tolist()[:2] == [4.0, 4.0]
    assert found.attention is k.efficiency.attention


def test_software_that_is_not_known_takes_the_entry_other() -> None:
    k = replace(K, stacks={"nanotron": {"passes": 4.0}, "other": {"passes": 3.0}})
    found = efficiency(read({"stack": "nanotron"}, {"stack": "new"}, {"stack": None}), k)
    assert np.asarray(found.elementwise.passes).tolist() == [4.0, 3.0, 3.0]


def test_columns_name_constants_that_exist() -> None:
    for subject, field in COLUMNS.values():
        assert hasattr(getattr(K.efficiency, subject), field)


@pytest.mark.parametrize("column", sorted(COLUMNS))
def test_every_entry_of_the_time_has_a_source(column: str) -> None:
    entries = [habits[column] for habits in CALIBRATION["stacks"].values() if column in habits]
    assert [one for one in entries if not one.get("cite") and not one.get("note")] == []
