"""Seconds that links need, by dimension, on a card of 400 GB/s links in boxes of eight and NICs of 50 GB/s."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import exchange
from analysis.physics import links as topology
from analysis.physics.parameters import whole_model

OPERAND = 2 * 2048 * 1024.0


def seconds(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def test_tensor_layer_makes_two_all_reduces_each_way(house: SimpleNamespace) -> None:
    passes = exchange.tensor_seconds(house.model(), house.layout(tp=8.0), house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(2 * 1.75 * OPERAND / 400e9)
    assert seconds(passes.backward) == pytest.approx(seconds(passes.forward))


def test_tensor_group_beyond_the_box_waits_for_the_nics(house: SimpleNamespace) -> None:
    # sixteen ranks over two boxes: eight NICs are 400 GB/s, then a card with slower NICs
    lay = house.layout(tp=16.0)
    passes = exchange.tensor_seconds(house.model(), lay, house.card(scale_out=10e9), house.neutral)
    assert seconds(passes.forward) == pytest.approx(2 * 2 * 15 / 16 * OPERAND / 80e9)


def test_link_shares_slow_their_link_only(house: SimpleNamespace) -> None:
    constants = house.neutral | {"link.scale_up_share": 0.5}
    fast, slow = (
        seconds(exchange.tensor_seconds(house.model(), house.layout(tp=8.0), house.card(), k).forward)
        for k in (house.neutral, constants)
    )
    assert slow == pytest.approx(2 * fast)
    outside = house.layout(tp=1.0, dp=16.0, pp=1.0)
    half = house.neutral | {"link.scale_out_share": 0.5}
    one, two = (seconds(exchange.data_seconds(house.model(), outside, house.card(), k)) for k in (house.neutral, half))
    assert two == pytest.approx(2 * one)


def test_a_half_used_nic_doubles_the_dispatch_between_boxes(house: SimpleNamespace) -> None:
    # Sixteen experts on sixteen ranks of two boxes, NICs so slow that the links inside do not matter.
    arch, lay, card = house.model(**house.moe), house.layout(ep=16.0, dp=16.0), house.card(scale_out=1e9)
    half = house.neutral | {"link.scale_out_share": 0.5}
    one, two = (seconds(exchange.expert_seconds(arch, lay, card, k).forward) for k in (house.neutral, half))
    assert two == pytest.approx(2 * one)
    # Two random experts miss one of two boxes with chance 1/4: 3/4 of a copy of 2,048 rows crosses, there and back.
    assert one == pytest.approx(2 * 0.75 * OPERAND / 1e9)


def test_mesh_of_eight_gives_a_pair_one_link(house: SimpleNamespace) -> None:
    mesh = house.card(fabric=topology.MESH)
    pair = exchange.tensor_seconds(house.model(), house.layout(tp=2.0), mesh, house.neutral)
    assert seconds(pair.forward) == pytest.approx(2 * 1.0 * OPERAND / (400e9 / 7))


def test_context_exchange_moves_keys_and_values_three_times(house: SimpleNamespace) -> None:
    # 2 B * 2048 tokens * 2 * 8 heads * 128 wide / 2 ranks, half of it sent by each of two ranks
    passes = exchange.context_seconds(house.model(), house.layout(tp=2.0, cp=2.0), house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(0.5 * 2 * 2048 * 2048 / 2 / 400e9)
    assert seconds(passes.backward) == pytest.approx(2 * seconds(passes.forward))


def test_key_heads_are_not_split_below_one(house: SimpleNamespace) -> None:
    arch = house.model(kv_heads=2)
    a, b = (
        seconds(exchange.context_seconds(arch, house.layout(tp=t, cp=2.0), house.card(), house.neutral).forward)
        for t in (2.0, 4.0)
    )
    assert a == b


def test_latent_attention_exchanges_full_keys_and_values(house: SimpleNamespace) -> None:
    latent = house.model(mla=True, q_lora_rank=64, kv_lora_rank=64, qk_nope_head_dim=128, qk_rope_head_dim=64,
                         v_head_dim=128)  # fmt: skip
    passes = exchange.context_seconds(latent, house.layout(cp=2.0), house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(0.5 * 2 * 2048 * 8 * (192 + 128) / 400e9)


def test_expert_exchange_inside_a_box(house: SimpleNamespace) -> None:
    # two copies of 2048 tokens over two tensor ranks, 7/8 and 1/2 of them leave; dispatch and combine
    arch = house.model(**house.moe)
    pair = exchange.expert_seconds(arch, house.layout(ep=2.0, tp=2.0), house.card(), house.neutral)
    passes = exchange.expert_seconds(arch, house.layout(ep=8.0, tp=2.0), house.card(), house.neutral)
    assert seconds(pair.forward) == pytest.approx(2 * 2 * OPERAND / 2 * 1 / 2 / 400e9)
    assert seconds(passes.forward) == pytest.approx(2 * 2 * OPERAND / 2 * 7 / 8 / 400e9)
    assert seconds(passes.backward) == pytest.approx(seconds(passes.forward))


def test_expert_exchange_across_boxes_waits_for_one_copy_per_box(house: SimpleNamespace) -> None:
    # ep 16 over two boxes: (2-1) * (1 - 1/2^2) = 0.75 copies leave over one NIC
    arch = house.model(**house.moe)
    passes = exchange.expert_seconds(arch, house.layout(ep=16.0), house.card(), house.neutral)
    assert seconds(passes.forward) == pytest.approx(2 * 0.75 * OPERAND / 50e9)


def test_dense_models_and_single_ranks_exchange_no_experts(house: SimpleNamespace) -> None:
    dense = exchange.expert_seconds(house.model(), house.layout(ep=8.0), house.card(), house.neutral)
    alone = exchange.expert_seconds(house.model(**house.moe), house.layout(), house.card(), house.neutral)
    assert seconds(dense.total) == seconds(alone.total) == 0.0


@given(st.integers(1, 64), st.integers(2, 64))
def test_copies_never_exceed_experts_or_other_boxes(k: int, boxes: int) -> None:
    copies = float(exchange.remote_copies(np.asarray(float(k)), np.asarray(float(boxes))))
    assert 0 < copies <= min(k, boxes - 1) + 1e-9


def test_stage_boundary_by_hand(house: SimpleNamespace) -> None:
    # forward and backward, three chunks, over a NIC: neighbours are eight ranks apart
    lay = house.layout(tp=8.0, pp=4.0, vpp=3.0)
    assert seconds(exchange.boundary_seconds(house.model(), lay, house.card(), house.neutral)) == pytest.approx(
        6 * OPERAND / 8 / 50e9
    )
    inside = house.layout(tp=2.0, pp=4.0)
    assert seconds(exchange.boundary_seconds(house.model(), inside, house.card(), house.neutral)) == pytest.approx(
        2 * OPERAND / 2 / 400e9
    )


def test_one_stage_sends_nothing(house: SimpleNamespace) -> None:
    assert seconds(exchange.boundary_seconds(house.model(), house.layout(), house.card(), house.neutral)) == 0.0


def test_ranks_hold_their_share_of_each_bucket(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe)
    buckets = whole_model(arch)
    dense, routed = exchange.held_parameters(arch, house.layout(tp=2.0, pp=2.0, ep=4.0, dp=8.0))
    assert seconds(dense) == pytest.approx(float(buckets.tp_sharded) / 4 + float(buckets.replicated) / 2)
    assert seconds(routed) == pytest.approx(float(buckets.routed_experts) / 8)


@pytest.mark.parametrize(("stage", "passes"), [(0, 4.0), (1, 4.0), (3, 6.0 * 4)])
def test_data_exchange_in_bytes_per_parameter(house: SimpleNamespace, stage: float, passes: float) -> None:
    # sixteen ranks over two boxes ring at eight NICs = 400 GB/s; ZeRO 3 repeats in all four micro-batches
    held = float(whole_model(house.model()).total)
    lay = house.layout(dp=16.0, zero_stage=stage)
    assert seconds(exchange.data_seconds(house.model(), lay, house.card(), house.neutral)) == pytest.approx(
        15 / 16 * passes * held / 400e9
    )


def test_experts_are_reduced_over_their_own_replicas(house: SimpleNamespace) -> None:
    # ep 8 of dp 16: two replicas, eight ranks apart, one NIC
    arch = house.model(**house.moe)
    buckets = whole_model(arch)
    dense = float(buckets.tp_sharded + buckets.replicated)
    lay = house.layout(dp=16.0, ep=8.0)
    expected = 4 * dense * 15 / 16 / 400e9 + 4 * float(buckets.routed_experts) / 8 * 0.5 / 50e9
    assert seconds(exchange.data_seconds(arch, lay, house.card(), house.neutral)) == pytest.approx(expected)
    # with etp 2 four experts groups of two ranks stand eight ranks apart again
    folded = house.layout(dp=16.0, ep=4.0, etp=2.0)
    assert seconds(exchange.data_seconds(arch, folded, house.card(), house.neutral)) == pytest.approx(expected)


def test_hybrid_shards_gather_inside_and_reduce_across(house: SimpleNamespace) -> None:
    held = float(whole_model(house.model()).total)
    lay = house.layout(dp=16.0, zero_stage=3.0, shard_ranks=8.0)
    inside = 7 / 8 * 6 * 4 * held / 400e9
    across = 2 * 0.5 * 2 * held / 8 / 50e9
    assert seconds(exchange.data_seconds(house.model(), lay, house.card(), house.neutral)) == pytest.approx(
        inside + across
    )


def test_optimizer_shards_are_updated_where_they_live(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe)
    dense, routed = exchange.held_parameters(arch, house.layout(ep=4.0, dp=8.0))
    sharded = exchange.updated_parameters(arch, house.layout(ep=4.0, dp=8.0, zero_stage=1.0))
    whole = exchange.updated_parameters(arch, house.layout(ep=4.0, dp=8.0, zero_stage=0.0))
    assert seconds(sharded) == pytest.approx(seconds(dense) / 8 + seconds(routed) / 2)
    assert seconds(whole) == pytest.approx(seconds(dense) + seconds(routed))
