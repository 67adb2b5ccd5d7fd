"""Accelerator records as sustained rates: which peak, which share, and what stood in for an unknown fact."""

from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.engine import rates as chips
from analysis.engine.assumptions import Assumption, Code
from analysis.engine.chip_facts import ChipFacts, chip_facts
from analysis.engine.timing_constants import (
    ByKnowledge,
    ClassValues,
    Interval,
    Intervals,
    Kernels,
    Measured,
    Power,
    Products,
    Timing,
)
from analysis.layout.arrays import read_rows
from analysis.physics.efficiency import Efficiency
from analysis.physics.links import Fabric
from analysis.physics.work import Chip

from ..physics.conftest import NEUTRAL
from ..rows import table

PARTS: dict[str, dict[str, Any]] = {
    "nvidia/h100-sxm-80gb": {"architecture": "hopper", "bf16_tflops": 989, "fp8_tflops": 1979, "tdp_w": 700,
                             "hbm_bandwidth_gb_s": 3350, "scale_up_gb_s": 450, "scale_up_domain": 8,
                             "scale_out_gbit_s": 400, "form_factor": "sxm", "hbm_gb": 80},
    "nvidia/h100-pcie-80gb": {"architecture": "hopper", "bf16_tflops": 756, "tdp_w": 350, "hbm_bandwidth_gb_s": 2040},
    "nvidia/gb300": {"architecture": "blackwell-ultra", "cores": "blackwell", "bf16_tflops": 2500,
                     "fp8_tflops": 5000, "fp4_tflops": 15000, "tdp_w": 1400,
                     "hbm_bandwidth_gb_s": 8000, "form_factor": "superchip"},
    "nvidia/v100-sxm-32gb": {"architecture": "volta", "has_bf16": False, "fp16_tflops": 125,
                             "fp32_tflops": 15.7, "tdp_w": 300, "hbm_bandwidth_gb_s": 898},
    "amd/mi300x": {"architecture": "cdna3", "fabric": "mesh", "bf16_tflops": 1307.4, "fp8_tflops": 2614.9, "tdp_w": 750,
                   "measured_matmul_bf16_tflops": 668.4, "hbm_bandwidth_gb_s": 5300},
    "google/tpu-v5e": {"architecture": "tpu-v5e", "compiled": True, "bf16_tflops": 197, "int8_tops": 393,
                       "hbm_bandwidth_gb_s": 819},
    "made/up": {"architecture": "new", "bf16_tflops": 100, "fp8_tflops": 200, "measured_matmul_fp8_tflops": 100,
                "hbm_bandwidth_gb_s": 1000},
    "nvidia/custom": {"architecture": "hopper", "hbm_bandwidth_gb_s": 2400, "tdp_w": 500},
}  # fmt: skip
EVEN = ByKnowledge(*(Interval(0.9, 1.1),) * 3)
K = Timing(
    efficiency=Efficiency(**NEUTRAL),
    products=Products(
        gemm={
            "hopper": {"bf16": 0.8, "fp8": 0.7}, "blackwell": {"bf16": 0.75, "fp8": 0.72, "fp4": 0.5},
            "volta": {"fp16": 0.65}, "cdna3": {"bf16": 0.55},
            "other": {"bf16": 0.7, "fp8": 0.6, "fp4": 0.45, "fp32": 0.85},
        },
        realised=0.9, rowwise=0.75, highest_share=0.97,
        power=Power(0.5, {"hopper": 700 / 989, "blackwell": 0.56}),
    ),
    kernels=Kernels({"hopper": 0.4, "blackwell": 0.46, "other": 0.3}, {"hopper": 0.2, "other": 0.1}),
    class_values=ClassValues(
        links={
            "hopper": {"scale_up_gb_s": 450.0, "scale_up_domain": 8.0, "scale_out_gbit_s": 400.0},
            "other": {"scale_up_domain": 8.0, "scale_out_gbit_s": 200.0},
        },
        peaks={"nvidia/custom": {"bf16_tflops": 900.0}},
        vocab=64000.0,
    ),
    intervals=Intervals(*(EVEN,) * 3, waiting_share=0.3, recompute=Interval(1.0, 1.0), unmeasured=Interval(0.9, 1.1)),
    measured=Measured({"hopper": 10.0, "blackwell": 10.0}, {"megatron-core": 10.0}, 10.0),
    stacks={},
)  # fmt: skip
ACCELERATORS = pd.DataFrame([{"id": name} | facts for name, facts in PARTS.items()])


