"""Rows as work: defaults that are said aloud, recomputation by kind, kernels by name."""

from typing import Any

import pytest

from analysis.engine import step as workload
from analysis.engine.assumptions import Code
from analysis.engine.chip_facts import chip_facts
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import read_rows
from analysis.physics import attention

from ..rows import table
from .shipped import CALIBRATION
from .test_rates import ACCELERATORS, K


def load(*changes: dict[str, Any], full: float = 0.0) -> workload.Workload:
    rows = table(*changes)
    read = read_rows(rows, ACCELERATORS)
    return workload.workload(
        read, chip_facts(read, ACCELERATORS, K), K.efficiency.recompute, memory_constants(CALIBRATION), full
    )


def again(text: str, **change: Any) -> dict[str, float]:
    work = load({"recompute": text} | change).work
    names = ("layer", "projections", "mlp", "routed", "shared", "core", "elementwise")
    return {n: float(getattr(work, f"recompute_{n}")[0]) for n in names if getattr(work, f"recompute_{n}")[0]}


def test_none_repeats_nothing_and_full_everything() -> None:
    assert again("none") == {}
    full = again("full")
    assert set(full.values()) == {1.0}
    assert len(full) == 7


def test_selective_repeats_the_core() -> None:
    assert again("selective") == {"core": 1.0}


def test_selective_under_fsdp_repeats_every_second_product() -> None:
    found = again("selective", zero_stage=3)
    assert found == {"projections": 0.5, "mlp": 0.5, "routed": 0.5, "shared": 0.5, "elementwise": 1.0}


@pytest.mark.parametrize(
    ("text", "repeated"),
    [
        ("selective (mla_up_proj)", {"projections": 0.6}),
        ("selective (mlp)", {"mlp": 1.0}),
        ("selective (moe_act)", {"elementwise": 0.5}),
        ("selective (layernorm)", {"elementwise": 0.5}),
        ("selective (moe,shared_experts)", {"routed": 1.0, "shared": 1.0}),
    ],
)
def test_named_modules_repeat_their_part(text: str, repeated: dict[str, float]) -> None:
    assert {n: v for n, v in again(text).items() if n in repeated} == repeated


def test_some_layers_of_each_stage_are_a_share() -> None:
    # 4 of the 8 layers of each of four stages
    found = again("full (4 layers)", pp=4, dp=2)
    assert set(found.values()) == {0.5}


def test_open_fields_are_filled_and_named() -> None:
    found = load({"zero_stage": None, "recompute": None, "attention_kernel": None})
    assert float(found.work.zero_stage[0]) == 1.0
    assert float(found.work.kernel[0]) == attention.FLASH
    assert [one.text() for one in found.assumed] == [
        "attention_kernel is not stated (flash assumed)",
        "recompute is not stated (none assumed)",
        "zero_stage is not stated (1 assumed)",
    ]


def test_context_ranks_share_optimizer_states_too() -> None:
    change = {"zero_stage": None, "accelerators": 2, "dp": 1, "cp": 2}
    assert [one.code for one in load(change).assumed] == [Code.ZERO_STAGE]
    assert load({"zero_stage": None, "accelerators": 1, "dp": 1}).assumed == {}


def test_stated_fields_leave_nothing_to_say() -> None:
    assert load({}).assumed == {}


def test_a_row_that_cannot_fit_recomputes_everything() -> None:
    found = load({"recompute": None}, full=1.0)
    assert float(found.work.recompute_layer[0]) == 1.0
    assert [one.code for one in found.assumed] == [Code.RECOMPUTE_FULL]


def test_old_cards_run_unfused_attention_when_nothing_is_said() -> None:
    found = load({"attention_kernel": None, "accelerator": "nvidia/v100-sxm-32gb", "precision": "fp16"})
    assert float(found.work.kernel[0]) == attention.UNFUSED


