"""Seconds of one layer and of the head on a card of round numbers, by hand."""

from typing import Any

import numpy as np
import pytest

from analysis.physics import attention, elementwise, gemm, layers

from .conftest import Toy


def seconds(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def test_backward_products_take_twice_the_forward_half_of_it_weight_gradients(toy: Toy) -> None:
    passes = layers.linear_layer(toy.model(), toy.layout(), toy.card(), toy.constants().experts)["dense"]
    assert seconds(passes.backward) == pytest.approx(2 * seconds(passes.forward))
    assert seconds(passes.weight) == pytest.approx(seconds(passes.forward))


def test_dense_products_run_at_the_linear_rate(toy: Toy) -> None:
    # 6 * 2048 * 1024 * 4096 FLOP at 200 TFLOP/s
    passes = layers.linear_layer(toy.model(), toy.layout(), toy.fast_card(), toy.constants().experts)["dense"]
    assert seconds(passes.forward) == pytest.approx(6 * 2048 * 1024 * 4096 / 200e12)


def test_operand_bytes_follow_the_format(toy: Toy) -> None:
    work = gemm.dense_products(toy.model(), 2048.0, 1.0)
    slow = toy.card(linear_rate=np.inf)
    for size in (2.0, 1.0):
        lay = toy.layout(linear_bytes=size)
        passes = layers.linear_layer(toy.model(), lay, slow, toy.constants().experts)["dense"]
        assert seconds(passes.forward) == pytest.approx(float(work.elements) * (2 * size + 2) / 3 / 2e12)


def test_routed_products_run_at_their_share_of_the_rate(toy: Toy) -> None:
    constants = toy.constants({"experts.grouped_gemm": 0.5})
    passes = layers.linear_layer(toy.model(**toy.moe), toy.layout(tp=2.0), toy.fast_card(), constants.experts)
    # two copies of each of 1024 tokens, gated experts of 512
    assert seconds(passes["routed"].forward) == pytest.approx(6 * 1024 * 2 * 1024 * 512 / 100e12)


def test_fused_core_by_hand(toy: Toy) -> None:
    # causal: 2 * 2048^2 * 1024 FLOP at 50 TFLOP/s
    passes = layers.core_layer(toy.model(), toy.layout(), toy.card(), toy.constants().attention)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 50e12)
    assert seconds(passes.backward) == pytest.approx(2.5 * seconds(passes.forward))


def test_core_slows_with_short_sequences_and_narrow_heads(toy: Toy) -> None:
    constants = toy.constants({"attention.half_length": 2048.0})
    narrow = toy.model(heads=16, head_dim=64)
    passes = layers.core_layer(narrow, toy.layout(), toy.card(), constants.attention)
    share = 0.5 * 64 / (0.8 * 64 + 0.2 * 128)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 50e12 / share)


def test_biased_kernels_have_their_own_rate(toy: Toy) -> None:
    lay = toy.layout(kernel=attention.FLASH_BIAS)
    passes = layers.core_layer(toy.model(), lay, toy.card(), toy.constants().attention)
    assert seconds(passes.forward) == pytest.approx(2 * 2048**2 * 1024 / 25e12)


def test_unfused_core_by_hand(toy: Toy) -> None:
    # 4 * 2048^2 * 1024 FLOP at half of 100 TFLOP/s, 8 * 2048^2 scores of 15 B at 2 TB/s
    constants = toy.constants({"attention.unfused_share": 0.5})
    lay = toy.layout(kernel=attention.UNFUSED)
    passes = layers.core_layer(toy.model(), lay, toy.card(), constants.attention)
    products, traffic = 4 * 2048**2 * 1024 / 50e12, 8 * 2048**2 * 15 / 2e12
    assert seconds(passes.forward) == pytest.approx(products + traffic / 3)
    assert seconds(passes.backward) == pytest.approx(2 * products + traffic * 2 / 3)


def test_unaligned_heads_slow_the_unfused_core(toy: Toy) -> None:
    constants = toy.constants({"attention.alignment_share": 0.5, "attention.softmax_bytes": 0.0})
    lay = toy.layout(kernel=attention.UNFUSED)
    one, other = (
        seconds(layers.core_layer(toy.model(head_dim=d), lay, toy.card(), constants.attention).forward) / d
        for d in (128.0, 96.0)
    )
    assert other == pytest.approx(2 * one)


