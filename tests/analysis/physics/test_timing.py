"""Whole steps on a card of round numbers: what each part is, and how the parts make a step."""

from types import SimpleNamespace
from typing import Any

import numpy as np
import pytest

from analysis.physics import bubble, exchange, layers, timing
from analysis.physics.work import Passes


def seconds(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])


def parts(house: SimpleNamespace, arch: Any = None, constants: Any = None, card: Any = None, **choices: Any) -> Any:
    found = timing.step_parts(arch or house.model(), house.layout(**choices), card or house.card(),
                              house.neutral | (constants or {}))  # fmt: skip
    return {name: seconds(value) for name, value in found.items()}


def test_step_is_the_sum_of_its_parts(house: SimpleNamespace) -> None:
    assert seconds(timing.step_seconds({"a": np.asarray([2.0]), "b": np.asarray([0.5])})) == 2.5


def test_compute_of_a_step_counts_layers_head_and_micro_batches(house: SimpleNamespace) -> None:
    found = parts(house, card=house.fast_card(head_rate=200e12))
    layer = 4 * 1024 * 1024 + 3 * 1024 * 4096  # attention with eight heads of 128, gated MLP
    assert found["compute"] == pytest.approx(4 * 6 * 2048 * (4 * layer + 1024 * 32000) / 200e12)


def test_one_stage_on_one_card_has_only_work(house: SimpleNamespace) -> None:
    found = parts(house)
    idle = {name for name, value in found.items() if value == 0}
    assert idle == {"moe", "tp", "cp", "ep", "host", "pp", "bubble", "dp", "scale"}


def test_attention_and_memory_are_those_of_the_layers(house: SimpleNamespace) -> None:
    found = parts(house)
    core = layers.core_layer(house.model(), house.layout(), house.card(), house.neutral)
    assert found["attention"] == pytest.approx(4 * 4 * seconds(core.total))
    work = layers.memory_layer(house.model(), house.layout(), house.card(), house.neutral)
    loss = layers.head_passes(house.model(), house.layout(), house.card(), house.neutral)[1]
    layer = seconds(work["common"].total) + seconds(work["dense"].total)
    assert found["memory"] == pytest.approx(4 * (4 * layer + seconds(loss.total)))


def test_a_layer_for_the_second_token_is_depth_like_any_other(house: SimpleNamespace) -> None:
    # DeepSeek-V3 (arXiv:2412.19437, Section 2.2): one prediction module is one more layer; no vocabulary, no head.
    uneven = {"pp": 2.0, "layers_max": 3.0, "layers_last": 3.0}
    module = parts(house, house.model(vocab=1, layers=4, mtp_layers=1), **uneven)
    layer = parts(house, house.model(vocab=1, layers=5), **uneven)
    assert module["bubble"] == pytest.approx(layer["bubble"], rel=5e-3)
    assert module["compute"] == pytest.approx(layer["compute"], rel=5e-3)


def test_full_recompute_adds_one_forward_of_everything_but_the_head(house: SimpleNamespace) -> None:
    all_again = {f"recompute_{n}": 1.0 for n in ("layer", "projections", "mlp", "core", "elementwise")}
    arch = house.model(vocab=1)
    once, again = parts(house, arch), parts(house, arch, **all_again)
    for name, share in (("compute", 4 / 3), ("attention", 4.5 / 3.5), ("memory", 4 / 3)):
        assert again[name] / once[name] == pytest.approx(share, rel=5e-4)


@pytest.mark.parametrize(("choice", "part"), [("projections", "compute"), ("mlp", "compute"), ("core", "attention"),
                                              ("elementwise", "memory"), ("layer", "tp")])  # fmt: skip
def test_each_share_repeats_its_own_work_only(house: SimpleNamespace, choice: str, part: str) -> None:
    once, again = parts(house, tp=2.0), parts(house, tp=2.0, **{f"recompute_{choice}": 1.0})
    assert [name for name in once if again[name] > once[name] * (1 + 1e-12)] == [part]


def test_recomputed_layers_repeat_their_collectives(house: SimpleNamespace) -> None:
    once, again = parts(house, tp=2.0), parts(house, tp=2.0, recompute_layer=1.0)
    assert again["tp"] == pytest.approx(1.5 * once["tp"])


