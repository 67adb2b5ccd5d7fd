"""Each view gives the rows that the fourteen made-up records of tests/data/house must give, counted by hand."""

from datetime import date
from pathlib import Path
from typing import Any

import duckdb
import pytest

VIEWS = sorted((Path(__file__).parents[3] / "etl" / "database" / "views").glob("*.sql"))
House = duckdb.DuckDBPyConnection


def rows(house: House, query: str) -> list[tuple[Any, ...]]:
    return house.execute(query).fetchall()


def flops(house: House, run: str, phase: str | None, convention: str, total: float | None, mfu: float | None) -> None:
    values = [run, phase, convention, total, mfu]
    house.execute(
        "insert into result.flops (run_id, phase, convention, total_flop, implied_mfu) values (?, ?, ?, ?, ?)", values
    )


def verdict(house: House, run: str, status: str) -> None:
    house.execute("insert into result.verdicts (run_id, check_name, status) values (?, 'made up', ?)", [run, status])


def test_run_summary_has_one_row_per_run(memory: House) -> None:
    assert rows(memory, "select run_id, phases from run_summary") == [
        ("acme/dense", 2),
        ("acme/moe", 1),
        ("acme/secret", 1),
    ]


def test_run_summary_shows_the_layout_of_the_largest_phase(memory: House) -> None:
    found = rows(memory, "select phase, accelerators, tp, pp, dp, seq_len from run_summary where run_id = 'acme/dense'")
    assert found == [("large", 64, 8, 2, 4, 8192)]


def test_run_summary_shows_the_mfu_of_the_phase_that_has_one_and_names_it(memory: House) -> None:
    found = rows(
        memory, "select mfu_phase, mfu_reported, mfu_basis, mfu_status from run_summary where run_id = 'acme/dense'"
    )
    assert found == [("small", 0.4, "model-flops", "reported")]


def test_a_month_is_dated_by_its_first_day_and_says_so(memory: House) -> None:
    found = rows(memory, "select released, released_precision from run_summary where run_id = 'acme/dense'")
    assert found == [(date(2024, 3, 1), "month")]


def test_printed_parameters_stand_where_there_is_no_exact_count(memory: House) -> None:
    found = rows(memory, "select params_total, params_active from run_summary order by run_id")
    # The dense model prints one figure, which is also what every token passes; the secret one gives only a range.
    assert found == [(1e9, 1e9), (1e10, 2e9), (None, None)]


def test_an_exact_count_takes_the_place_of_the_printed_one(memory: House) -> None:
    for part, value in (("total", 10_000_123_456), ("active", 2_000_000_789)):
        memory.execute("insert into result.parameters (model_id, part, value) values ('acme/moe', ?, ?)", [part, value])
    found = rows(memory, "select params_total, params_active from run_summary where run_id = 'acme/moe'")
    assert found == [(10_000_123_456, 2_000_000_789)]


def test_published_compute_wins_and_estimates_are_called_so(memory: House) -> None:
    flops(memory, "acme/dense", None, "6nd", 9.9e99, None)
    found = rows(memory, "select compute_flop, compute_status, compute_basis from run_summary order by run_id")
    assert found == [(1.2e20, "reported", "6nd"), (None, None, None), (5e20, "estimated", None)]


def test_compute_is_computed_where_none_is_published(memory: House) -> None:
    # 6 * 2e9 active parameters * 3e10 tokens = 3.6e20
    flops(memory, "acme/moe", None, "6nd", 3.6e20, None)
    found = rows(
        memory, "select compute_flop, compute_status, compute_basis from run_summary where run_id = 'acme/moe'"
    )
    assert found == [(3.6e20, "computed", "6nd")]


@pytest.mark.parametrize(
    ("statuses", "worst"),
    [
        (("plausible", "unknown"), "plausible"),
        (("unknown", "unknown"), "unknown"),
        (("plausible", "strained", "unknown"), "strained"),
        (("strained", "impossible", "plausible"), "impossible"),
    ],
)
def test_a_run_is_as_bad_as_its_worst_check(memory: House, statuses: tuple[str, ...], worst: str) -> None:
    for status in statuses:
        verdict(memory, "acme/dense", status)
    assert rows(memory, "select verdict from run_summary where run_id = 'acme/dense'") == [(worst,)]


