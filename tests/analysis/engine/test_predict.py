"""Predictions of whole tables: columns, units, bounds, unknown rows, and agreement with published steps."""

from dataclasses import replace
from typing import Any

import numpy as np
import pandas as pd
import pytest

from analysis.engine import predict as prediction
from analysis.engine.forced_recompute import has_to_recompute
from analysis.engine.peak_memory import predict_memory
from analysis.engine.predict import COLUMNS, predict
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import read_rows
from analysis.physics import flops

from ..rows import LLAMA_8B, table
from .shipped import CALIBRATION
from .test_rates import ACCELERATORS


def one(**change: Any) -> pd.Series:
    return predict(table(change), ACCELERATORS, CALIBRATION).iloc[0]


def test_columns_are_the_contract() -> None:
    assert tuple(predict(table(), ACCELERATORS, CALIBRATION).columns) == COLUMNS


def test_a_full_row_has_every_number_and_nothing_missing() -> None:
    row = one()
    assert row[["memory_gib", "step_time_s", "mfu"]].notna().all()
    assert row["missing"] == ""
    assert row["step_time_s_low"] < row["step_time_s"] < row["step_time_s_high"]


def test_utilisation_is_causal_model_flop_over_the_dense_half_precision_peak() -> None:
    row = one(precision="fp8")
    flop = float(flops.per_token(LLAMA_8B, 8192)["causal"]) * 64 * 8192
    assert row["mfu"] == pytest.approx(flop / (row["step_time_s"] * 8 * 989e12))


def test_gpt3_175b_step_of_the_selective_recompute_paper() -> None:
    # Korthikanti et al. 2022 (arXiv:2205.05198), Table 5: 175B on 64 A100, selective recompute and SP: 13.75 s.
    a100 = pd.DataFrame([{"id": "nvidia/a100-sxm-80gb", "architecture": "ampere", "bf16_tflops": 312, "tdp_w": 400,
                          "hbm_bandwidth_gb_s": 2039, "scale_up_gb_s": 300, "scale_up_domain": 8, "hbm_gb": 80,
                          "scale_out_gbit_s": 200}])  # fmt: skip
    gpt3 = {"accelerator": "nvidia/a100-sxm-80gb", "accelerators": 64, "layers": 96, "hidden": 12288, "vocab": 51200,
            "ffn_hidden": 49152, "heads": 96, "kv_heads": 96, "gated_mlp": False, "tied_embeddings": True, "tp": 8,
            "seq_len": 2048, "sequence_parallel": True, "pp": 8, "vpp": 3, "dp": 1, "global_batch": 64,
            "precision": "fp16", "attention_kernel": "unfused", "zero_stage": 0, "recompute": "selective"}  # fmt: skip
    row = predict(table(gpt3), a100, CALIBRATION).iloc[0]
    assert row["step_time_s"] == pytest.approx(13.75, rel=0.08)
    assert row["step_time_s_low"] < 13.75 < row["step_time_s_high"]


def test_v100_steps_of_the_first_megatron_paper() -> None:
    # Shoeybi et al. 2019 (arXiv:1909.08053), weak scaling of model parallelism, recompute counted in the FLOP: 39
    # TFLOP/s on one card, then 95, 82 and 77 % of it. Software of 2021 (BigScience) is a third faster on the same card.
    v100 = pd.DataFrame([{"id": "nvidia/v100-sxm-32gb", "architecture": "volta", "has_bf16": False, "fp16_tflops": 125,
                          "tdp_w": 300, "hbm_bandwidth_gb_s": 898, "scale_up_gb_s": 150, "scale_up_domain": 8,
                          "hbm_gb": 32}])  # fmt: skip
    reached = []
    for tp, layers, hidden, heads in ((1, 40, 1536, 16), (2, 54, 1920, 20), (4, 64, 2304, 24), (8, 72, 3072, 32)):
        gpt2 = {"accelerator": "nvidia/v100-sxm-32gb", "accelerators": tp, "layers": layers, "hidden": hidden, "tp": tp,
                "ffn_hidden": 4 * hidden, "heads": heads, "kv_heads": heads, "head_dim": hidden // heads, "dp": 1,
                "vocab": 51200, "gated_mlp": False, "tied_embeddings": True, "seq_len": 1024, "micro_batch": 8,
                "global_batch": 8, "precision": "fp16", "attention_kernel": "unfused", "zero_stage": 0,
                "recompute": "full"}  # fmt: skip
        seconds = predict(table(gpt2), v100, CALIBRATION).iloc[0]["step_time_s"]
        flop = float(flops.gpt_iteration(layers, hidden, 51200, 1024, 8, full_recompute=True))
        reached.append(flop / seconds / tp / 1e12)
    assert reached[0] == pytest.approx(39.0, rel=0.35)
    assert [rate / reached[0] for rate in reached[1:]] == pytest.approx([0.95, 0.82, 0.77], rel=0.07)