def facts(*changes: dict[str, Any]) -> ChipFacts:
    rows = table(*changes)
    return chip_facts(read_rows(rows, ACCELERATORS), ACCELERATORS, K)


def rated(**change: Any) -> Chip:
    return chips.chip(facts(change), K)


def tera(rate: Any) -> float:
    return float(np.asarray(rate)[0]) / 1e12


def test_rates_of_an_h100_in_bf16() -> None:
    chip = rated()
    assert tera(chip.linear_rate) == tera(chip.head_rate) == pytest.approx(989 * 0.8)
    assert tera(chip.core_rate) == pytest.approx(989 * 0.4)
    assert tera(chip.biased_core_rate) == pytest.approx(989 * 0.2)


def test_fp8_speeds_up_the_layers_but_not_head_and_attention() -> None:
    chip = rated(precision="fp8")
    assert tera(chip.linear_rate) == pytest.approx(1979 * 0.7)
    assert tera(chip.head_rate) == pytest.approx(989 * 0.8)
    assert tera(chip.core_rate) == pytest.approx(989 * 0.4)


def test_rowwise_scaling_keeps_three_quarters() -> None:
    assert tera(rated(precision="fp8 rowwise").linear_rate) == pytest.approx(1979 * 0.7 * 0.75)


def test_integer_products_use_the_integer_peak() -> None:
    # TPU v5e: 393 TOP/s in INT8 beside 197 TFLOP/s in BF16; no fitted share, so the class share of 8-bit formats
    assert tera(rated(accelerator="google/tpu-v5e", precision="int8").linear_rate) == pytest.approx(393 * 0.6)


def test_four_bit_products_have_their_own_peak_and_share() -> None:
    assert tera(rated(accelerator="nvidia/gb300", precision="nvfp4").linear_rate) == pytest.approx(15000 * 0.5)


def test_blackwell_ultra_shares_the_constants_of_blackwell() -> None:
    assert tera(rated(accelerator="nvidia/gb300").linear_rate) == pytest.approx(2500 * 0.75)


def test_a_power_limited_part_runs_slower_than_its_generation() -> None:
    slow = 989 / 700 * 350 / 756
    assert tera(rated(accelerator="nvidia/h100-pcie-80gb").linear_rate) == pytest.approx(756 * 0.8 * slow**0.5)


def test_volta_has_fp16_but_no_bf16() -> None:
    assert tera(rated(accelerator="nvidia/v100-sxm-32gb", precision="fp16").linear_rate) == pytest.approx(125 * 0.65)
    assert np.isnan(tera(rated(accelerator="nvidia/v100-sxm-32gb", precision="bf16").linear_rate))


def test_single_precision_uses_the_plain_units() -> None:
    chip = rated(accelerator="nvidia/v100-sxm-32gb", precision="fp32")
    assert tera(chip.linear_rate) == tera(chip.head_rate) == pytest.approx(15.7 * 0.85)


def test_fp16_and_bf16_share_a_peak_where_only_one_is_printed() -> None:
    assert tera(rated(precision="fp16").linear_rate) == pytest.approx(989 * 0.8)


def test_measured_products_stand_in_for_a_missing_constant() -> None:
    assert tera(rated(accelerator="made/up", precision="fp8").linear_rate) == pytest.approx(100 * 0.9)
    assert tera(rated(accelerator="amd/mi300x", precision="fp8").linear_rate) == pytest.approx(2614.9 * 0.6)


