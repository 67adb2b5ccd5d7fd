"""Bytes that one accelerator sends per step, by hand for a small model: four layers, width 1,024, 2,048 tokens."""

from types import SimpleNamespace

import numpy as np
import pytest

from analysis.physics import traffic

#: Two tables of 32,000 x 1,024; four layers of 4 h^2 + 3 h f + 2 h; a last norm.
PARAMETERS = 2 * 32000 * 1024 + 4 * (4 * 1024**2 + 3 * 1024 * 4096 + 2 * 1024) + 1024
OPERAND = 2 * 2048 * 1024.0


def sent(house: SimpleNamespace, facts: dict[str, float] | None = None, **layout: float) -> dict[str, float]:
    of_step = traffic.sent_bytes(house.model(**(facts or {})), house.layout(**layout))
    return {name: float(np.asarray(value).reshape(-1)[0]) for name, value in of_step.items()}


def test_one_rank_sends_nothing(house: SimpleNamespace) -> None:
    assert sent(house) == dict.fromkeys(traffic.DIMENSIONS, 0.0)


@pytest.mark.parametrize(("stage", "per_parameter"), [(0, 4), (1, 4), (2, 4)])
def test_data_parallelism_sends_gradients_and_weights_once(
    house: SimpleNamespace, stage: int, per_parameter: int
) -> None:
    # ZeRO (arXiv:1910.02054) sec. 7: stages 0 to 2 move 2 Psi elements of two bytes; a rank of eight sends 7/8 of them
    of_step = sent(house, dp=8.0, zero_stage=float(stage))["dp"]
    assert of_step == pytest.approx(7 / 8 * per_parameter * PARAMETERS)


def test_zero_3_sends_half_as_much_again_for_every_micro_batch(house: SimpleNamespace) -> None:
    # ZeRO sec. 7.2.2: 3 Psi; weights are gathered and gradients scattered for each micro-batch
    one, four = (sent(house, dp=8.0, zero_stage=3.0, micro_batches=count)["dp"] for count in (1.0, 4.0))
    assert one == pytest.approx(1.5 * sent(house, dp=8.0)["dp"])
    assert four == pytest.approx(4 * one)


def test_context_ranks_share_the_gradients(house: SimpleNamespace) -> None:
    assert sent(house, dp=4.0, cp=2.0)["dp"] == pytest.approx(sent(house, dp=8.0)["dp"])


def test_tensor_parallelism_makes_four_all_reduces_a_layer(house: SimpleNamespace) -> None:
    # Megatron-LM (arXiv:1909.08053) fig. 4: two forward, two backward; a ring sends 2 * 7/8 of the operand
    assert sent(house, tp=8.0)["tp"] == pytest.approx(2 * 7 / 8 * 4 * OPERAND * 4 * 4)


def test_pipeline_sends_its_boundary_both_ways(house: SimpleNamespace) -> None:
    assert sent(house, pp=2.0, layers_max=2.0)["pp"] == pytest.approx(2 * OPERAND * 4)


def test_context_parallelism_sends_keys_and_values_three_times(house: SimpleNamespace) -> None:
    # half of 2 B x 2,048 tokens x (8 + 8 heads x 128), forward once and backward twice, four layers and micro-batches
    assert sent(house, cp=2.0)["cp"] == pytest.approx(0.5 * 2 * 2048 * 2048 * 3 * 4 * 4)


def test_experts_send_every_chosen_token_there_and_back_twice(house: SimpleNamespace) -> None:
    # 2 of 16 experts: dispatch and combine, forward and backward, 2 B x 1,024 each; 3 of 4 ranks are elsewhere
    of_step = sent(house, {"experts": 16, "experts_per_token": 2, "moe_ffn_hidden": 512}, dp=4.0, ep=4.0)["ep"]
    assert of_step == pytest.approx(3 / 4 * 2048 * 2 * (4 * 2 * 1024) * 4 * 4)


def test_a_pair_is_the_smallest_group_that_has_a_place(house: SimpleNamespace) -> None:
    # Boxes of eight: TP 2 stays inside, DP 2 strides over TP 2 x CP 1 = 2 ranks and stays too, one rank is no group;
    # stages are TP 2 x DP 8 = 16 ranks apart and never share a box.
    near = traffic.placement(house.layout(tp=2.0, dp=2.0), np.asarray([8.0]))
    assert [float(near[axis][0]) for axis in ("tp", "dp")] == [1.0, 1.0]
    assert np.isnan([near[axis][0] for axis in ("cp", "ep", "pp")]).all()
    far = traffic.placement(house.layout(tp=2.0, dp=8.0, pp=2.0), np.asarray([8.0]))
    assert [float(far[axis][0]) for axis in ("tp", "dp", "pp")] == [1.0, 0.0, 0.0]