def test_disclosed_is_the_share_of_the_fifteen_facts_that_are_stated_or_follow(memory: House) -> None:
    # dense: all but batch size and recomputation; moe: parameters, architecture, accelerator, accelerators (derived),
    # tensor and data parallelism, precision, throughput; tokens are second-hand. The estimate discloses nothing.
    found = rows(memory, "select round(disclosed * 15) from run_summary order by run_id")
    assert found == [(13,), (8,), (0,)]


def test_phase_summary_takes_the_peak_of_the_precision(memory: House) -> None:
    found = rows(memory, "select run_id, phase, precision, peak_tflops from phase_summary where peak_tflops > 0")
    assert found == [
        ("acme/dense", "small", "bf16", 100),
        ("acme/dense", "large", "bf16", 100),
        ("acme/moe", "main", "fp8", 200),
    ]


def test_phase_summary_takes_links_from_the_system_and_else_from_the_accelerator(memory: House) -> None:
    query = (
        "select phase, scale_up_domain, scale_up_gb_s, scale_out_gbit_s from phase_summary where run_id = 'acme/dense'"
    )
    assert rows(memory, query) == [("small", 8, 450, 400), ("large", 64, 450, 200)]


def test_phase_summary_has_the_shape_of_the_model(memory: House) -> None:
    found = rows(memory, "select layers, hidden, experts from phase_summary where run_id = 'acme/moe'")
    assert found == [(16, 2048, 64)]


def test_views_hold_no_column_twice(memory: House) -> None:
    doubled = "select column_name from duckdb_columns() where schema_name = 'main' and column_name similar to '.*[:_]1'"
    assert rows(memory, doubled) == []


def test_mfu_comparable_tells_reported_from_converted(memory: House) -> None:
    found = rows(memory, "select run_id, phase, mfu_reported, status from mfu_comparable")
    assert found == [("acme/dense", "small", 0.4, "reported"), ("acme/moe", "main", None, "converted")]


def test_mfu_comparable_sets_recomputed_figures_beside_the_published_one(memory: House) -> None:
    for convention, mfu in (("6nd", 0.37), ("causal", 0.385), ("model-flops", 0.4)):
        flops(memory, "acme/dense", "small", convention, None, mfu)
    query = "select mfu_6nd, mfu_causal, mfu_model_flops, architecture from mfu_comparable where run_id = 'acme/dense'"
    assert rows(memory, query) == [(0.37, 0.385, 0.4, "alpha")]


def test_mfu_comparable_has_a_run_as_a_whole_only_where_no_phase_has_a_figure(memory: House) -> None:
    for run in ("acme/dense", "acme/secret"):
        flops(memory, run, None, "6nd", None, 0.3)
    found = rows(memory, "select run_id, phase, status from mfu_comparable where mfu_6nd = 0.3")
    assert found == [("acme/secret", None, "computed")]


def test_cluster_sizes_mixes_runs_and_points_in_order_of_time(memory: House) -> None:
    found = rows(memory, "select id, kind, accelerators, accelerators_low, status from cluster_sizes")
    assert found == [
        ("acme/dense", "run", 64, None, "reported"),
        ("acme-site", "cluster", 1000, None, "operating"),
        ("acme/secret", "run", None, 100, "estimated"),
        ("acme/moe", "run", 16, None, "reported"),
        ("acme-site", "cluster", None, 4000, "announced"),
    ]


def test_frontier_compute_marks_the_running_maximum(memory: House) -> None:
    flops(memory, "acme/moe", None, "6nd", 3.6e20, None)
    found = rows(memory, "select run_id, compute_flop, status, is_record from frontier_compute")
    # The estimate, released in 2025, is dated by the first day of that year: before the smaller run of 15 January.
    assert found == [
        ("acme/dense", 1.2e20, "reported", True),
        ("acme/secret", 5e20, "estimated", True),
        ("acme/moe", 3.6e20, "computed", False),
    ]