@pytest.mark.parametrize(
    ("layers", "hidden", "ffn", "heads", "batch", "utilisation"),
    [(32, 4096, 28672, 64, 6, 61.10), (32, 8192, 28672, 64, 4, 66.86), (64, 8192, 28672, 64, 2, 59.90)],
)
def test_tpu_steps_of_maxtext(layers: int, hidden: int, ffn: int, heads: int, batch: int, utilisation: float) -> None:
    # MaxText README, v5e-256, FSDP over the slice, full recompute; model FLOP with full attention.
    v5e = pd.DataFrame([{"id": "google/tpu-v5e", "architecture": "tpu-v5e", "bf16_tflops": 197, "hbm_gb": 16,
                         "compiled": True, "fabric": "torus-2d",
                         "hbm_bandwidth_gb_s": 819, "scale_up_gb_s": 200, "scale_up_domain": 256,
                         "scale_out_gbit_s": 25}])  # fmt: skip
    facts = {"layers": layers, "hidden": hidden, "ffn_hidden": ffn, "heads": heads, "kv_heads": heads,
             "head_dim": 128, "vocab": 32000, "gated_mlp": True, "tied_embeddings": True}  # fmt: skip
    run = facts | {"accelerator": "google/tpu-v5e", "accelerators": 256, "dp": 256, "seq_len": 2048, "zero_stage": 3,
                   "micro_batch": batch, "global_batch": 256 * batch, "recompute": "full"}  # fmt: skip
    seconds = predict(table(run), v5e, CALIBRATION).iloc[0]["step_time_s"]
    flop = float(flops.per_token(facts, 2048)["model-flops"]) * batch * 2048
    assert 100 * flop / seconds / 197e12 == pytest.approx(utilisation, rel=0.10)


@pytest.mark.parametrize(
    ("change", "words"),
    [
        ({"accelerator": "nvidia/h1000"}, "accelerator is not known: 'nvidia/h1000'"),
        ({"layers": None}, "layers is not stated"),
        ({"tp": 3}, "tp*cp*pp*dp is 24 but accelerators is 8"),
        ({"micro_batch": "many"}, "micro_batch is not a number: 'many'"),
        ({"global_batch": -4}, "global_batch must be at least 1, found -4"),
        ({"precision": "int3"}, "precision is not known: 'int3'"),
        ({"accelerator": "nvidia/v100-sxm-32gb"}, "no dense 16-bit peak"),
        ({"accelerator": "nvidia/h100-pcie-80gb", "precision": "fp8"}, "no peak for this precision"),
    ],
)
def test_a_row_that_cannot_be_computed_is_unknown_and_says_why(change: dict[str, Any], words: str) -> None:
    row = one(**change)
    assert np.isnan(row["step_time_s"])
    assert np.isnan(row["mfu"])
    assert row["bound_by"] == ""
    assert words in row["missing"]


def test_bad_rows_leave_their_neighbours_alone() -> None:
    alone = one()
    mixed = predict(table({"tp": 3}, {}, {"hidden": "wide"}), ACCELERATORS, CALIBRATION)
    assert mixed["step_time_s"].notna().tolist() == [False, True, False]
    assert mixed.iloc[1]["step_time_s"] == alone["step_time_s"]


def test_an_empty_table_gives_an_empty_answer() -> None:
    assert predict(table().iloc[:0], ACCELERATORS, CALIBRATION).shape == (0, len(COLUMNS))


def test_an_absent_column_is_one_sentence() -> None:
    with pytest.raises(ValueError, match="the table lacks the column tp"):
        predict(table().drop(columns="tp"), ACCELERATORS, CALIBRATION)


def test_assumptions_are_named_and_those_of_a_class_widen_the_interval() -> None:
    stated, silent = one(seq_len=2048), one(seq_len=2048, recompute=None)
    assert "recompute is not stated" in silent["missing"]
    assert silent["step_time_s"] == stated["step_time_s"]
    amd = one(seq_len=2048, accelerator="amd/mi300x")
    width = [(r["step_time_s_high"] - r["step_time_s_low"]) / r["step_time_s"] for r in (stated, amd)]
    assert width[1] > width[0]


def test_what_cannot_fit_without_recompute_is_taken_as_recomputing() -> None:
    # 32 sequences of 8192 tokens in one micro-batch need far more than 80 GB
    huge = {"micro_batch": 32, "global_batch": 256, "recompute": None}
    row, full = one(**huge), one(**huge | {"recompute": "full"})
    assert "full assumed" in row["missing"]
    assert row["step_time_s"] == full["step_time_s"]


