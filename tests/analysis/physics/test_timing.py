"""Whole steps on a card of round numbers: what each part is, and how the parts make a step."""

from typing import Any

import numpy as np
import pytest

from analysis.physics import bubble, dimensions, layers, timing
from analysis.physics.work import Passes

from .conftest import Toy


def seconds(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def parts(toy: Toy, arch: Any = None, constants: Any = None, card: Any = None, **choices: Any) -> Any:
    found = timing.step_parts(arch or toy.model(), toy.layout(**choices), card or toy.card(),
                              toy.constants(constants))  # fmt: skip
    return {name: seconds(value) for name, value in found.items()}


def test_step_is_the_sum_of_its_parts(toy: Toy) -> None:
    assert seconds(timing.step_seconds({"a": np.asarray([2.0]), "b": np.asarray([0.5])})) == 2.5


def test_compute_of_a_step_counts_layers_head_and_micro_batches(toy: Toy) -> None:
    found = parts(toy, card=toy.fast_card(head_rate=200e12))
    layer = 4 * 1024 * 1024 + 3 * 1024 * 4096  # attention with eight heads of 128, gated MLP
    assert found["compute"] == pytest.approx(4 * 6 * 2048 * (4 * layer + 1024 * 32000) / 200e12)


def test_one_stage_on_one_card_has_only_work(toy: Toy) -> None:
    found = parts(toy)
    idle = {name for name, value in found.items() if value == 0}
    assert idle == {"moe", "tp", "cp", "ep", "host", "pp", "bubble", "dp", "fixed", "scale"}


def test_attention_and_memory_are_those_of_the_layers(toy: Toy) -> None:
    found = parts(toy)
    core = layers.core_layer(toy.model(), toy.layout(), toy.card(), toy.constants().attention)
    assert found["attention"] == pytest.approx(4 * 4 * seconds(core.total))
    work = layers.memory_layer(toy.model(), toy.layout(), toy.card(), toy.constants().elementwise)
    loss = layers.head_passes(toy.model(), toy.layout(), toy.card(), toy.constants().elementwise)[1]
    layer = seconds(work["common"].total) + seconds(work["dense"].total)
    assert found["memory"] == pytest.approx(4 * (4 * layer + seconds(loss.total)))


def test_a_layer_for_the_second_token_is_depth_like_any_other(toy: Toy) -> None:
    # DeepSeek-V3 (arXiv:2412.19437, Section 2.2): one prediction module is one more layer; no vocabulary, no head.
    uneven = {"pp": 2.0, "layers_max": 3.0, "layers_last": 3.0}
    module = parts(toy, toy.model(vocab=1, layers=4, mtp_layers=1), **uneven)
    layer = parts(toy, toy.model(vocab=1, layers=5), **uneven)
    assert module["bubble"] == pytest.approx(layer["bubble"], rel=5e-3)
    assert module["compute"] == pytest.approx(layer["compute"], rel=5e-3)


def test_full_recompute_adds_one_forward_of_everything_but_the_head(toy: Toy) -> None:
    all_again = {f"recompute_{n}": 1.0 for n in ("layer", "projections", "mlp", "core", "elementwise")}
    arch = toy.model(vocab=1)
    once, again = parts(toy, arch), parts(toy, arch, **all_again)
    for name, share in (("compute", 4 / 3), ("attention", 4.5 / 3.5), ("memory", 4 / 3)):
        assert again[name] / once[name] == pytest.approx(share, rel=5e-4)


@pytest.mark.parametrize(("choice", "part"), [("projections", "compute"), ("mlp", "compute"), ("core", "attention"),
                                              ("elementwise", "memory"), ("layer", "tp")])  # fmt: skip
def test_each_share_repeats_its_own_work_only(toy: Toy, choice: str, part: str) -> None:
    once, again = parts(toy, tp=2.0), parts(toy, tp=2.0, **{f"recompute_{choice}": 1.0})
    assert [name for name in once if again[name] > once[name] * (1 + 1e-12)] == [part]


def test_recomputed_layers_repeat_their_collectives(toy: Toy) -> None:
    once, again = parts(toy, tp=2.0), parts(toy, tp=2.0, recompute_layer=1.0)
    assert again["tp"] == pytest.approx(1.5 * once["tp"])


def test_moe_layers_mix_by_their_share(toy: Toy) -> None:
    arch = toy.model(**toy.moe, dense_layers=1)
    linear = layers.linear_layer(arch, toy.layout(), toy.card(), toy.constants().experts)
    head = layers.head_passes(arch, toy.layout(), toy.card(), toy.constants().elementwise)[0]
    mix = 4 * seconds(linear["projections"].total) + seconds(linear["dense"].total)
    mix += 3 * (seconds(linear["routed"].total) + seconds(linear["shared"].total))
    assert parts(toy, arch)["compute"] == pytest.approx(4 * (mix + seconds(head.total)))
    again = parts(toy, arch, recompute_routed=1.0, recompute_shared=1.0)["compute"]
    mix += 3 * (seconds(linear["routed"].forward) + seconds(linear["shared"].forward))
    assert again == pytest.approx(4 * (mix + seconds(head.total)))


def test_moe_memory_and_exchange_mix_by_their_share(toy: Toy) -> None:
    arch = toy.model(**toy.moe, dense_layers=1)
    work = layers.memory_layer(arch, toy.layout(ep=8.0, dp=8.0), toy.card(), toy.constants().elementwise)
    loss = layers.head_passes(arch, toy.layout(), toy.card(), toy.constants().elementwise)[1]
    mix = 4 * seconds(work["common"].total) + seconds(work["dense"].total) + 3 * seconds(work["moe"].total)
    found = parts(toy, arch, ep=8.0, dp=8.0)
    assert found["memory"] == pytest.approx(4 * (mix + seconds(loss.total)))
    swap = dimensions.experts(arch, toy.layout(ep=8.0), toy.network())
    assert found["ep"] == pytest.approx(4 * 3 * 2 * seconds(swap.forward.seconds))


def test_fixed_costs_of_experts_by_hand(toy: Toy) -> None:
    arch = toy.model(**toy.moe, dense_layers=1)
    constants = {"experts.layer_seconds": 1e-3, "experts.expert_seconds": 1e-4}
    # four micro-batches, three MoE layers, 16/8 experts a rank
    assert parts(toy, arch, constants, ep=8.0, dp=8.0)["moe"] == pytest.approx(4 * 3 * (1e-3 + 2e-4))


@pytest.mark.parametrize(("name", "choices"), [("tp_all_reduce", {"tp": 2.0}), ("cp", {"cp": 2.0}),
                                               ("tp", {"tp": 2.0, "sequence_parallel": 1.0})])  # fmt: skip
def test_exposed_shares_scale_their_dimension(toy: Toy, name: str, choices: Any) -> None:
    part = "tp" if name.startswith("tp") else name
    full, half = (parts(toy, constants={f"overlap.{name}": x}, **choices)[part] for x in (1.0, 0.5))
    assert half == pytest.approx(full / 2)
    assert full > 0


def test_exposed_expert_exchange_scales(toy: Toy) -> None:
    arch = toy.model(**toy.moe)
    full, half = (parts(toy, arch, {"overlap.ep": x}, ep=8.0, dp=8.0)["ep"] for x in (1.0, 0.5))
    assert half == pytest.approx(full / 2)


def test_layers_take_no_less_than_the_host_needs_to_issue_them(toy: Toy) -> None:
    found = parts(toy, constants={"host.layer_seconds": 1.0})
    head = layers.head_passes(toy.model(), toy.layout(), toy.card(), toy.constants().elementwise)
    busy = sum(found[n] for n in ("compute", "attention", "memory", "host"))
    assert busy == pytest.approx(4 * (4 * 1.0 + seconds(head[0].total) + seconds(head[1].total)))
    assert parts(toy, constants={"host.layer_seconds": 1e-9})["host"] == 0.0


def test_moe_layers_have_their_own_issue_time(toy: Toy) -> None:
    arch = toy.model(**toy.moe | {"dense_layers": 1, "vocab": 1})
    constants = {"host.layer_seconds": 1.0, "host.moe_layer_seconds": 2.0}
    found = parts(toy, arch, constants)
    assert sum(found[n] for n in ("compute", "attention", "memory", "host")) == pytest.approx(4 * (1 + 3 * 2), rel=1e-4)


def test_balanced_pipeline_idles_by_its_schedule(toy: Toy) -> None:
    arch = toy.model(layers=8, vocab=1)
    found = parts(toy, arch, pp=4.0, layers_max=2.0, layers_last=2.0, card=toy.card(scale_up=np.inf))
    work = found["compute"] + found["attention"] + found["memory"]
    assert found["bubble"] / work == pytest.approx(3 / 4, rel=2e-3)  # (p - 1)/m


def test_head_makes_the_last_of_equal_stages_the_slowest(toy: Toy) -> None:
    arch = toy.model(layers=8)
    found = parts(toy, arch, pp=4.0, layers_max=2.0, layers_last=2.0)
    linear = layers.linear_layer(arch, toy.layout(), toy.card(), toy.constants().experts)
    head = layers.head_passes(arch, toy.layout(), toy.card(), toy.constants().elementwise)[0]
    layer = seconds(linear["projections"].total) + seconds(linear["dense"].total)
    assert found["compute"] == pytest.approx(4 * (2 * layer + seconds(head.total)))


def test_a_last_stage_with_room_leaves_a_middle_stage_slowest(toy: Toy) -> None:
    arch = toy.model(layers=31, vocab=100)
    found = parts(toy, arch, pp=4.0, layers_max=8.0, layers_last=7.0)
    linear = layers.linear_layer(arch, toy.layout(), toy.card(), toy.constants().experts)
    layer = seconds(linear["projections"].total) + seconds(linear["dense"].total)
    assert found["compute"] == pytest.approx(4 * 8 * layer)


def test_stages_laid_out_by_hand_take_no_more_than_the_mean(toy: Toy) -> None:
    # 7 layers and a head worth several on 4 stages of 2, 2, 2, 1: the head would make the last stage slowest
    arch = toy.model(layers=7)
    choices = {"pp": 4.0, "layers_max": 2.0, "layers_last": 1.0}
    found = parts(toy, arch, constants={"elementwise.loss_bytes": 0.0}, card=toy.card(head_rate=200e12), **choices)
    one = timing.layer_passes(arch, toy.layout(**choices), toy.card(), toy.constants())
    layer = sum(seconds(p.total) for p in one.values())
    head = seconds(
        layers.head_passes(arch, toy.layout(), toy.card(head_rate=200e12), toy.constants().elementwise)[0].total
    )
    busy = sum(found[n] for n in ("compute", "attention", "memory")) / 4
    assert busy == pytest.approx(max((7 * layer + head) / 4, head, 2 * layer))
    assert found["bubble"] == pytest.approx(7 * layer + head - busy + 3 * found["pp"] / 4)


def test_stage_sends_are_exposed_in_part(toy: Toy) -> None:
    arch, choices = toy.model(layers=8), {"pp": 4.0, "tp": 8.0, "layers_max": 2.0, "layers_last": 2.0}
    once = seconds(dimensions.boundary(arch, toy.layout(**choices), toy.network()).seconds)
    assert parts(toy, arch, {"overlap.pp": 0.5}, **choices)["pp"] == pytest.approx(4 * 0.5 * once)


def test_zero_bubble_waits_for_what_weight_gradients_cannot_fill(toy: Toy) -> None:
    # 3 (F + B - 2W) with sends half in F and half in B
    arch = toy.model(layers=8, vocab=1)
    choices = {
        "pp": 4.0,
        "layers_max": 2.0,
        "layers_last": 2.0,
        "schedule": bubble.Schedule.ZB_1P,
        "micro_batches": 64.0,
    }
    found = parts(toy, arch, **choices)
    stage = sum(found[n] for n in ("compute", "attention", "memory", "pp")) / 64
    assert found["bubble"] == pytest.approx(3 * (stage - 2 / 3 * found["compute"] / 64))


def test_data_exchange_hides_in_part_of_a_micro_batch(toy: Toy) -> None:
    lay = toy.layout(dp=16.0)
    all_of_it = seconds(dimensions.data(dimensions.largest_stage(toy.model(), lay), lay, toy.network()).seconds)
    assert parts(toy, dp=16.0)["dp"] == pytest.approx(all_of_it)
    assert parts(toy, constants={"overlap.dp": 0.25, "overlap.window_dp": 1e6}, dp=16.0)["dp"] == pytest.approx(
        all_of_it / 4
    )


def test_the_last_bucket_of_plain_replicas_stands_alone(toy: Toy) -> None:
    # PyTorch, DistributedDataParallel: a bucket is reduced while the gradients of the next are computed.
    choices = {"dp": 16.0, "zero_stage": 0.0}
    lay, wide = toy.layout(**choices), {"overlap.window_dp": 1e6}
    held = dimensions.largest_stage(toy.model(), lay)
    all_of_it, size = seconds(dimensions.data(held, lay, toy.network()).seconds), 2 * seconds(held[0])
    assert parts(toy, constants=wide, **choices, bucket_bytes=size / 8)["dp"] == pytest.approx(all_of_it / 8)
    assert parts(toy, constants=wide, **choices, bucket_bytes=2 * size)["dp"] == pytest.approx(all_of_it)
    assert parts(toy, **choices, bucket_bytes=size / 8)["dp"] == pytest.approx(all_of_it)
    sharded = parts(toy, constants=wide, dp=16.0, zero_stage=1.0, bucket_bytes=size / 8)
    assert sharded["dp"] == pytest.approx(all_of_it)


def test_sharded_weights_hide_behind_every_micro_batch(toy: Toy) -> None:
    lay = toy.layout(dp=16.0, zero_stage=3.0)
    all_of_it = seconds(dimensions.data(dimensions.largest_stage(toy.model(), lay), lay, toy.network()).seconds)
    alone = parts(toy, constants={"overlap.fsdp": 0.25}, dp=16.0, zero_stage=3.0)
    busy = alone["compute"] + alone["attention"] + alone["memory"]
    assert alone["dp"] == pytest.approx(all_of_it)
    some = parts(toy, constants={"overlap.fsdp": 0.0, "overlap.window_fsdp": 0.01}, dp=16.0, zero_stage=3.0)["dp"]
    assert some == pytest.approx(max(all_of_it - 0.01 * busy, 0))


def test_optimizer_by_hand(toy: Toy) -> None:
    constants = {"elementwise.optimizer_hbm_share": 0.5}
    held = seconds(dimensions.updated_parameters(dimensions.largest_stage(toy.model(), toy.layout()), toy.layout()))
    assert parts(toy, constants=constants)["optimizer"] == pytest.approx(30 * held / 1e12)


def test_scale_costs_a_share_per_doubling_beyond_one_host(toy: Toy) -> None:
    constants = {"host.scale_loss": 0.01}
    found = parts(toy, constants=constants, dp=64.0)
    rest = sum(value for name, value in found.items() if name != "scale")
    assert found["scale"] == pytest.approx(0.01 * 3 * rest)
    assert parts(toy, constants=constants, dp=4.0)["scale"] == 0.0


def test_passes_add_and_repeat() -> None:
    one = Passes(np.array([1.0]), np.array([2.0]), np.array([0.5]))
    twice = one.plus(one).times(np.array([3.0]))
    assert [seconds(x) for x in (twice.forward, twice.backward, twice.weight, twice.total)] == [6, 12, 3, 18]


def test_layout_properties(toy: Toy) -> None:
    lay = toy.layout(tp=2.0, cp=4.0, pp=8.0, dp=16.0, ep=8.0)
    assert (seconds(lay.accelerators), seconds(lay.tokens), seconds(lay.expert_replicas)) == (1024, 512, 16)


@pytest.mark.parametrize("factor", [1.1, 2.0, 10.0])
@pytest.mark.parametrize("rate", ["linear_rate", "head_rate", "core_rate", "hbm_bandwidth", "scale_up", "scale_out"])
def test_a_faster_part_always_shortens_the_step(toy: Toy, rate: str, factor: float) -> None:
    choices = {"tp": 4.0, "pp": 2.0, "dp": 4.0, "layers_max": 2.0, "layers_last": 2.0}
    slow = sum(parts(toy, **choices).values())
    base = float(np.atleast_1d(getattr(toy.card(), rate, getattr(toy.network(), rate, 0.0)))[0])
    assert sum(parts(toy, card=toy.card(**{rate: base * factor}), **choices).values()) < slow


def test_a_table_gives_what_its_rows_give(toy: Toy) -> None:
    degrees = np.array([1.0, 2.0, 8.0])
    table = timing.step_seconds(timing.step_parts(toy.model(), toy.layout(tp=degrees), toy.card(), toy.constants()))
    each = [sum(parts(toy, tp=t).values()) for t in degrees]
    assert table == pytest.approx(each)


def test_a_stated_split_is_taken_as_it_is(toy: Toy) -> None:
    arch = toy.model(layers=7)
    choices = {"pp": 4.0, "layers_max": 2.0, "layers_last": 1.0, "split_stated": 1.0}
    found = parts(toy, arch, **choices)
    head = layers.head_passes(arch, toy.layout(), toy.card(), toy.constants().elementwise)
    layer = sum(seconds(p.total) for p in timing.layer_passes(arch, toy.layout(), toy.card(), toy.constants()).values())
    busy = sum(found[n] for n in ("compute", "attention", "memory")) / 4
    assert busy == pytest.approx(layer + seconds(head[0].total) + seconds(head[1].total))


def test_stacks_on_fsdp_do_not_hide_tensor_collectives(toy: Toy) -> None:
    constants = {"overlap.tp": 0.25}
    choices = {"tp": 2.0, "sequence_parallel": 1.0}
    hidden, bare = (parts(toy, constants=constants, zero_stage=z, **choices)["tp"] for z in (2.0, 3.0))
    assert bare == pytest.approx(4 * hidden)


def test_a_compiled_step_hides_operands_and_collectives(toy: Toy) -> None:
    constants = {
        "overlap.compiled": 0.25,
        "elementwise.compiled": 0.5,
        "elementwise.passes": 2.0,
        "overlap.window_dp": 1e6,
    }
    eager = parts(toy, constants=constants, tp=2.0, dp=16.0)
    compiled = parts(toy, constants=constants, tp=2.0, dp=16.0, compiled=1.0)
    assert compiled["tp"] == pytest.approx(eager["tp"] / 4)
    assert compiled["dp"] == pytest.approx(eager["dp"] / 4)
    loss = layers.head_passes(toy.model(), toy.layout(tp=2.0), toy.card(), toy.constants().elementwise)[1]
    moved = eager["memory"] - 4 * seconds(loss.total)
    assert compiled["memory"] - 4 * seconds(loss.total) == pytest.approx(moved / 4)
    assert compiled["compute"] < eager["compute"]


def test_a_frozen_base_has_no_gradients_of_weights(toy: Toy) -> None:
    # forward and input gradients: two thirds of the products (Hu et al. 2021, arXiv:2106.09685)
    full, frozen = (parts(toy, trained=share) for share in (1.0, 0.01))
    assert frozen["compute"] == pytest.approx(2 / 3 * full["compute"])
    assert frozen["attention"] == full["attention"]
    assert frozen["optimizer"] == pytest.approx(0.01 * full["optimizer"])


def test_layers_take_no_less_than_the_steps_of_their_collectives(toy: Toy) -> None:
    # eight all-reduces of eight ranks a layer would take 14 steps each way; 1 ms a step outweighs the work
    slow = toy.card(hop_up=1e-3)
    found = parts(toy, card=slow, tp=8.0)
    head = layers.head_passes(toy.model(), toy.layout(tp=8.0), toy.card(), toy.constants().elementwise)
    layer = 4 * 14 * 1e-3
    busy = sum(found[n] for n in ("compute", "attention", "memory", "tp", "host"))
    assert busy == pytest.approx(4 * (4 * layer + seconds(head[0].total) + seconds(head[1].total)))
