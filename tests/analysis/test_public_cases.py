"""Layouts, links and utilisations that public bug reports of neighbouring tools got wrong, with the right value."""

from pathlib import Path
from typing import Any

import numpy as np
import pytest
import yaml

from analysis.physics import attention, pipeline
from analysis.physics.architecture import describe
from analysis.physics.collectives import ring
from analysis.physics.links import Network

from .rows import read

PARTS = Path(__file__).parents[2] / "data" / "accelerators"
MOE = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336}


def part(name: str) -> dict[str, Any]:
    found: dict[str, Any] = yaml.safe_load((PARTS / f"{name}.yaml").read_text(encoding="utf-8"))
    return found


def reason(**change: Any) -> str:
    return str(read(change).time_reasons[0])


def test_half_of_a_published_nvlink_figure_is_one_direction() -> None:
    # https://github.com/stas00/ml-engineering/pull/38: H100, 18 links of 25 GB/s each way
    assert part("nvidia/h100-sxm-80gb")["scale_up_gb_s"] == 18 * 25


def test_h800_has_eight_links_one_way() -> None:
    # https://github.com/deepseek-ai/DeepSeek-V3/issues/28: 400 GB/s is both ways, 200 one way; InfiniBand 50 GB/s
    assert part("nvidia/h800-sxm-80gb")["scale_up_gb_s"] == 8 * 25
    assert part("nvidia/h100-sxm-80gb")["scale_out_gbit_s"] / 8 == 50


def test_nvlink_is_seven_times_pcie_like_for_like() -> None:
    # https://github.com/caomaolufei/AIInfraGuide/issues/44: 450 against 64 GB/s, not 900
    assert round(part("nvidia/h100-sxm-80gb")["scale_up_gb_s"] / 64) == 7


def test_the_share_of_the_own_rank_is_taken_off_once() -> None:
    # https://github.com/ShashankSubramanian/transformer-perf-estimates/issues/19: (n-1)/n of a reduce-scatter
    box = Network(*(np.asarray(x) for x in (1e9, 1e9, np.nan, 8.0, 0.0, 0.0, 0.0)))
    assert float(ring(8e9, 8.0, 1.0, box).sent) == float(ring(8e9, 8.0, 1.0, box).seconds * 1e9) == 7e9


def test_ep_that_does_not_divide_is_refused() -> None:
    # https://github.com/pytorch/torchtitan/pull/4258: 8 ranks, ep 3
    assert "ep*etp is 3, which does not divide the 8 accelerators" in reason(ep=3, etp=1, **MOE)


def test_expert_tensor_size_stays_what_was_asked_for() -> None:
    # https://github.com/NVIDIA-NeMo/Megatron-Bridge/issues/546: TP4 EP4 ETP1 on 4 GPUs is valid, ETP4 would need 16
    layout = {"accelerators": 4, "tp": 4, "dp": 1, "ep": 4, **MOE}
    assert reason(**layout, etp=1) == ""
    assert float(read(layout | {"etp": None}).split.etp[0]) == 1
    assert "ep*etp is 16" in reason(**layout, etp=4)


def test_two_experts_groups_on_two_stages_fit_four_ranks() -> None:
    # https://github.com/NVIDIA-NeMo/Speech/issues/14838: tp1 pp2 ep2 etp1 is 4 ranks; ep 8 is not
    layout = {"accelerators": 4, "tp": 1, "pp": 2, "dp": 2, "etp": 1, **MOE}
    assert reason(**layout, ep=2) == ""
    assert "ep*etp is 8, which does not divide the 2 accelerators" in reason(**layout, ep=8)


def test_layouts_beyond_max_tp_ep_times_pp_are_valid() -> None:
    # https://github.com/NVIDIA-NeMo/Megatron-Bridge/pull/2530: 16 GPUs, TP2 PP2 EP4: max(TP, EP) * PP = 8 is no rule
    assert reason(accelerators=16, tp=2, pp=2, dp=4, ep=4, etp=1, **MOE) == ""


def test_forty_six_layers_on_four_stages_run() -> None:
    # https://github.com/modelscope/ms-swift/issues/5737: first and last stage 11, (46-22)/2 = 12 between
    assert reason(layers=46, pp=4, dp=2, layers_per_stage="[11, 12, 12, 11]") == ""
    dealt = [float(pipeline.layers_on_stage(np.asarray(46.0), 4, 1, np.asarray(float(i)))) for i in range(4)]
    assert dealt == [11, 12, 12, 11]


def test_no_layer_is_lost_between_ranks() -> None:
    # https://github.com/ml-explore/mlx-lm/issues/1688: 10 layers on 3 ranks
    dealt = [float(pipeline.layers_on_stage(np.asarray(10.0), 3, 1, np.asarray(float(i)))) for i in range(3)]
    assert sum(dealt) == 10
    assert max(dealt) - min(dealt) <= 1


def test_idle_accelerators_are_noticed() -> None:
    # https://github.com/GitM-Labs/runtime/pull/76: TP2 DP1 on 4 GPUs
    assert "tp*cp*pp*dp is 2 but accelerators is 4" in reason(accelerators=4, tp=2, dp=1)


def test_dense_peak_of_the_right_part() -> None:
    # https://github.com/Lightning-AI/pytorch-lightning/issues/21677: H100 NVL is 835.5 dense, not 1978.8
    assert part("nvidia/h100-nvl-94gb")["bf16_tflops"] == 835.5


def test_400_of_an_h100_is_forty_percent() -> None:
    # https://github.com/NVIDIA/Megatron-LM/issues/1276 and https://github.com/meta-llama/llama3/issues/324
    assert 400 / part("nvidia/h100-sxm-80gb")["bf16_tflops"] == pytest.approx(0.404, abs=5e-4)


def test_causal_kernels_are_held_against_causal_work() -> None:
    # https://github.com/pytorch/torchtitan/issues/341: 189 TFLOP/s causal on A100 is 60.6 %, not 121 %
    arch = describe({"layers": 1, "hidden": 4096, "heads": 32})
    causal, full = (float(attention.core_flop(arch, 1, 16384, 1, 1, causal=c)) for c in (True, False))
    assert full == 2 * causal
