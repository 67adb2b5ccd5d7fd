"""Bytes and seconds of each dimension, by hand on links of 400 GB/s in boxes of eight and NICs of 50 GB/s; and the
law that nothing travels faster than its link."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import collectives, dimensions, links
from analysis.physics.collectives import Transfer
from analysis.physics.dimensions import DIMENSIONS, of_step
from analysis.physics.links import Fabric
from analysis.physics.parameters import whole_model

from .conftest import Toy

OPERAND = 2 * 2048 * 1024.0
PARAMETERS = 2 * 32000 * 1024 + 4 * (4 * 1024**2 + 3 * 1024 * 4096 + 2 * 1024) + 1024
"""Two tables of 32,000 x 1,024; four layers of 4 h^2 + 3 h f + 2 h; a last norm."""
LATENT = {"mla": True, "q_lora_rank": 64, "kv_lora_rank": 64, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "v_head_dim": 128}  # fmt: skip
DEGREES = st.sampled_from([1.0, 2.0, 4.0, 8.0, 16.0, 64.0])


def number(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def step(toy: Toy, facts: dict[str, Any] | None = None, network: Any = None, **layout: Any) -> dict[str, Transfer]:
    return of_step(toy.model(**(facts or {})), toy.layout(**layout), network or toy.network())


def sent(toy: Toy, dimension: str, facts: dict[str, Any] | None = None, **layout: Any) -> float:
    return number(step(toy, facts, **layout)[dimension].sent)


def seconds(toy: Toy, dimension: str, facts: dict[str, Any] | None = None, network: Any = None, **layout: Any) -> float:
    return number(step(toy, facts, network, **layout)[dimension].seconds)


@given(
    tp=DEGREES, cp=DEGREES, pp=DEGREES, dp=DEGREES, ep=DEGREES, etp=st.sampled_from([1.0, 2.0, 8.0]),
    zero_stage=st.sampled_from([0.0, 1.0, 2.0, 3.0]), shard=st.sampled_from([0.0, 4.0]),
    recompute=st.sampled_from([0.0, 0.5, 1.0]), vpp=st.sampled_from([1.0, 2.0]),
    domain=st.sampled_from([1.0, 2.0, 8.0, 72.0, 4096.0]), fabric=st.sampled_from(list(Fabric)),
    up=st.sampled_from([25e9, 450e9, 900e9]), out=st.sampled_from([3e9, 50e9, 400e9]),
    host=st.sampled_from([np.nan, 32e9]), facts=st.sampled_from([{}, LATENT, {"kv_heads": 2}]), moe=st.booleans(),
)  # fmt: skip
def test_nothing_travels_faster_than_its_link(
    tp: float, cp: float, pp: float, dp: float, ep: float, etp: float, zero_stage: float, shard: float,
    recompute: float, vpp: float, domain: float, fabric: Fabric, up: float, out: float, host: float,
    facts: dict[str, Any], moe: bool,
) -> None:  # fmt: skip
    toy = Toy()
    network = toy.network(domain=domain, fabric=fabric, scale_up=up, scale_out=out, host_link=host)
    layout = {"tp": tp, "cp": cp, "pp": pp, "dp": dp, "ep": ep, "etp": etp, "zero_stage": zero_stage, "vpp": vpp,
              "shard_ranks": min(shard, dp), "recompute_layer": recompute}  # fmt: skip
    model = (toy.moe if moe else {}) | facts
    for name, one in step(toy, model, network, **layout).items():
        inside, outside, busy = number(one.up), number(one.out), number(one.seconds)
        fastest = max(up, host) if domain < links.HOST_ACCELERATORS and np.isfinite(host) else up
        assert inside >= 0, name
        assert outside >= 0, name
        assert inside <= fastest * busy * (1 + 1e-9), name
        assert outside <= out * busy * (1 + 1e-9), name
        assert (inside + outside > 0) == (busy > 0), name


def test_one_rank_sends_nothing(toy: Toy) -> None:
    assert {name: number(one.sent) for name, one in step(toy).items()} == dict.fromkeys(DIMENSIONS, 0.0)


def test_all_reduce_of_eight_h100_by_hand(toy: Toy) -> None:
    one = collectives.ring(1e9, np.array([8.0]), 1.0, toy.network(scale_up=450e9), passes=2.0)
    assert number(one.seconds) == pytest.approx(1.75e9 / 450e9)


def test_tensor_parallelism_makes_four_all_reduces_a_layer(toy: Toy) -> None:
    # Megatron-LM (arXiv:1909.08053) fig. 4: two forward, two backward; a ring sends 2 * 7/8 of the operand
    assert sent(toy, "tp", tp=8.0) == pytest.approx(2 * 7 / 8 * 4 * OPERAND * 4 * 4)
    assert seconds(toy, "tp", tp=8.0) == pytest.approx(2 * 7 / 8 * 4 * OPERAND * 4 * 4 / 400e9)


def test_tensor_group_beyond_the_box_waits_for_the_nics(toy: Toy) -> None:
    # sixteen ranks over two boxes; eight NICs of 10 GB/s turn eight rings
    slow = toy.network(scale_out=10e9)
    assert seconds(toy, "tp", network=slow, tp=16.0) == pytest.approx(2 * 15 / 16 * 4 * OPERAND * 4 * 4 / 80e9)


def test_a_pair_in_a_mesh_has_one_link(toy: Toy) -> None:
    mesh = toy.network(fabric=Fabric.MESH)
    assert seconds(toy, "tp", network=mesh, tp=2.0) == pytest.approx(4 * OPERAND * 4 * 4 / (400e9 / 7))


@pytest.mark.parametrize("dimension", ["tp", "cp", "ep"])
def test_recomputed_layers_repeat_their_forward_collectives(toy: Toy, dimension: str) -> None:
    # forward 1, backward 1 (keys and values: 2)
    layout, facts = {dimension: 8.0, "dp": 8.0}, toy.moe
    ratio = {"tp": 3 / 2, "cp": 4 / 3, "ep": 3 / 2}[dimension]
    kept, again = (step(toy, facts, recompute_layer=share, **layout)[dimension] for share in (0.0, 1.0))
    assert number(again.sent) == pytest.approx(ratio * number(kept.sent))
    assert number(again.seconds) == pytest.approx(ratio * number(kept.seconds))


def test_context_parallelism_sends_keys_and_values_three_times(toy: Toy) -> None:
    # half of 2 B x 2,048 tokens x (8 + 8 heads x 128), forward once and backward twice, four layers and micro-batches
    assert sent(toy, "cp", cp=2.0) == pytest.approx(0.5 * 2 * 2048 * 2048 * 3 * 4 * 4)


def test_latent_attention_exchanges_full_keys_and_values(toy: Toy) -> None:
    moved = 0.5 * 2 * 2048 * 8 * (192 + 128) * 3 * 4 * 4
    assert sent(toy, "cp", LATENT, cp=2.0) == pytest.approx(moved)
    assert seconds(toy, "cp", LATENT, cp=2.0) == pytest.approx(moved / 400e9)


def test_key_heads_are_not_split_below_one(toy: Toy) -> None:
    assert sent(toy, "cp", {"kv_heads": 2}, tp=2.0, cp=2.0) == sent(toy, "cp", {"kv_heads": 2}, tp=4.0, cp=2.0)


def test_experts_inside_a_box_take_its_links(toy: Toy) -> None:
    # two copies of 2,048 tokens, 7/8 of them for other ranks; dispatch and combine, both passes, 4 x 4 times
    one = step(toy, toy.moe, ep=8.0, dp=8.0)["ep"]
    assert number(one.up) == pytest.approx(4 * 2 * OPERAND * 7 / 8 * 4 * 4)
    assert number(one.out) == 0.0


def test_experts_across_boxes_send_one_copy_a_box(toy: Toy) -> None:
    # two random experts miss one of two boxes with chance 1/4: 3/4 of a copy crosses over one NIC
    one = step(toy, toy.moe, ep=16.0, dp=16.0)["ep"]
    assert number(one.out) == pytest.approx(4 * 0.75 * OPERAND * 4 * 4)
    assert number(one.seconds) == pytest.approx(4 * 0.75 * OPERAND * 4 * 4 / 50e9)


@given(st.integers(1, 64), st.integers(2, 64))
def test_copies_never_exceed_experts_or_other_boxes(k: int, boxes: int) -> None:
    assert 0 < float(collectives.remote_copies(float(k), float(boxes))) <= min(k, boxes - 1) + 1e-9


def test_pipeline_sends_its_boundary_both_ways_in_every_chunk(toy: Toy) -> None:
    uneven = {"pp": 4.0, "vpp": 3.0, "tp": 8.0}
    assert sent(toy, "pp", **uneven) == pytest.approx(2 * OPERAND / 8 * 3 * 4)
    assert seconds(toy, "pp", **uneven) == pytest.approx(2 * OPERAND / 8 * 3 * 4 / 50e9)
    assert seconds(toy, "pp", pp=4.0, tp=2.0) == pytest.approx(2 * OPERAND / 2 * 4 / 400e9)


@pytest.mark.parametrize("stage", [0.0, 1.0, 2.0])
def test_data_parallelism_sends_gradients_and_weights_once(toy: Toy, stage: float) -> None:
    # ZeRO (arXiv:1910.02054) sec. 7: stages 0 to 2 move 2 Psi elements of two bytes; a rank of eight sends 7/8 of them
    assert sent(toy, "dp", dp=8.0, zero_stage=stage) == pytest.approx(7 / 8 * 4 * PARAMETERS)


def test_zero_3_sends_half_as_much_again_for_every_micro_batch(toy: Toy) -> None:
    # ZeRO sec. 7.2.2: 3 Psi
    one, four = (sent(toy, "dp", dp=8.0, zero_stage=3.0, micro_batches=count) for count in (1.0, 4.0))
    assert one == pytest.approx(1.5 * sent(toy, "dp", dp=8.0))
    assert four == pytest.approx(4 * one)


def test_the_stage_with_most_parameters_decides(toy: Toy) -> None:
    # first stage: one layer and the table of 32,000 x 1,024; the others have two layers of 16.8 M parameters
    layer, table = 4 * 1024**2 + 3 * 1024 * 4096 + 2 * 1024, 32000 * 1024
    layout = {"pp": 2.0, "dp": 8.0, "layers_first": 1.0, "layers_max": 3.0, "layers_last": 3.0}
    assert sent(toy, "dp", **layout) == pytest.approx(7 / 8 * 4 * (3 * layer + table + 1024))
    layout |= {"layers_first": 4.0, "layers_max": 4.0, "layers_last": 0.0}
    assert sent(toy, "dp", **layout) == pytest.approx(7 / 8 * 4 * (4 * layer + table))


def test_experts_are_reduced_over_their_own_replicas(toy: Toy) -> None:
    # ep 8 of dp 16: two replicas, eight ranks apart, one NIC
    arch = toy.model(**toy.moe)
    buckets = whole_model(arch)
    dense = float(buckets.tp_sharded + buckets.replicated)
    expected = 4 * dense * 15 / 16 / 400e9 + 4 * float(buckets.routed_experts) / 8 * 0.5 / 50e9
    assert seconds(toy, "dp", toy.moe, dp=16.0, ep=8.0) == pytest.approx(expected)


def test_hybrid_shards_gather_inside_and_reduce_across(toy: Toy) -> None:
    hybrid = {"dp": 16.0, "zero_stage": 3.0, "shard_ranks": 8.0}
    inside, across = 7 / 8 * 6 * 4 * PARAMETERS, 2 * 0.5 * 2 * PARAMETERS / 8
    one = step(toy, **hybrid)["dp"]
    assert number(one.up) == pytest.approx(inside)
    assert number(one.out) == pytest.approx(across)
    assert number(one.seconds) == pytest.approx(inside / 400e9 + across / 50e9)


def test_hybrid_shards_update_what_they_store(toy: Toy) -> None:
    lay = toy.layout(dp=64.0, zero_stage=3.0, shard_ranks=8.0)
    held = dimensions.largest_stage(toy.model(), lay)
    assert number(dimensions.updated_parameters(held, lay)) == pytest.approx(PARAMETERS / 8)


def test_a_pair_is_the_smallest_group_that_has_a_place(toy: Toy) -> None:
    # Boxes of eight: TP 2 stays inside, DP 2 strides over TP 2 x CP 1 = 2 ranks and stays too, one rank is no group;
    # stages are TP 2 x DP 8 = 16 ranks apart and never share a box.
    near = dimensions.placement(toy.layout(tp=2.0, dp=2.0), np.asarray([8.0]))
    assert [float(near[axis][0]) for axis in ("tp", "dp")] == [1.0, 1.0]
    assert np.isnan([near[axis][0] for axis in ("cp", "ep", "pp")]).all()
    far = dimensions.placement(toy.layout(tp=2.0, dp=8.0, pp=2.0), np.asarray([8.0]))
    assert [float(far[axis][0]) for axis in ("tp", "dp", "pp")] == [1.0, 0.0, 0.0]


def test_fp32_sends_twice_as_much_along_every_dimension(toy: Toy) -> None:
    # four bytes an element for activations, weights and gradients (Micikevicius et al. 2017, arXiv:1710.03740: two)
    layout = {"tp": 2.0, "cp": 2.0, "pp": 2.0, "dp": 4.0, "ep": 4.0}
    half, single = (step(toy, toy.moe, element_bytes=size, **layout) for size in (2.0, 4.0))
    assert {name: number(single[name].sent) for name in DIMENSIONS} == pytest.approx(
        {name: 2 * number(half[name].sent) for name in DIMENSIONS}
    )


def test_a_frozen_base_exchanges_only_its_adapters(toy: Toy) -> None:
    # one in a hundred parameters is trained; ZeRO 3 still gathers all weights in both passes (2 of 3 Psi)
    assert sent(toy, "dp", dp=8.0, trained=0.01) == pytest.approx(0.01 * sent(toy, "dp", dp=8.0))
    sharded = {"dp": 8.0, "zero_stage": 3.0}
    assert sent(toy, "dp", trained=0.01, **sharded) == pytest.approx(2.01 / 3 * sent(toy, "dp", **sharded))


def test_steps_of_a_ring_cost_time_however_little_they_carry(toy: Toy) -> None:
    # all-reduce of eight ranks: 14 steps (NCCL: 2(n-1)); across boxes the slower hop sets the pace of every step
    near = collectives.ring(0.0, np.array([8.0]), 1.0, toy.network(hop_up=2e-6, hop_out=1e-5), passes=2.0)
    assert number(near.latency) == pytest.approx(14 * 2e-6)
    far = collectives.ring(1.0, np.array([16.0]), 1.0, toy.network(hop_up=2e-6, hop_out=1e-5))
    assert number(far.latency) == pytest.approx(15 * 1e-5)


def test_sequence_parallelism_takes_ten_steps_for_eight_transfers(toy: Toy) -> None:
    # Korthikanti et al. 2022 sec. 4.2.2: four gathers and four scatters move bytes, two more gathers hide theirs
    arch, network = toy.model(), toy.network(hop_up=1e-6)
    plain, split = (
        dimensions.tensor(arch, toy.layout(tp=8.0, sequence_parallel=sp), network).with_recompute(0.0)
        for sp in (0.0, 1.0)
    )
    assert number(plain.latency) == pytest.approx(8 * 7e-6)
    assert number(split.latency) == pytest.approx(10 * 7e-6)
    assert number(split.sent) == number(plain.sent)