def test_moe_layers_mix_by_their_share(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe, dense_layers=1)
    linear = layers.linear_layer(arch, house.layout(), house.card(), house.neutral)
    head = layers.head_passes(arch, house.layout(), house.card(), house.neutral)[0]
    mix = 4 * seconds(linear["projections"].total) + seconds(linear["dense"].total)
    mix += 3 * (seconds(linear["routed"].total) + seconds(linear["shared"].total))
    assert parts(house, arch)["compute"] == pytest.approx(4 * (mix + seconds(head.total)))
    again = parts(house, arch, recompute_routed=1.0, recompute_shared=1.0)["compute"]
    mix += 3 * (seconds(linear["routed"].forward) + seconds(linear["shared"].forward))
    assert again == pytest.approx(4 * (mix + seconds(head.total)))


def test_moe_memory_and_exchange_mix_by_their_share(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe, dense_layers=1)
    work = layers.memory_layer(arch, house.layout(ep=8.0, dp=8.0), house.card(), house.neutral)
    loss = layers.head_passes(arch, house.layout(), house.card(), house.neutral)[1]
    mix = 4 * seconds(work["common"].total) + seconds(work["dense"].total) + 3 * seconds(work["moe"].total)
    found = parts(house, arch, ep=8.0, dp=8.0)
    assert found["memory"] == pytest.approx(4 * (mix + seconds(loss.total)))
    swap = exchange.expert_seconds(arch, house.layout(ep=8.0), house.card(), house.neutral)
    assert found["ep"] == pytest.approx(4 * 3 * seconds(swap.total))


def test_fixed_costs_of_experts_by_hand(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe, dense_layers=1)
    constants = {"moe.layer_seconds": 1e-3, "moe.expert_seconds": 1e-4}
    # four micro-batches, three MoE layers, 16/8 experts a rank
    assert parts(house, arch, constants, ep=8.0, dp=8.0)["moe"] == pytest.approx(4 * 3 * (1e-3 + 2e-4))


@pytest.mark.parametrize(("name", "choices"), [("tp_all_reduce", {"tp": 2.0}), ("cp", {"cp": 2.0}),
                                               ("tp", {"tp": 2.0, "sequence_parallel": 1.0})])  # fmt: skip
def test_exposed_shares_scale_their_dimension(house: SimpleNamespace, name: str, choices: Any) -> None:
    part = "tp" if name.startswith("tp") else name
    full, half = (parts(house, constants={f"exposed.{name}": x}, **choices)[part] for x in (1.0, 0.5))
    assert half == pytest.approx(full / 2)
    assert full > 0


def test_exposed_expert_exchange_scales(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe)
    full, half = (parts(house, arch, {"exposed.ep": x}, ep=8.0, dp=8.0)["ep"] for x in (1.0, 0.5))
    assert half == pytest.approx(full / 2)


def test_layers_take_no_less_than_the_host_needs_to_issue_them(house: SimpleNamespace) -> None:
    found = parts(house, constants={"host.layer_seconds": 1.0})
    head = layers.head_passes(house.model(), house.layout(), house.card(), house.neutral)
    busy = sum(found[n] for n in ("compute", "attention", "memory", "host"))
    assert busy == pytest.approx(4 * (4 * 1.0 + seconds(head[0].total) + seconds(head[1].total)))
    assert parts(house, constants={"host.layer_seconds": 1e-9})["host"] == 0.0


def test_moe_layers_have_their_own_issue_time(house: SimpleNamespace) -> None:
    arch = house.model(**house.moe | {"dense_layers": 1, "vocab": 1})
    constants = {"host.layer_seconds": 1.0, "host.moe_layer_seconds": 2.0}
    found = parts(house, arch, constants)
    assert sum(found[n] for n in ("compute", "attention", "memory", "host")) == pytest.approx(4 * (1 + 3 * 2), rel=1e-4)


def test_balanced_pipeline_idles_by_its_schedule(house: SimpleNamespace) -> None:
    arch = house.model(layers=8, vocab=1)
    found = parts(house, arch, pp=4.0, layers_max=2.0, layers_last=2.0, card=house.card(scale_up=np.inf))
    work = found["compute"] + found["attention"] + found["memory"]
    assert found["bubble"] / work == pytest.approx(float(bubble.bubble_ratio(4, 4)), rel=2e-3)