@pytest.mark.parametrize(("kernel", "parallel"), [("flash", 1.0), ("unfused", 0.0)])
def test_sequence_parallelism_comes_with_flash(kernel: str, parallel: float) -> None:
    change = {"tp": 2, "dp": 4, "sequence_parallel": None, "attention_kernel": kernel}
    found = load(change)
    assert float(found.work.sequence_parallel[0]) == parallel
    assert [one.code for one in found.assumed] == [Code.SEQUENCE_PARALLEL]


def test_alibi_slows_fused_kernels_only() -> None:
    fused, unfused = load({"model_name": "MPT-7b"}, {"model_name": "MPT-7b", "attention_kernel": "unfused"}).work.kernel
    assert (fused, unfused) == (attention.FLASH_BIAS, attention.UNFUSED)


@pytest.mark.parametrize(
    ("precision", "size", "cast"), [("bf16", 2.0, 0.0), ("fp8", 1.0, 1.0), ("mxfp8", 33 / 32, 1.0), ("fp32", 4.0, 0.0)]
)
def test_operands_by_precision(precision: str, size: float, cast: float) -> None:
    work = load({"precision": precision}).work
    assert (float(work.linear_bytes[0]), float(work.quantised[0])) == (size, cast)


def test_nvfp4_counts_one_scale_per_sixteen_elements() -> None:
    work = load({"precision": "nvfp4", "accelerator": "nvidia/gb300"}).work
    assert float(work.linear_bytes[0]) == 0.5 + 1 / 16


def test_hybrid_shards_span_one_box() -> None:
    found = load({"fsdp": "hybrid", "accelerators": 64, "dp": 64, "zero_stage": 3})
    assert float(found.work.shard_ranks[0]) == 8.0
    assert float(load({}).work.shard_ranks[0]) == 0.0
    assert [one.code for one in found.assumed] == [Code.SHARD_RANKS]


def test_stages_as_dealt_and_as_stated() -> None:
    assert float(load({"layers": 7, "pp": 4, "dp": 2}).work.layers_max[0]) == 2
    assert [float(x[0]) for x in (load({"layers": 126, "pp": 16, "dp": 1, "accelerators": 16}).work.layers_max,)] == [8]
    uneven = {"layers": 30, "pp": 4, "dp": 2}
    dealt = load(uneven).work
    assert (float(dealt.layers_max[0]), float(dealt.layers_last[0]), float(dealt.split_stated[0])) == (8, 7, 0)
    stated = load(uneven | {"layers_per_stage": "[6, 9, 9, 6]"}).work
    assert (float(stated.layers_max[0]), float(stated.layers_last[0]), float(stated.split_stated[0])) == (9, 6, 1)


def test_programs_on_tpu_are_compiled_whole() -> None:
    rows = load({"accelerator": "google/tpu-v5e"}, {}).work.compiled
    assert rows.tolist() == [1.0, 0.0]


def test_prediction_depths_sit_on_the_last_stage() -> None:
    work = load({"pp": 4, "dp": 2, "mtp_layers": 1}).work
    assert (float(work.layers_max[0]), float(work.layers_last[0])) == (8, 9)


def test_adapters_train_a_small_share_and_four_bits_are_unpacked() -> None:
    full, lora, qlora = load({}, {"adapter": "lora"}, {"adapter": "qlora"}).work.trained
    # QLoRA and LoRA of rank 16 on an 8B model: 42M of 8.03B parameters
    assert full == 1.0
    assert lora == qlora == pytest.approx(42e6 / 8.03e9, rel=0.05)
    assert load({"adapter": "qlora"}).work.unpacked_bytes.tolist() == [4.5]


def test_fp32_activations_are_four_bytes() -> None:
    assert load({"precision": "fp32"}, {}).work.element_bytes.tolist() == [4.0, 2.0]


def test_a_vocabulary_is_assumed_for_the_time_alone() -> None:
    rows = read_rows(table({"vocab": None}), ACCELERATORS)
    filled, assumed = workload.with_vocabulary(rows, 64000.0)
    assert float(filled.arch.vocab[0]) == 64000.0
    assert [one.text() for one in assumed] == ["vocab is not stated (64000 assumed for the time)"]
    assert "vocab is not stated" in rows.memory_reasons[0]
    assert rows.time_reasons[0] == ""
