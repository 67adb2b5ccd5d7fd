"""The capacity of a card is one number, whoever asks: database, page, verdicts, `fit` and `predict`."""

import math
from pathlib import Path

import pytest

from analysis.layout.columns import in_base_units
from analysis.records.facts import QUERIES
from analysis.records.load import load
from analysis.whatif.fit import card_gib as of_fit
from etl.database import building
from etl.paths import Paths
from schemas.capacity import card_gib

ROOT = Path(__file__).parents[1]
KINDS = ("accelerator", "system", "model", "run", "calibration")


def test_every_reader_finds_the_same_capacity_for_every_accelerator() -> None:
    with building.memory(Paths(ROOT), KINDS) as connection:
        sizes = connection.execute("select id, usable_memory_gib, hbm_gib, hbm_gb from record.accelerators").fetchall()
        view = dict(connection.execute("select accelerator, card_gib from accelerator_capacity").fetchall())
        page = connection.execute("select distinct accelerator, card_gib from phase_summary").fetchall()
        verdicts = connection.execute((QUERIES / "phases.sql").read_text("utf-8")).df()
        catalogue = load(connection)
    expected = {name: card_gib(*rest) for name, *rest in sizes if any(rest)}
    unknown = {name for name, *rest in sizes if not any(rest)}
    assert all(value is not None and value > 0 for value in expected.values())
    assert {name: gib for name, gib in view.items() if name not in unknown} == pytest.approx(expected)
    assert {view[name] for name in unknown} <= {None}
    engine = dict(in_base_units(catalogue.accelerators)["card"] / 2**30)
    assert {name: engine[name] for name in expected} == pytest.approx(expected)
    assert all(math.isnan(engine[name]) for name in unknown)
    assert {name: of_fit(name, catalogue) for name in expected} == pytest.approx(expected)
    assert {name: gib for name, gib in page if name} == pytest.approx({n: expected[n] for n, _ in page if n})
    judged = verdicts[verdicts["placed_on"].notna()]
    assert dict(zip(judged["placed_on"], judged["card_gib"], strict=True)) == pytest.approx(
        {name: expected[name] for name in judged["placed_on"]}
    )


def test_a_size_is_read_in_the_unit_that_the_maker_prints() -> None:
    # TPU v4: 32 GiB (Cloud TPU documentation). 80 GB are 80e9 / 2^30 = 74.506 GiB. An H100 reports 79.11 GiB.
    assert card_gib(None, 32, None) == 32
    assert card_gib(None, None, 80) == pytest.approx(74.506, abs=1e-3)
    assert card_gib(79.11, None, 80) == 79.11
    assert card_gib(None, None, None) is None
