"""Seconds of one layer and of the head on a card of round numbers, by hand."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.physics import attention, elementwise, gemm, layers


def seconds(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def test_backward_products_take_twice_the_forward_half_of_it_weight_gradients(house: SimpleNamespace) -> None:
    passes = layers.linear_layer(house.model(), house.layout(), house.card(), house.neutral)["dense"]
    assert seconds(passes.backward) == pytest.approx(2 * seconds(passes.forward))
    assert seconds(passes.weight) == pytest.approx(seconds(passes.forward))


def test_dense_products_run_at_the_linear_rate(house: SimpleNamespace) -> None:
    # 6 * 2048 * 1024 * 4096 FLOP at 200 TFLOP/s
    passes = layers.linear_layer(house.model(), house.layout(), house.fast_card(), house.neutral)["dense"]
    assert seconds(passes.forward) == pytest.approx(6 * 2048 * 1024 * 4096 / 200e12)


def test_operand_bytes_follow_the_format(house: SimpleNamespace) -> None:
    work = gemm.dense_products(house.model(), 2048.0, 1.0)
    slow = house.card(linear_rate=np.inf)
    for size in (2.0, 1.0):
        lay = house.layout(linear_bytes=size)
        passes = layers.linear_layer(house.model(), lay, slow, house.neutral)["dense"]
        assert seconds(passes.forward) == pytest.approx(float(work.elements) * (2 * size + 2) / 3 / 2e12)


def test_routed_products_run_at_their_share_of_the_rate(house: SimpleNamespace) -> None:
    constants = house.neutral | {"moe.grouped_gemm": 0.5}
    passes = layers.linear_layer(house.model(**house.moe), house.layout(tp=2.0), house.fast_card(), constants)
    # two copies of each of 1024 tokens, gated experts of 512
    assert seconds(passes["routed"].forward) == pytest.approx(6 * 1024 * 2 * 1024 * 512 / 100e12)


def test_fused_core_by_hand(house: SimpleNamespace) -> None:
    # causal: 2 * 2048^2 * 1024 FLOP at 50 TFLOP/s
    passes = layers.core_layer(house.model(), house.layout(), house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 50e12)
    assert seconds(passes.backward) == pytest.approx(2.5 * seconds(passes.forward))


def test_core_slows_with_short_sequences_and_narrow_heads(house: SimpleNamespace) -> None:
    constants = house.neutral | {"attention.half_length": 2048.0}
    narrow = house.model(heads=16, head_dim=64)
    passes = layers.core_layer(narrow, house.layout(), house.card(), constants)
    share = 0.5 * 64 / (0.8 * 64 + 0.2 * 128)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 50e12 / share)


def test_biased_kernels_have_their_own_rate(house: SimpleNamespace) -> None:
    lay = house.layout(kernel=attention.FLASH_BIAS)
    passes = layers.core_layer(house.model(), lay, house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 25e12)


def test_unfused_core_by_hand(house: SimpleNamespace) -> None:
    # 4 * 2048^2 * 1024 FLOP at half of 100 TFLOP/s, 8 * 2048^2 scores of 15 B at 2 TB/s
    constants = house.neutral | {"attention.unfused_share": 0.5}
    lay = house.layout(kernel=attention.UNFUSED)
    passes = layers.core_layer(house.model(), lay, house.card(), constants)
    products, traffic = 4 * 2048**2 * 1024 / 50e12, 8 * 2048**2 * 15 / 2e12
    assert seconds(passes.forward) == pytest.approx(products + traffic / 3)
    assert seconds(passes.backward) == pytest.approx(2 * products + traffic * 2 / 3)


def test_unaligned_heads_slow_the_unfused_core(house: SimpleNamespace) -> None:
    constants = house.neutral | {"attention.alignment_share": 0.5, "attention.softmax_bytes": 0.0}
    lay = house.layout(kernel=attention.UNFUSED)
    one, other = (
        seconds(layers.core_layer(house.model(head_dim=d), lay, house.card(), constants).forward) / d
        for d in (128.0, 96.0)
    )
    assert other == pytest.approx(2 * one)


def test_ranks_of_tensor_and_context_groups_share_scores(house: SimpleNamespace) -> None:
    whole = layers.core_layer(house.model(), house.layout(), house.card(), house.neutral)
    lay = house.layout(tp=4.0, cp=2.0)
    assert seconds(layers.core_layer(house.model(), lay, house.card(), house.neutral).forward) == pytest.approx(
        seconds(whole.forward) / 8
    )
    unfused = house.layout(tp=4.0, cp=2.0, kernel=attention.UNFUSED)
    alone = house.layout(kernel=attention.UNFUSED)
    a, b = (seconds(layers.core_layer(house.model(), x, house.card(), house.neutral).forward) for x in (alone, unfused))
    assert a == pytest.approx(8 * b)


def test_residual_work_is_repeated_without_sequence_parallelism(house: SimpleNamespace) -> None:
    arch = house.model()
    residual = float(elementwise.residual_bytes(arch, 2048)) / 2e12
    rotary = float(elementwise.attention_bytes(arch, 2048)) / 2e12
    for switch, share in ((0.0, 1.0), (1.0, 4.0)):
        lay = house.layout(tp=4.0, sequence_parallel=switch)
        common = layers.memory_layer(arch, lay, house.card(), house.neutral)["common"]
        assert seconds(common.forward) == pytest.approx(residual / share + rotary / 4)
        assert seconds(common.backward) == pytest.approx(2 * seconds(common.forward))


def test_unfused_stacks_pass_through_memory_more_often(house: SimpleNamespace) -> None:
    constants = house.neutral | {"elementwise.passes": 1.5, "elementwise.unfused_stack": 2.0}
    lay = house.layout(kernel=attention.UNFUSED)
    plain = layers.memory_layer(house.model(), house.layout(), house.card(), house.neutral)["dense"]
    unfused = layers.memory_layer(house.model(), lay, house.card(), constants)["dense"]
    assert seconds(unfused.forward) == pytest.approx(3 * seconds(plain.forward))


def test_quantised_layers_pay_for_casts(house: SimpleNamespace) -> None:
    plain, cast = (
        layers.memory_layer(house.model(), house.layout(tp=2.0, quantised=q), house.card(), house.neutral)["common"]
        for q in (0.0, 1.0)
    )
    extra = float(elementwise.cast_bytes(house.model(), 2048)) / 2 / 2e12
    assert seconds(cast.total) - seconds(plain.total) == pytest.approx(extra)


def test_memory_of_mlp_and_experts_is_shared_by_tensor_ranks(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe)
    work = layers.memory_layer(arch, house.layout(tp=4.0), house.card(), house.neutral)
    assert seconds(work["dense"].forward) == pytest.approx(float(elementwise.dense_mlp_bytes(arch, 512)) / 2e12)
    assert seconds(work["moe"].forward) == pytest.approx(float(elementwise.moe_mlp_bytes(arch, 512)) / 2e12)


def test_head_runs_at_the_sixteen_bit_rate(house: SimpleNamespace) -> None:
    products, _ = layers.head_passes(house.model(), house.layout(tp=2.0), house.fast_card(), house.neutral)
    assert seconds(products.forward) == pytest.approx(2 * 2048 * 1024 * 16000 / 100e12)


def test_head_operands_have_two_bytes_whatever_the_layers_use(house: SimpleNamespace) -> None:
    slow = house.card(head_rate=np.inf)
    products, _ = layers.head_passes(house.model(), house.layout(linear_bytes=1.0), slow, house.neutral)
    elements = 2048 * 1024 + 1024 * 32000 + 2048 * 32000
    assert seconds(products.forward) == pytest.approx(2 * elements / 2e12)


def test_loss_traffic_by_hand_and_doubled_by_a_prediction_depth(house: SimpleNamespace) -> None:
    for depth, heads in ((0, 1), (1, 2)):
        arch = house.model(mtp_layers=depth)
        products, loss = layers.head_passes(arch, house.layout(tp=2.0), house.fast_card(), house.neutral)
        assert seconds(products.forward) == pytest.approx(heads * 2 * 2048 * 1024 * 16000 / 100e12)
        lay = layers.head_passes(arch, house.layout(tp=2.0), house.card(), house.neutral)[1]
        assert seconds(lay.total) == pytest.approx(heads * 20 * 2048 * 16000 / 2e12)
        assert seconds(lay.forward) == pytest.approx(seconds(lay.backward))
        assert seconds(loss.weight) == 0.0
