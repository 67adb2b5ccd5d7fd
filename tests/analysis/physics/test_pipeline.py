"""Layers per stage and micro-batches in flight against papers, and by walking schedules through."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import bubble, pipeline
from analysis.physics.architecture import describe
from analysis.physics.split import split

from .published import DEEPSEEK_V3


def held(layers: int, pp: int, vpp: int = 1) -> list[int]:
    """Layers of every stage."""
    every = (pipeline.layers_on_stage(np.asarray(float(layers)), pp, vpp, np.asarray(float(i))) for i in range(pp))
    return [int(x) for x in every]


def flying(schedule: float, pp: int, vpp: int, stage: int, micro_batches: int) -> float:
    """Micro-batches in flight on one stage."""
    return float(pipeline.in_flight(np.asarray(schedule), pp, vpp, np.asarray(float(stage)), micro_batches))


@pytest.mark.parametrize(
    ("layers", "pp", "vpp", "stages"),
    [
        (96, 8, 1, [12] * 8),
        (126, 16, 1, [7, *[8] * 14, 7]),  # Llama 3, arXiv:2407.21783, sec. 3.3.2: one layer less on both ends
        (22, 8, 1, [2, *[3] * 6, 2]),  # zero bubble, arXiv:2401.10241, table 3: 1.5B on 8 stages
        (61, 16, 1, [3, *[4] * 14, 2]),
        (27, 4, 1, [7, 7, 7, 6]),
        (126, 8, 4, [15, *[16] * 6, 15]),
        (32, 24, 1, [2] * 8 + [1] * 16),
        (5, 1, 1, [5]),
    ],
)
def test_uneven_splits_are_lighter_at_the_ends(layers: int, pp: int, vpp: int, stages: list[int]) -> None:
    assert held(layers, pp, vpp) == stages


@given(st.integers(1, 200), st.integers(1, 32), st.integers(1, 4))
def test_no_layer_is_lost_or_doubled(layers: int, pp: int, vpp: int) -> None:
    stages = held(layers, pp, vpp)
    assert sum(stages) == layers
    assert min(stages) >= 0


def test_dense_first_layers_sit_on_the_first_stages() -> None:
    deep = describe(DEEPSEEK_V3)
    places = [pipeline.place(deep, split(seq_len=1, pp=16), np.asarray(float(i))) for i in range(16)]
    assert sum(int(p.moe_layers) for p in places) == 58
    assert [int(p.moe_layers) for p in places[:3]] == [0, 4, 4]


def test_stated_splits_count_dense_layers_from_the_layers_before() -> None:
    deep = describe(DEEPSEEK_V3)
    args = (split(seq_len=1, pp=16), np.asarray(1.0), np.asarray(4.0), np.asarray(1.0))
    assert int(pipeline.place(deep, *args).moe_layers) == 2


def test_dense_layers_of_interleaved_stages_are_those_of_their_first_chunk() -> None:
    # 64 layers on 4 stages of 4 chunks, 0-3, 4-7, ... in turn; 6 dense layers fill one chunk and half of another
    arch = describe({"layers": 64, "experts": 8, "dense_layers": 6})
    cut = split(seq_len=1, pp=4, vpp=4)
    assert [int(pipeline.place(arch, cut, np.asarray(float(i))).moe_layers) for i in range(4)] == [12, 14, 16, 16]


def test_layers_before_a_stated_stage_are_spread_over_its_chunks() -> None:
    arch = describe({"layers": 16, "experts": 8, "dense_layers": 3})
    cut, layers, before = split(seq_len=1, pp=2, vpp=2), np.asarray(8.0), np.asarray(8.0)
    assert int(pipeline.place(arch, cut, np.asarray(1.0), layers, before).moe_layers) == 8
    assert int(pipeline.place(arch, cut, np.asarray(1.0), layers, np.asarray(4.0)).moe_layers) == 7


def test_every_second_layer_can_be_moe() -> None:
    arch = describe({"layers": 24, "experts": 8, "moe_layer_step": 2})
    assert int(arch.moe_layers) == 12
    assert int(pipeline.place(arch, split(seq_len=1, pp=4), np.asarray(2.0)).moe_layers) == 3


def walk(pp: int, micro_batches: int, stage: int) -> int:
    """Most micro-batches between their forward and backward on one stage of 1F1B, by going through its order."""
    warm = min(pp - stage - 1, micro_batches)
    order = [1] * warm + [1, -1] * (micro_batches - warm) + [-1] * warm
    return int(np.cumsum(order).max())


@given(st.integers(2, 16), st.integers(1, 64), st.data())
def test_1f1b_holds_what_a_walk_through_its_order_holds(pp: int, micro_batches: int, data: st.DataObject) -> None:
    stage = data.draw(st.integers(0, pp - 1))
    assert flying(bubble.Schedule.ONE_F_ONE_B, pp, 1, stage, micro_batches) == walk(pp, micro_batches, stage)


@pytest.mark.parametrize(
    ("schedule", "stage", "kept"),
    [
        (bubble.Schedule.GPIPE, 0, 64),
        (bubble.Schedule.GPIPE, 7, 64),
        (bubble.Schedule.ONE_F_ONE_B, 0, 8),
        (bubble.Schedule.ONE_F_ONE_B, 7, 1),
        (bubble.Schedule.ZB_1P, 5, 8),  # arXiv:2401.10241, sec. 3.2: scheduled into the memory of p micro-batches
        (bubble.Schedule.ZB_2P, 5, 16),  # and of 2p
        (bubble.Schedule.ZB_V, 5, 8),
        (bubble.Schedule.DUALPIPE, 5, 9),  # arXiv:2412.19437, table 2: p + 1
    ],
)
def test_schedules_hold_what_their_papers_say(schedule: float, stage: int, kept: int) -> None:
    assert flying(schedule, 8, 1, stage, 64) == kept


@pytest.mark.parametrize("schedule", list(bubble.SCHEDULES.values()))
def test_no_schedule_holds_more_micro_batches_than_there_are(schedule: float) -> None:
    assert flying(schedule, 8, 2, 0, 3) <= 3


@pytest.mark.parametrize("schedule", list(bubble.SCHEDULES.values()))
def test_without_a_pipeline_one_micro_batch_is_held(schedule: float) -> None:
    assert flying(schedule, 1, 1, 0, 64) == 1


@pytest.mark.parametrize(("pp", "vpp", "factor"), [(8, 3, 1.29167), (4, 2, 1.375), (8, 1, 1.875)])
def test_interleaving_holds_more_on_the_first_stage(pp: int, vpp: int, factor: float) -> None:
    # Korthikanti et al. 2022 (arXiv:2205.05198), sec. 4.2.3: L (1 + (p-1)/(pv)) layers
    assert flying(bubble.Schedule.INTERLEAVED, pp, vpp, 0, 64) / pp == pytest.approx(factor, abs=5e-6)


def test_interleaving_holds_two_chunks_less_on_each_later_stage() -> None:
    assert [flying(bubble.Schedule.INTERLEAVED, 4, 4, stage, 64) * 4 for stage in range(4)] == [19, 17, 15, 13]


def test_only_dualpipe_keeps_two_copies_of_the_weights() -> None:
    copies = {name: float(pipeline.weight_copies(np.asarray(code))) for name, code in bubble.SCHEDULES.items()}
    assert {name for name, count in copies.items() if count == 2} == {"dualpipe"}


def test_an_unknown_schedule_is_unknown() -> None:
    assert np.isnan(flying(99.0, 8, 1, 0, 64))


def test_a_table_of_stages_is_its_stages() -> None:
    stages = np.arange(16.0)
    assert pipeline.layers_on_stage(np.asarray(126.0), 16, 1, stages).tolist() == held(126, 16)
    table = pipeline.in_flight(np.asarray(bubble.Schedule.ONE_F_ONE_B), 16, 1, stages, 64)
    assert table.tolist() == [16.0 - i for i in range(16)]
