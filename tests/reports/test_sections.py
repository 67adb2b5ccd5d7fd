"""What the sections say about numbers that a test can check by hand."""

import pytest

from reports.page.questions import questions
from reports.story.breaks import section as plateau
from reports.story.engine import section as engine
from reports.story.layout_map import section as axes
from reports.story.memory_by_stage import section as memory_by_stage
from reports.story.mfu.section import gap_variant, gap_words
from reports.story.mfu_definitions import section as definitions
from reports.story.states import section as fit
from reports.story.two_layouts import section as layouts


def figures(section, source):
    return {figure.id: figure for figure in section.figures(source)}


def test_the_state_of_405b_is_sixteen_bytes_per_parameter(source):
    figure = figures(fit, source)["fit-llama-3-1-405b"]
    assert sum(row[-1].raw for row in figure.table.rows) == pytest.approx(405_853_388_800 * 16 / 1e9)
    assert (
        "6.5 TB of state, 76 times" in figure.words.title.en
    )  # 6,493.7 GB / (79.1 GiB usable of an H100 = 84.9 GB) = 76.5


def test_two_layouts_stand_side_by_side_with_their_ratio(source):
    figure = figures(layouts, source)["two-layouts"]
    assert "16,384 accelerators" in figure.words.title.en
    assert "8.0 times fewer" in figure.words.title.en  # 16,384 / 2,048


def test_memory_is_drawn_for_every_stage_in_order(source):
    figure = figures(memory_by_stage, source)["memory-llama-3-1-405b"]
    drawn = [row for rows in figure.specs["en"]["datasets"].values() for row in rows]
    assert {row["stage"] for row in drawn if "stage" in row} == set(range(16))


def test_a_layout_larger_than_its_box_is_marked():
    row = {"tp": 16, "ep": None, "cp": None, "dp": 128, "derived": ["dp"], "sparsity": "moe", "leaves_one": False}
    assert axes._cell("tp", row, 8) == {"text": "16", "shade": 4, "leaves": True}
    assert axes._cell("dp", row, None)["text"] == "≈128"
    assert axes._cell("cp", row, None)["text"] == "?"
    assert axes._cell("ep", row | {"sparsity": "dense"}, 8)["text"] == "–"
    # three printed degrees that give the accelerators leave 1 for the fourth
    assert axes._cell("cp", row | {"leaves_one": True}, None)["text"] == "≈1"


@pytest.mark.parametrize(("low", "high", "said"), [(1, 9, "lower"), (-2, 9, "none"), (-9, -1, "higher")])
def test_a_gap_whose_interval_holds_zero_is_no_gap(low, high, said):
    assert gap_variant({"value": (low + high) / 200, "low": low / 100, "high": high / 100}) == said


def test_a_gap_in_favour_of_moe_is_given_as_a_positive_distance():
    assert gap_words({"value": -0.05, "low": -0.09, "high": -0.01}) == {"points": "5", "low": "1", "high": "9"}


def test_the_plateau_says_cannot_tell_when_the_test_does(source):
    assert plateau.preference(source) == "cannot"
    _, answer, link = questions(source)[2]
    assert answer.en.startswith("Cannot tell: too few frontier runs since 2024")  # two runs in the small record
    assert link == "#compute"


def test_the_break_is_shown_with_both_ends_of_its_interval(source):
    (figure,) = plateau.figures(source)
    assert figure.table.rows[0][5].text.en == "2023-07 (2022-01 – 2024-07)"


def test_the_famous_41_percent_leads_to_its_table(source):
    _, answer, link = questions(source)[3]
    assert "41%" in answer.en
    assert link == "runs/meta/llama-3.1-405b.html"


def test_every_definition_of_mfu_has_its_line(source):
    figure = figures(definitions, source)["mfu-definitions"]
    assert [row[0].raw for row in figure.context["table"].rows][:4] == ["6nd", "model-flops", "causal", "as-reported"]


def test_the_engine_is_told_by_its_ratios(source):
    # ten seconds modelled as 9, 10 and 12: ratios 0.9, 1 and 1.2, errors 10, 0 and 20 %, two of three in the interval
    table = figures(engine, source)["engine-measured"].table
    keys = [key for key, _ in table.heads]
    row = next(
        dict(zip(keys, cells, strict=True))
        for cells in table.rows
        if "Acme" in cells[0].raw or "Chip A" in cells[0].raw
    )
    assert row["n"].raw == 3
    assert row["ratio"].raw == pytest.approx(1.0)
    assert row["ratio_low"].raw == pytest.approx(0.92)  # a fifth of the way from 0.9 to 1
    assert row["ratio_high"].raw == pytest.approx(1.16)
    assert row["error_median"].raw == pytest.approx(0.1)
    assert row["covered"].raw == pytest.approx(2 / 3)
