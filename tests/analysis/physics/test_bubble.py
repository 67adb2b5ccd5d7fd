"""Idle time of pipelines against the papers' tables and by walking a schedule through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import bubble

ONE = np.array([1.0])


def walk_1f1b(pp: int, micro_batches: int, forward: float, backward: float) -> float:
    """Length of a 1F1B step, each stage working off its list as soon as its neighbours have delivered."""
    lists = []
    for stage in range(pp):
        warm = min(pp - stage, micro_batches)
        order = [("f", i) for i in range(warm)]
        for i in range(micro_batches):
            order += [("b", i)] + ([("f", i + warm)] if i + warm < micro_batches else [])
        lists.append(order)
    done: dict[tuple[str, int, int], float] = {}
    clock = [0.0] * pp
    while any(lists):
        for stage in range(pp):
            while lists[stage]:
                kind, i = lists[stage][0]
                before = (kind, i, stage - 1 if kind == "f" else stage + 1)
                if 0 <= before[2] < pp and before not in done:
                    break
                start = max(clock[stage], done.get(before, 0.0))
                clock[stage] = done[kind, i, stage] = start + (forward if kind == "f" else backward)
                lists[stage].pop(0)
    return max(clock)


@pytest.mark.parametrize(("pp", "m"), [(2, 2), (4, 8), (8, 32), (8, 3)])
def test_1f1b_bubble_equals_a_walk_through_the_schedule(pp: int, m: int) -> None:
    idle = float(
        bubble.idle_seconds(bubble.Schedule.ONE_F_ONE_B, pp, 1, m, (ONE, 2 * ONE, ONE), 3.0 * (pp - 1) * ONE)[0]
    )
    assert 3.0 * m + idle == pytest.approx(walk_1f1b(pp, m, 1.0, 2.0))


def test_sixteen_stages_and_micro_batches_idle_94_percent_of_the_work() -> None:
    assert float(bubble.classic_bubble(16, 16, 1, stage=1 / 16)) == 0.9375
    assert float(bubble.classic_bubble(16, 16, 8, stage=1 / 16)) == pytest.approx(0.117, abs=5e-4)


def test_llama_405b_could_not_reach_its_41_percent_without_interleaving() -> None:
    # 48.4 % of a step idle leaves 51.6 % before any other loss.
    assert float(bubble.utilisation_ceiling(16, 16)) == pytest.approx(0.516, abs=5e-4)


def test_interleaving_divides_the_wait_by_the_virtual_stages() -> None:
    assert float(bubble.classic_bubble(8, 8, 4, stage=3.0)) == 7 * 3.0 / 4


def test_uneven_stages_wait_for_the_sum_of_the_others() -> None:
    assert float(bubble.classic_bubble(4, 8, 1, stage=3.0, others=8.0)) == 8.0


def test_zb1p_matches_both_papers() -> None:
    # arXiv:2412.19437, table 2: (p-1)(F+B-2W); arXiv:2401.10241, table 1 with B split: (p-1)(F+B'-W)
    f, b_input, w = 1.0, 1.5, 0.75
    assert float(bubble.zero_bubble_1p(8, f, b_input + w, w)) == pytest.approx(7 * (f + b_input - w))


def test_dualpipe_matches_its_paper() -> None:
    # (PP/2 - 1)(F&B + B - 3W)
    assert float(bubble.dualpipe_bubble(16, backward=2.5, weight=1.0, overlapped=3.25)) == pytest.approx(7 * 2.75)
    assert float(bubble.dualpipe_bubble(2, 2.0, 1.0, 3.0)) == 0.0


def test_bubbles_are_never_negative() -> None:
    assert float(bubble.zero_bubble_1p(8, 1.0, 1.0, 2.0)) == 0.0
    assert float(bubble.dualpipe_bubble(8, 1.0, 2.0, 1.0)) == 0.0


def test_critical_path_by_hand() -> None:
    # 2 micro-batches on 8 stages: 9 forward and input-gradient pairs of 2, then one weight gradient
    assert float(bubble.critical_path(8, 2, 1.0, 2.0, 1.0)) == 9 * 2.0 + 1.0


def test_few_micro_batches_bind_zero_bubble_schedules() -> None:
    idle = bubble.idle_seconds(bubble.Schedule.ZB_2P, 8, 1, 2, (ONE, 2 * ONE, ONE), 21 * ONE)
    assert float(idle[0]) == 19.0 - 2 * 3.0


def test_enough_micro_batches_leave_zb2p_no_bubble() -> None:
    assert float(bubble.idle_seconds(bubble.Schedule.ZB_2P, 8, 1, 64, (ONE, 2 * ONE, ONE), 21 * ONE)[0]) == 0.0


def test_zbv_reaches_the_last_chunk_in_half_the_stages() -> None:
    # depth (8 + 1)/2: (2 + 3.5) * 2 + 1 = 12, six of them busy
    assert float(bubble.idle_seconds(bubble.Schedule.ZB_V, 8, 2, 2, (ONE, 2 * ONE, ONE), 21 * ONE)[0]) == 6.0


def test_zb1p_row_of_a_table_by_hand() -> None:
    f, b, w = ONE, 2.5 * ONE, ONE
    assert float(bubble.idle_seconds(bubble.Schedule.ZB_1P, 8, 1, 64, (f, b, w), 24.5 * ONE)[0]) == 7 * 1.5


def test_dualpipe_row_of_a_table_by_hand() -> None:
    # overlapped forward and backward take F + B = 3: 3 * (3 + 2 - 3)
    assert float(bubble.idle_seconds(bubble.Schedule.DUALPIPE, 8, 1, 64, (ONE, 2 * ONE, ONE), 21 * ONE)[0]) == 6.0


@pytest.mark.parametrize("code", list(bubble.SCHEDULES.values()))
def test_one_stage_never_idles(code: float) -> None:
    assert float(bubble.idle_seconds(code, 1, 1, 4, (ONE, 2 * ONE, ONE), 0 * ONE)[0]) == 0.0


def test_gpipe_and_1f1b_idle_alike() -> None:
    one, other = (
        float(bubble.idle_seconds(code, 8, 1, 16, (ONE, 2 * ONE, ONE), 21 * ONE)[0])
        for code in (bubble.Schedule.GPIPE, bubble.Schedule.ONE_F_ONE_B)
    )
    assert one == other == 21.0


@given(st.integers(2, 64), st.integers(1, 8))
def test_interleaving_divides_the_bubble_by_its_chunks(pp: int, rounds: int) -> None:
    plain, chunks = (float(bubble.classic_bubble(pp, rounds * pp, v, stage=1.0)) for v in (1, 4))
    assert chunks == pytest.approx(plain / 4)


@given(st.integers(2, 64), st.integers(1, 64), st.sampled_from([1, 2, 8]))
def test_no_schedule_beats_the_path_of_one_micro_batch(pp: int, m: int, vpp: int) -> None:
    # whatever the chunks, one micro-batch passes every stage, and the slowest stage works off all m
    step = m + float(bubble.classic_bubble(pp, m, vpp, stage=1.0))
    assert step >= max(pp, m) - 1e-9


@pytest.mark.parametrize(("pp", "vpp", "m", "least"), [(16, 2, 4, 17.5), (16, 4, 4, 16.75)])
def test_interleaving_cannot_fill_a_pipeline_with_few_micro_batches(pp: int, vpp: int, m: int, least: float) -> None:
    # 16 stages plus (m - 1)/v of one: at most 4/17.5 = 22.9 % work
    assert m + float(bubble.classic_bubble(pp, m, vpp, stage=1.0)) == pytest.approx(least)
    assert float(bubble.utilisation_ceiling(pp, m, vpp)) == pytest.approx(m / least)


def test_vector_equals_scalars() -> None:
    codes = np.arange(7.0)
    passes = (np.full(7, 1.0), np.full(7, 2.2), np.full(7, 0.9))
    table = bubble.idle_seconds(codes, 8, 2, 16, passes, np.full(7, 22.4))
    one = (passes[0][:1], passes[1][:1], passes[2][:1])
    each = [float(bubble.idle_seconds(c, 8, 2, 16, one, np.array([22.4]))[0]) for c in codes]
    assert table.tolist() == each