def test_head_makes_the_last_of_equal_stages_the_slowest(house: SimpleNamespace) -> None:
    arch = house.model(layers=8)
    found = parts(house, arch, pp=4.0, layers_max=2.0, layers_last=2.0)
    linear = layers.linear_layer(arch, house.layout(), house.card(), house.neutral)
    head = layers.head_passes(arch, house.layout(), house.card(), house.neutral)[0]
    layer = seconds(linear["projections"].total) + seconds(linear["dense"].total)
    assert found["compute"] == pytest.approx(4 * (2 * layer + seconds(head.total)))


def test_a_last_stage_with_room_leaves_a_middle_stage_slowest(house: SimpleNamespace) -> None:
    arch = house.model(layers=31, vocab=100)
    found = parts(house, arch, pp=4.0, layers_max=8.0, layers_last=7.0)
    linear = layers.linear_layer(arch, house.layout(), house.card(), house.neutral)
    layer = seconds(linear["projections"].total) + seconds(linear["dense"].total)
    assert found["compute"] == pytest.approx(4 * 8 * layer)


def test_stages_laid_out_by_hand_take_no_more_than_the_mean(house: SimpleNamespace) -> None:
    # 7 layers and a head worth several on 4 stages of 2, 2, 2, 1: the head would make the last stage slowest
    arch = house.model(layers=7)
    choices = {"pp": 4.0, "layers_max": 2.0, "layers_last": 1.0}
    found = parts(house, arch, constants={"head.loss_bytes": 0.0}, card=house.card(head_rate=200e12), **choices)
    one = timing.layer_passes(arch, house.layout(**choices), house.card(), house.neutral)
    layer = sum(seconds(p.total) for p in one.values())
    head = seconds(layers.head_passes(arch, house.layout(), house.card(head_rate=200e12), house.neutral)[0].total)
    busy = sum(found[n] for n in ("compute", "attention", "memory")) / 4
    assert busy == pytest.approx(max((7 * layer + head) / 4, head, 2 * layer))
    assert found["bubble"] == pytest.approx(7 * layer + head - busy + 3 * found["pp"] / 4)


def test_stage_sends_are_exposed_in_part(house: SimpleNamespace) -> None:
    arch, choices = house.model(layers=8), {"pp": 4.0, "tp": 8.0, "layers_max": 2.0, "layers_last": 2.0}
    once = seconds(exchange.boundary_seconds(arch, house.layout(**choices), house.card(), house.neutral))
    assert parts(house, arch, {"exposed.pp": 0.5}, **choices)["pp"] == pytest.approx(4 * 0.5 * once)


def test_zero_bubble_waits_for_what_weight_gradients_cannot_fill(house: SimpleNamespace) -> None:
    # 3 (F + B - 2W) with sends half in F and half in B
    arch = house.model(layers=8, vocab=1)
    choices = {"pp": 4.0, "layers_max": 2.0, "layers_last": 2.0, "schedule": bubble.ZB_1P, "micro_batches": 64.0}
    found = parts(house, arch, **choices)
    stage = sum(found[n] for n in ("compute", "attention", "memory", "pp")) / 64
    assert found["bubble"] == pytest.approx(3 * (stage - 2 / 3 * found["compute"] / 64))


def test_data_exchange_hides_in_part_of_a_micro_batch(house: SimpleNamespace) -> None:
    lay = house.layout(dp=16.0)
    all_of_it = seconds(exchange.data_seconds(house.model(), lay, house.card(), house.neutral))
    assert parts(house, dp=16.0)["dp"] == pytest.approx(all_of_it)
    assert parts(house, constants={"exposed.dp": 0.25, "window.dp": 1e6}, dp=16.0)["dp"] == pytest.approx(all_of_it / 4)


def test_sharded_weights_hide_behind_every_micro_batch(house: SimpleNamespace) -> None:
    lay = house.layout(dp=16.0, zero_stage=3.0)
    all_of_it = seconds(exchange.data_seconds(house.model(), lay, house.card(), house.neutral))
    alone = parts(house, constants={"exposed.fsdp": 0.25}, dp=16.0, zero_stage=3.0)
    busy = alone["compute"] + alone["attention"] + alone["memory"]
    assert alone["dp"] == pytest.approx(all_of_it)
    some = parts(house, constants={"exposed.fsdp": 0.0, "window.fsdp": 0.01}, dp=16.0, zero_stage=3.0)["dp"]
    assert some == pytest.approx(max(all_of_it - 0.01 * busy, 0))