def test_only_a_wide_gap_means_full_recompute() -> None:
    # leanest reading between 1 and 1.5 times the card: single tensors can be dropped
    moe = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 7168, "ep": 8, "recompute": None, "zero_stage": 3}
    layouts = table(*(moe | {"micro_batch": n, "global_batch": 8 * n} for n in range(1, 9)))
    rows = read_rows(layouts, ACCELERATORS)
    constants = memory_constants(CALIBRATION)
    nothing = {name: np.nan_to_num(values) for name, values in vars(rows.recompute).items()}
    kept = replace(rows, recompute=type(rows.recompute)(**nothing))
    need = predict_memory(kept, constants).lean / 80e9
    full = has_to_recompute(rows, np.zeros(8, dtype=bool), constants, slack=1.5)
    assert ((need > 1.0) & (need < 1.5)).any()
    assert full.tolist() == (need > 1.5).tolist()


def test_memory_is_printed_in_gib() -> None:
    rows = read_rows(table(), ACCELERATORS)
    bytes_needed = predict_memory(rows, memory_constants(CALIBRATION)).best[0]
    assert one()["memory_gib"] == pytest.approx(bytes_needed / 1024**3)


def test_superchips_offload_instead() -> None:
    huge = {"micro_batch": 64, "global_batch": 512, "recompute": None, "accelerator": "nvidia/gb300"}
    assert "none assumed" in one(**huge)["missing"]


def test_a_long_table_is_computed_in_pieces_with_the_same_result(monkeypatch: pytest.MonkeyPatch) -> None:
    rows = table(*({"global_batch": 8 * (i + 1)} for i in range(7)))
    whole = predict(rows, ACCELERATORS, CALIBRATION)
    monkeypatch.setattr(prediction, "CHUNK", 3)
    pd.testing.assert_frame_equal(whole, predict(rows, ACCELERATORS, CALIBRATION))


@pytest.mark.parametrize(
    ("change", "loss"),
    [
        ({"hidden": 16384, "ffn_hidden": 53248, "heads": 128, "head_dim": 128, "seq_len": 2048}, "compute"),
        ({"seq_len": 131072, "global_batch": 8}, "attention"),
        ({"pp": 8, "dp": 1, "global_batch": 2}, "pp-bubble"),
        ({"zero_stage": 3, "accelerators": 1024, "dp": 1024, "global_batch": 1024, "seq_len": 256,
          "network_note": "1 x 10 Gbit/s per 8-GPU node"}, "dp"),
        ({"tp": 64, "dp": 1, "accelerators": 64, "network_note": "1 x 10 Gbit/s per 8-GPU node"}, "tp"),
    ],
)  # fmt: skip
def test_the_largest_loss_has_a_name(change: dict[str, Any], loss: str) -> None:
    assert one(**change)["bound_by"] == loss


def test_every_part_of_a_step_can_be_named() -> None:
    _, _, times = prediction.computed(table(), ACCELERATORS, CALIBRATION)
    assert set(times.parts) == set(prediction.LOSSES)


def test_twice_the_batch_takes_twice_the_time_but_for_what_happens_once_a_step() -> None:
    once, twice = one(), one(global_batch=128)
    assert 1.9 < twice["step_time_s"] / once["step_time_s"] <= 2.0


def test_mixtures_have_wider_intervals_than_dense_models() -> None:
    moe = one(experts=8, experts_per_token=2, moe_ffn_hidden=14336, ep=8)
    dense = one()
    width = [(r["step_time_s_high"] - r["step_time_s_low"]) / r["step_time_s"] for r in (dense, moe)]
    assert width[0] < 0.45 < width[1]


@pytest.mark.parametrize(("dp", "compute", "loss"), [(1.5, 7.0, "attention"), (2.5, 7.0, "dp"), (1.5, 8.5, "compute")])
def test_losses_are_what_exceeds_the_ideal_time(dp: float, compute: float, loss: str) -> None:
    # ideal 10 s at peak, 6 of them products and 4 attention; attention takes 6 s, 2 s of loss
    parts = dict.fromkeys(prediction.LOSSES, np.zeros(1))
    parts |= {"compute": np.array([compute]), "attention": np.array([6.0]), "dp": np.array([dp])}
    one_row = np.ones(1)
    _, _, real = prediction.computed(table(), ACCELERATORS, CALIBRATION)
    times = replace(real, parts=parts, model_flop=10 * one_row, linear_flop=6 * one_row, peak=one_row)
    assert prediction.largest_loss(times).tolist() == [loss]
