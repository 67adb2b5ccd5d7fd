"""Axes, units and widths against what papers, standards and arithmetic say of them."""

import pint
import pytest

from etl.records import schema
from schemas import axes, conventions, units
from schemas.tables import FOLDER

QUANTITIES = pint.UnitRegistry()
for line in ("FLOP = [work]", "OP = [operation]", "USD = [money]", "tCO2e = [emission]", "token = [text] = _ = tokens"):
    QUANTITIES.define(line)


def test_dense_layers_are_cut_by_four_axes_and_experts_by_three_beside_the_pipeline() -> None:
    # Megatron-Core's process groups: tp-cp-dp-pp for dense layers, expert tp-ep-expert dp-pp for experts.
    assert set(axes.FACTORS) == {"tp", "cp", "pp", "dp"}
    assert set(axes.EXPERT_FACTORS) == {"etp", "ep", "pp", "edp"}


def test_every_axis_is_a_field_of_a_layout() -> None:
    layout = schema.load(FOLDER).kind("run").properties["phases"].items
    assert layout is not None
    assert set(axes.BY_NAME) <= set(layout.properties["layout"].properties)


@pytest.mark.parametrize("name", units.UNITS)
def test_factors_are_those_of_pint(name: str) -> None:
    unit = units.UNITS[name]
    assert QUANTITIES(name).to(unit.base).magnitude == pytest.approx(unit.factor, rel=1e-12)


@pytest.mark.parametrize("suffix", units.SUFFIXES)
def test_every_ending_promises_a_known_unit(suffix: str) -> None:
    assert units.split(f"size{suffix}") == ("size", units.UNITS[units.SUFFIXES[suffix]])


def test_widths_of_block_formats_by_hand() -> None:
    # MX: 32 elements share one byte. NVFP4: 16 elements of half a byte share one byte.
    assert conventions.ELEMENT_BYTES["mxfp8"] == (32 * 1 + 1) / 32
    assert conventions.ELEMENT_BYTES["mxfp4"] == (32 * 0.5 + 1) / 32
    assert conventions.ELEMENT_BYTES["nvfp4"] == (16 * 0.5 + 1) / 16


def test_every_convention_is_one_that_a_record_may_name() -> None:
    phase = schema.load(FOLDER).kind("run").properties["phases"].items
    assert phase is not None
    named = phase.properties["reported"].properties["mfu_basis"].enum
    assert {*conventions.FLOP_FACTS, "unstated"} == set(named)