def test_layout_product_leaves_expert_parallelism_out(memory: House) -> None:
    found = rows(memory, "select run_id, phase, ep, product, product_matches from layout_map")
    # moe: 2 * 4 of 16 with pp and cp unstated; a factor of two may hide there, so nothing is claimed.
    assert found == [
        ("acme/dense", "small", None, 8, True),
        ("acme/moe", "main", 4, None, None),
        ("acme/dense", "large", None, 64, True),
    ]


@pytest.mark.parametrize(
    ("degrees", "matches"),
    [
        ((8, 1, 2, 5), False),  # 80 of 64, all stated
        ((8, None, 2, 4), True),  # 64 of 64: whatever is unstated is 1
        ((8, None, None, 3), False),  # 24 does not divide 64
    ],
)
def test_layout_product_is_judged_only_where_it_can_be(
    memory: House, degrees: tuple[int | None, ...], matches: bool
) -> None:
    memory.execute("update record.phases set tp = ?, cp = ?, pp = ?, dp = ? where name = 'large'", degrees)
    assert rows(memory, "select product_matches from layout_map where phase = 'large'") == [(matches,)]


def test_benchmark_summary_counts_rows_after_sharing_their_common_values(memory: House) -> None:
    query = "select rows, accelerators_min, accelerators_max, model_names, rows_doubtful from benchmark_summary"
    assert rows(memory, query) == [(2, 8, 16, ["Small"], 1)]


@pytest.mark.parametrize(
    ("run", "fact", "state"),
    [
        ("acme/dense", "tokens", "stated"),
        ("acme/dense", "recomputation", "not-disclosed"),
        ("acme/moe", "tokens", "second-hand"),
        ("acme/moe", "accelerators", "derived"),
        ("acme/moe", "batch size", "absent"),
        ("acme/secret", "compute", "absent"),  # an estimate of somebody else is no disclosure
    ],
)
def test_disclosure_says_how_each_fact_is_known(memory: House, run: str, fact: str, state: str) -> None:
    query = "select year, state from disclosure where run_id = ? and fact = ?"
    assert memory.execute(query, [run, fact]).fetchall() == [(2024 if run == "acme/dense" else 2025, state)]


def test_several_organizations_of_a_run_are_rows_of_their_own(memory: House) -> None:
    memory.execute("update record.runs set organization = 'Acme and Apex' where id = 'acme/moe'")
    query = "select position, organization, organization_id, country from run_organizations where run_id = 'acme/moe'"
    assert rows(memory, query) == [(1, "Acme", "acme", "US"), (2, "Apex", None, None)]
    assert rows(memory, "select country from run_summary") == [("US",)] * 3


def test_an_organization_with_and_in_its_name_is_one(memory: House) -> None:
    name = "University of This and That"
    memory.execute("update record.runs set organization = ? where id = 'acme/moe'", [name])
    memory.execute("insert into record.organizations (id, name, kind) values ('this', ?, 'academia')", [name])
    query = "select organization_id, organization_kind from run_organizations where run_id = 'acme/moe'"
    assert rows(memory, query) == [("this", "academia")]


def test_every_view_works_while_the_result_tables_are_empty(memory: House) -> None:
    names = [name for (name,) in rows(memory, "select view_name from duckdb_views() where not internal order by 1")]
    counts = {name: len(rows(memory, f"from {name}")) for name in names}
    assert counts == {
        "accelerator_capacity": 1,
        "benchmark_summary": 1,
        "cluster_sizes": 5,
        "disclosure": 45,
        "frontier_compute": 2,
        "layout_map": 3,
        "memory_groups": 0,
        "mfu_comparable": 2,
        "phase_summary": 4,
        "post_training": 0,
        "pretraining_runs": 3,
        "run_organizations": 3,
        "run_summary": 3,
    }


def test_every_view_says_what_one_row_is(memory: House) -> None:
    assert all(path.read_text("utf-8").startswith("-- One row per ") for path in VIEWS)
    assert len(VIEWS) == len(rows(memory, "select view_name from duckdb_views() where not internal"))
