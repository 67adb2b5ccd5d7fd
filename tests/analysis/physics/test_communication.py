"""Bytes on the wire against hand counts and the figures that papers print."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import communication as comm


def test_ring_all_reduce_sends_two_passes_less_one_share() -> None:
    assert float(comm.ring_factor(4)) == 1.5
    assert float(comm.ring_factor(4, passes=1)) == 0.75


def test_all_reduce_of_eight_h100_by_hand() -> None:
    # 2 * 7/8 * 1e9 / 450e9 + 14 hops of 5 us
    assert float(comm.collective_seconds(1e9, 8, 450e9, latency=5e-6)) == pytest.approx(1.75e9 / 450e9 + 70e-6)


def test_all_gather_is_half_of_an_all_reduce() -> None:
    both = comm.collective_seconds(1e9, 8, 450e9), comm.collective_seconds(1e9, 8, 450e9, passes=1.0)
    assert float(both[0]) == pytest.approx(2 * float(both[1]))


def test_two_ranks_swap_halves_twice() -> None:
    assert float(comm.collective_seconds(1e9, 2, 100e9)) == pytest.approx(0.01)


def test_one_rank_never_waits() -> None:
    assert float(comm.collective_seconds(1e9, 1, np.inf, latency=1.0)) == 0.0


def test_tensor_operand_of_gpt3() -> None:
    # 2 B * 1 * 2048 * 12288 (Narayanan et al. 2021, GPT-3 175B)
    assert float(comm.tensor_operand_bytes(1, 2048, 12288)) == 50_331_648


def test_context_parallelism_divides_the_tensor_operand() -> None:
    assert float(comm.tensor_operand_bytes(2, 2048, 12288, cp=4)) == 25_165_824


def test_a_layer_reduces_four_operands_and_six_with_full_recompute() -> None:
    plain = comm.tensor_bytes(1.0, layers=12, micro_batches=5, tp=8)
    again = comm.tensor_bytes(1.0, layers=12, micro_batches=5, tp=8, recompute_forwards=1.0)
    assert (float(plain), float(again)) == (240.0, 360.0)


def test_no_tensor_traffic_without_tensor_parallelism() -> None:
    assert float(comm.tensor_bytes(1e9, 12, 5, tp=1)) == 0.0


def test_stage_boundary_of_gpt3_with_eight_tensor_ranks() -> None:
    assert float(comm.pipeline_boundary_bytes(1, 2048, 12288, tp=8)) == 6_291_456
    assert float(comm.pipeline_boundary_bytes(1, 2048, 12288, tp=8, cp=2)) == 3_145_728


def test_interleaving_multiplies_stage_traffic() -> None:
    # forward and backward, 64 micro-batches, 3 chunks
    assert float(comm.pipeline_bytes(1.0, 64, pp=8, vpp=3)) == 384
    assert float(comm.pipeline_bytes(1.0, 64, pp=1)) == 0


def test_zero_stages_move_two_two_two_three_passes() -> None:
    # Rajbhandari et al. 2019 (arXiv:1910.02054), sec. 7: 2 psi for ZeRO 1 and 2, 3 psi for ZeRO 3.
    assert comm.data_passes(np.array([0, 1, 2, 3])).tolist() == [2, 2, 2, 3]


@pytest.mark.parametrize(("stage", "reduce", "gather"), [(0, 4, 0), (1, 2, 2), (2, 2, 2), (3, 2, 4)])
def test_buffers_of_each_zero_stage_in_bytes_per_parameter(stage: int, reduce: float, gather: float) -> None:
    # ZeRO 1 and 2 gather parameters, not optimizer states.
    # https://github.com/stas00/ml-engineering/issues/122
    volume = comm.data_bytes(1.0, stage)
    assert (float(volume["reduce"]), float(volume["gather"])) == (reduce, gather)
    assert float(sum(volume.values())) == 2 * float(comm.data_passes(stage))


def test_fp32_gradients_double_what_is_reduced() -> None:
    assert float(comm.data_bytes(1.0, 1, gradient_bytes=4.0)["reduce"]) == 4.0


def test_only_zero_3_repeats_with_every_micro_batch() -> None:
    assert float(comm.data_bytes(1.0, 3, gathers=5)["gather"]) == 20.0
    assert float(comm.data_bytes(1.0, 2, gathers=5)["gather"]) == 2.0


def test_context_exchange_by_hand() -> None:
    # 3 passes * 2 B * 8192 tokens * 2*8*128/8 elements * 10 layers * 2 micro-batches
    width = 2 * 8 * 128 / 8
    assert float(comm.context_bytes(3, 8192, width, 10, 2, cp=2)) == 3 * 3 * 2 * 8192 * 256 * 20
    assert float(comm.context_bytes(3, 8192, width, 10, 2, cp=1)) == 0


def test_deepseek_v3_sends_57_kb_and_receives_115_kb_per_token() -> None:
    # 8 experts * 7168, FP8 dispatch and BF16 combine (arXiv:2412.19437, sec. 3.3)
    one = comm.expert_token_bytes(8, 7168, dispatch_bytes=comm.FP8_BYTES)
    assert (float(one["dispatch"]), float(one["combine"])) == (57_344, 114_688)


def test_expert_traffic_counts_four_exchanges_and_recompute_two_more() -> None:
    one = comm.expert_token_bytes(2, 100)
    plain = comm.expert_bytes(10, one, moe_layers=3, ep=4)
    again = comm.expert_bytes(10, one, moe_layers=3, ep=4, recompute_forwards=1.0)
    assert float(plain) == 0.75 * 10 * 3 * 4 * 400
    assert float(again) == 0.75 * 10 * 3 * 6 * 400


def test_communication_hides_in_its_window_but_for_a_share() -> None:
    assert float(comm.exposed_seconds(2.0, window=10.0, exposed_share=0.25)) == 0.5
    assert float(comm.exposed_seconds(8.0, window=3.0, exposed_share=0.25)) == 2.0 + 3.0


def test_bus_bandwidth_is_algorithm_bandwidth_times_the_ring_factor() -> None:
    # https://github.com/NVIDIA/nccl-tests/issues/236: all-reduce busbw = algbw * 2(n-1)/n
    size, seconds = 8, 0.01
    algorithm = 1e9 / seconds
    assert float(comm.collective_seconds(1e9, size, algorithm * comm.ring_factor(size))) == pytest.approx(seconds)


@given(st.floats(1e3, 1e12), st.integers(2, 1024), st.floats(1e9, 1e12))
def test_twice_the_bandwidth_halves_the_time(buffer: float, size: int, bandwidth: float) -> None:
    once = float(comm.collective_seconds(buffer, size, bandwidth))
    assert float(comm.collective_seconds(buffer, size, 2 * bandwidth)) == pytest.approx(once / 2)


def test_vector_equals_scalars() -> None:
    sizes = [1, 2, 8, 1024]
    each = [float(comm.collective_seconds(1e9, n, 50e9)) for n in sizes]
    assert comm.collective_seconds(1e9, np.array(sizes), 50e9).tolist() == each