def test_ranks_of_tensor_and_context_groups_share_scores(toy: Toy) -> None:
    whole = layers.core_layer(toy.model(), toy.layout(), toy.card(), toy.constants().attention)
    lay = toy.layout(tp=4.0, cp=2.0)
    assert seconds(layers.core_layer(toy.model(), lay, toy.card(), toy.constants().attention).forward) == pytest.approx(
        seconds(whole.forward) / 8
    )
    unfused = toy.layout(tp=4.0, cp=2.0, kernel=attention.UNFUSED)
    alone = toy.layout(kernel=attention.UNFUSED)
    a, b = (
        seconds(layers.core_layer(toy.model(), x, toy.card(), toy.constants().attention).forward)
        for x in (alone, unfused)
    )
    assert a == pytest.approx(8 * b)


def test_residual_work_is_repeated_without_sequence_parallelism(toy: Toy) -> None:
    arch = toy.model()
    residual = float(elementwise.residual_bytes(arch, 2048)) / 2e12
    rotary = float(elementwise.attention_bytes(arch, 2048)) / 2e12
    for switch, share in ((0.0, 1.0), (1.0, 4.0)):
        lay = toy.layout(tp=4.0, sequence_parallel=switch)
        common = layers.memory_layer(arch, lay, toy.card(), toy.constants().elementwise)["common"]
        assert seconds(common.forward) == pytest.approx(residual / share + rotary / 4)
        assert seconds(common.backward) == pytest.approx(2 * seconds(common.forward))


def test_unfused_stacks_pass_through_memory_more_often(toy: Toy) -> None:
    constants = toy.constants({"elementwise.passes": 1.5, "elementwise.unfused_stack": 2.0})
    lay = toy.layout(kernel=attention.UNFUSED)
    plain = layers.memory_layer(toy.model(), toy.layout(), toy.card(), toy.constants().elementwise)["dense"]
    unfused = layers.memory_layer(toy.model(), lay, toy.card(), constants.elementwise)["dense"]
    assert seconds(unfused.forward) == pytest.approx(3 * seconds(plain.forward))


def test_quantised_layers_pay_for_casts(toy: Toy) -> None:
    plain, cast = (
        layers.memory_layer(toy.model(), toy.layout(tp=2.0, quantised=q), toy.card(), toy.constants().elementwise)[
            "common"
        ]
        for q in (0.0, 1.0)
    )
    extra = float(elementwise.cast_bytes(toy.model(), 2048)) / 2 / 2e12
    assert seconds(cast.total) - seconds(plain.total) == pytest.approx(extra)


def test_memory_of_mlp_and_experts_is_shared_by_tensor_ranks(toy: Toy) -> None:
    arch = toy.model(**toy.moe)
    work = layers.memory_layer(arch, toy.layout(tp=4.0), toy.card(), toy.constants().elementwise)
    assert seconds(work["dense"].forward) == pytest.approx(float(elementwise.dense_mlp_bytes(arch, 512)) / 2e12)
    assert seconds(work["moe"].forward) == pytest.approx(float(elementwise.moe_mlp_bytes(arch, 512)) / 2e12)


def test_head_runs_at_the_sixteen_bit_rate(toy: Toy) -> None:
    products, _ = layers.head_passes(toy.model(), toy.layout(tp=2.0), toy.fast_card(), toy.constants().elementwise)
    assert seconds(products.forward) == pytest.approx(2 * 2048 * 1024 * 16000 / 100e12)


def test_head_operands_have_two_bytes_whatever_the_layers_use(toy: Toy) -> None:
    slow = toy.card(head_rate=np.inf)
    products, _ = layers.head_passes(toy.model(), toy.layout(linear_bytes=1.0), slow, toy.constants().elementwise)
    elements = 2048 * 1024 + 1024 * 32000 + 2048 * 32000
    assert seconds(products.forward) == pytest.approx(2 * elements / 2e12)


def test_loss_traffic_by_hand_and_doubled_by_a_prediction_depth(toy: Toy) -> None:
    for depth, heads in ((0, 1), (1, 2)):
        arch = toy.model(mtp_layers=depth)
        products, loss = layers.head_passes(arch, toy.layout(tp=2.0), toy.fast_card(), toy.constants().elementwise)
        assert seconds(products.forward) == pytest.approx(heads * 2 * 2048 * 1024 * 16000 / 100e12)
        lay = layers.head_passes(arch, toy.layout(tp=2.0), toy.card(), toy.constants().elementwise)[1]
        assert seconds(lay.total) == pytest.approx(heads * 20 * 2048 * 16000 / 2e12)
        assert seconds(lay.forward) == pytest.approx(seconds(lay.backward))
        assert seconds(loss.weight) == 0.0
