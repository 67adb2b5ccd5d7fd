"""Runs of post-training have a view of their own and stand in none of pretraining."""

import duckdb
import pytest

House = duckdb.DuckDBPyConnection


@pytest.fixture
def tuned(memory: House) -> House:
    """The made-up records and one run of RL on the dense model, of 500 hours on the same chip as its base."""
    memory.execute(
        "insert into record.runs (id, name, organization, model, purpose, released, compute_flop, accelerator_hours,"
        " base, base_run, steps, prompts_per_step, samples_per_prompt, rollouts)"
        " values ('acme/tuned', 'Tuned', 'Acme', 'acme/dense', 'rl', '2026-01-01', 1e30, 500, 'acme/dense',"
        " 'acme/dense', 100, 32, 16, 51200)"
    )
    memory.execute(
        "insert into record.phases (run_id, position, name, accelerator, accelerators, tp, reported_mfu)"
        " values ('acme/tuned', 1, 'main', 'acme/chip-a', 512, 8, 0.4)"
    )
    memory.execute("update record.runs set accelerator_hours = 20000 where id = 'acme/dense'")
    return memory


@pytest.mark.parametrize("view", ["frontier_compute", "mfu_comparable", "disclosure", "layout_map"])
def test_views_on_pretraining_leave_it_out(tuned: House, view: str) -> None:
    assert tuned.view(view).filter("run_id = 'acme/tuned'").fetchall() == []


def test_the_largest_cluster_is_one_of_pretraining(tuned: House) -> None:
    assert tuned.execute("select count(*) from cluster_sizes where id = 'acme/tuned'").fetchone() == (0,)


def test_its_own_view_sets_it_beside_the_hours_of_its_base(tuned: House) -> None:
    accelerator = tuned.execute("select accelerator from run_summary where run_id = 'acme/dense'").fetchone()
    tuned.execute("update record.phases set accelerator = ? where run_id = 'acme/tuned'", accelerator)
    found = tuned.execute("select run_id, rollouts, base_accelerator_hours, share_of_base_hours from post_training")
    # 500 / 20,000 by hand; 100 steps x 32 prompts x 16 responses are 51,200.
    assert found.fetchall() == [("acme/tuned", 51200, 20000.0, 0.025)]


def test_hours_of_unlike_chips_are_not_divided(tuned: House) -> None:
    tuned.execute("update record.phases set accelerator = 'acme/other' where run_id = 'acme/tuned'")
    assert tuned.execute("select share_of_base_hours from post_training").fetchall() == [(None,)]