def test_optimizer_by_hand(house: SimpleNamespace) -> None:
    constants = {"optimizer.hbm_share": 0.5}
    held = seconds(exchange.updated_parameters(house.model(), house.layout()))
    assert parts(house, constants=constants)["optimizer"] == pytest.approx(30 * held / 1e12)


def test_scale_costs_a_share_per_doubling_beyond_one_host(house: SimpleNamespace) -> None:
    constants = {"scale.loss_per_doubling": 0.01}
    found = parts(house, constants=constants, dp=64.0)
    rest = sum(value for name, value in found.items() if name != "scale")
    assert found["scale"] == pytest.approx(0.01 * 3 * rest)
    assert parts(house, constants=constants, dp=4.0)["scale"] == 0.0


def test_passes_add_and_repeat() -> None:
    one = Passes(np.array([1.0]), np.array([2.0]), np.array([0.5]))
    twice = one.plus(one).times(np.array([3.0]))
    assert [seconds(x) for x in (twice.forward, twice.backward, twice.weight, twice.total)] == [6, 12, 3, 18]


def test_layout_properties(house: SimpleNamespace) -> None:
    lay = house.layout(tp=2.0, cp=4.0, pp=8.0, dp=16.0, ep=8.0)
    assert (seconds(lay.accelerators), seconds(lay.tokens), seconds(lay.expert_replicas)) == (1024, 512, 16)


@pytest.mark.parametrize("factor", [1.1, 2.0, 10.0])
@pytest.mark.parametrize("rate", ["linear_rate", "head_rate", "core_rate", "hbm_bandwidth", "scale_up", "scale_out"])
def test_a_faster_part_always_shortens_the_step(house: SimpleNamespace, rate: str, factor: float) -> None:
    choices = {"tp": 4.0, "pp": 2.0, "dp": 4.0, "layers_max": 2.0, "layers_last": 2.0}
    slow = sum(parts(house, **choices).values())
    base = float(getattr(house.card(), rate)[0])
    assert sum(parts(house, card=house.card(**{rate: base * factor}), **choices).values()) < slow


def test_a_table_gives_what_its_rows_give(house: SimpleNamespace) -> None:
    degrees = np.array([1.0, 2.0, 8.0])
    table = timing.step_seconds(timing.step_parts(house.model(), house.layout(tp=degrees), house.card(), house.neutral))
    each = [sum(parts(house, tp=t).values()) for t in degrees]
    assert table == pytest.approx(each)


def test_a_stated_split_is_taken_as_it_is(house: SimpleNamespace) -> None:
    arch = house.model(layers=7)
    choices = {"pp": 4.0, "layers_max": 2.0, "layers_last": 1.0, "split_stated": 1.0}
    found = parts(house, arch, **choices)
    head = layers.head_passes(arch, house.layout(), house.card(), house.neutral)
    layer = sum(
        seconds(p.total) for p in timing.layer_passes(arch, house.layout(), house.card(), house.neutral).values()
    )
    busy = sum(found[n] for n in ("compute", "attention", "memory")) / 4
    assert busy == pytest.approx(layer + seconds(head[0].total) + seconds(head[1].total))


def test_stacks_on_fsdp_do_not_hide_tensor_collectives(house: SimpleNamespace) -> None:
    constants = {"exposed.tp": 0.25}
    choices = {"tp": 2.0, "sequence_parallel": 1.0}
    hidden, bare = (parts(house, constants=constants, zero_stage=z, **choices)["tp"] for z in (2.0, 3.0))
    assert bare == pytest.approx(4 * hidden)


def test_a_compiled_step_hides_operands_and_collectives(house: SimpleNamespace) -> None:
    constants = {"exposed.compiled": 0.25, "elementwise.compiled": 0.5, "elementwise.passes": 2.0, "window.dp": 1e6}
    eager = parts(house, constants=constants, tp=2.0, dp=16.0)
    compiled = parts(house, constants=constants, tp=2.0, dp=16.0, compiled=1.0)
    assert compiled["tp"] == pytest.approx(eager["tp"] / 4)
    assert compiled["dp"] == pytest.approx(eager["dp"] / 4)
    loss = layers.head_passes(house.model(), house.layout(tp=2.0), house.card(), house.neutral)[1]
    moved = eager["memory"] - 4 * seconds(loss.total)
    assert compiled["memory"] - 4 * seconds(loss.total) == pytest.approx(moved / 4)
    assert compiled["compute"] < eager["compute"]