def test_unnamed_architectures_use_the_class_and_say_so() -> None:
    found = facts({"accelerator": "made/up"})
    assert tera(chips.chip(found, K).linear_rate) == pytest.approx(70)
    assert found.assumed[Assumption(Code.CLASS_EFFICIENCY)].tolist() == [True]


def test_an_unpublished_peak_is_assumed_by_name() -> None:
    found = facts({"accelerator": "nvidia/custom"})
    assert float(found.half_peak[0]) == 900e12
    assumption = Assumption(Code.PEAK, "bf16_tflops", "nvidia/custom", 900.0)
    assert found.assumed[assumption].tolist() == [True]
    assert assumption.text() == "bf16_tflops of nvidia/custom is not published (900 used)"


@pytest.mark.parametrize(("ranks", "sentences"), [(1, 0), (8, 2), (16, 3)])
def test_class_links_are_named_only_where_someone_is_at_the_other_end(ranks: int, sentences: int) -> None:
    change = {"accelerator": "nvidia/h100-pcie-80gb", "accelerators": ranks, "dp": ranks}
    found = facts(change).assumed
    assert sum(bool(mask[0]) for one, mask in found.items() if one.code is Code.LINK) == sentences


def test_class_links_have_their_units() -> None:
    links = facts({"accelerator": "nvidia/h100-pcie-80gb"}).links
    assert {name: float(value[0]) for name, value in links.items()} == {
        "scale_up_gb_s": 450e9, "scale_up_domain": 8.0, "scale_out_gbit_s": 50e9,
    }  # fmt: skip


def test_a_stated_network_replaces_the_usual_nic() -> None:
    found = facts({"network_note": "4 x 100 Gbit/s RoCE per 8-GPU node"}, {"network_note": ""})
    assert found.links["scale_out_gbit_s"].tolist() == [6.25e9, 50e9]


def test_fabrics_are_those_of_the_record() -> None:
    found = chips.chip(facts({"accelerator": "amd/mi300x"}, {}), K)
    assert found.network.fabric.tolist() == [Fabric.MESH, Fabric.SWITCH]


def test_superchips_are_told_from_boards() -> None:
    found = facts({"accelerator": "nvidia/gb300"}, {}).parts
    assert found.spread(found.superchip).tolist() == [1.0, 0.0]


def test_bandwidths_measured_in_the_job_outrank_the_data_sheet() -> None:
    # sixteen H100: an all-reduce at 80 GB/s leaves 10 GB/s for each of eight NICs. Of an all-gather of 1 GB, 225 GB/s
    # (half of 450) are the time inside a box; at 100 GB/s the other 5.56 ms are twelve hops.
    job = {"accelerators": 16, "dp": 16, "allreduce_gb_s": 80.0, "allgather_gb_s": 100.0}
    network = rated(**job).network
    assert float(network.scale_out[0]) == pytest.approx(10e9)
    assert float(network.hop_out[0]) == pytest.approx((1 / 100 - 1 / 225) / 12)
    usual = rated(accelerators=16, dp=16).network
    assert (float(usual.scale_out[0]), float(usual.hop_out[0])) == (50e9, 0.0)


def test_a_test_inside_one_box_says_nothing_about_the_network() -> None:
    network = rated(allreduce_gb_s=400.0, allgather_gb_s=200.0).network
    assert (float(network.scale_out[0]), float(network.hop_out[0])) == (50e9, 0.0)


def test_tf32_runs_on_tensor_cores() -> None:
    parts = ACCELERATORS.assign(tf32_tflops=494.7)
    rows = table({"precision": "tf32"}, {"precision": "fp32"})
    facts_of = chip_facts(read_rows(rows, parts), parts, K)
    assert tera(chips.chip(facts_of, K).linear_rate) == pytest.approx(494.7 * 0.8)
