"""Misprints of public reports: the repair that turned out right is among the first."""

import pytest

from analysis.records.spans import as_span, printed
from analysis.repair.changes import failing, repairs
from analysis.repair.edits import Edit, edits

LLAMA_128K = {
    "accelerators": as_span(16384), "tp": 8, "cp": 16, "pp": 16, "dp": 4, "seq_len": 131072, "sequences_per_dp": 16,
    "global_batch_tokens": printed(16e6),
}  # fmt: skip


def changes(facts, scope, elsewhere=None):
    return [one.change for one in repairs(facts, scope, elsewhere)]


def test_llama_3_first_printing_has_dp_8():
    # arXiv:2407.21783v1, Table 4, third row: DP 4; v3 prints 8. Both equations, axes and batch, ask for it.
    assert len(failing(LLAMA_128K, "phase")) == 2
    found = repairs(LLAMA_128K, "phase")
    assert found[0].change == "dp 4 -> 8"
    assert found[0].edit.kind == "digit"
    assert len(found) == 1
    assert "16,384, the accelerators stated" in found[0].after[0]


def test_hours_of_deepseek_v2_are_per_trillion_tokens():
    # arXiv:2405.04434, section 3.2.3: 172.8K GPU hours for each trillion tokens, 8.1T tokens, 21B active.
    facts = {
        "tokens": printed(8.1e12),
        "flop_best": 6 * 21e9,
        "peak_tflops": 989.5,
        "accelerator_hours": printed(172.8e3),
    }
    found = repairs(facts, "run")
    assert found[0].edit.kind == "per-trillion"
    assert dict(found[0].edit.values)["accelerator_hours"] == pytest.approx(172.8e3 * 8.1)


def test_tokens_of_lamda_are_about_a_sixth():
    # arXiv:2201.08239: 1,024 TPU v3 for 57.7 days at 56.5 %: 3.55e23 FLOP / (6 x 137e9) = 0.43e12 tokens.
    facts = {"tokens": printed(2.81e12), "flop_best": 6 * 137e9, "peak_tflops": 123.0, "days": printed(57.7),
             "accelerators": as_span(1024), "reported_mfu": printed(0.565)}  # fmt: skip
    assert "tokens 2.81e12 -> 4.3e11" in changes(facts, "run")


def test_hours_of_llama_3_3_stand_in_another_card():
    # Model card of Llama 3.3 70B: 39.3M hours, the sum over the 3.1 models; the 3.1 card prints 7.0M for 70B.
    facts = {
        "tokens": printed(15e12),
        "flop_best": 6 * 70.55e9,
        "peak_tflops": 989.5,
        "accelerator_hours": printed(39.3e6),
    }
    assert changes(facts, "run", {"accelerator_hours": 7.0e6})[0] == "accelerator_hours 39,300,000 -> 7,000,000"


def test_eight_by_eight_by_ten_on_320():
    facts = {"tp": 8, "pp": 8, "dp": 10, "accelerators": as_span(320)}
    assert {"dp 10 -> 5", "accelerators 320 -> 640"} <= set(changes(facts, "phase"))


def test_siblings_that_a_table_swapped_go_back():
    # Granite 3.0: 832,102 H100 hours of the 8B model on 768 GPUs, the 2B model on 256 (their model cards).
    facts = {"accelerators": as_span(256), "accelerator_hours": printed(832102), "days": printed(45.1)}
    assert changes(facts, "run", {"accelerators": 768.0})[0] == "accelerators 256 -> 768"


def test_nodes_are_not_accelerators():
    facts = {"tp": 8, "pp": 4, "dp": 16, "accelerators": as_span(64)}
    found = repairs(facts, "phase")
    assert (found[0].change, found[0].edit.kind) == ("accelerators 64 -> 512", "nodes")


def test_what_holds_is_not_repaired():
    assert repairs(LLAMA_128K | {"dp": 8}, "phase") == []
    assert repairs({"tp": 8}, "phase") == []


def test_two_slips_are_found_where_one_is_not_enough():
    # 8 x 16 x 16 x 8 = 16,384, with TP and DP misprinted, and the batch 8 x 16 x 131,072 = 16.8e6.
    two = LLAMA_128K | {"tp": 6, "dp": 4}
    found = repairs(two, "phase")
    assert found
    assert all(len(one.edit.values) == 2 for one in found)
    assert "tp 6 -> 8, dp 4 -> 8" in [one.change for one in found] + [
        ", ".join(reversed(one.change.split(", "))) for one in found
    ]


def test_a_digit_or_two_swapped_digits_are_what_a_finger_does():
    slips = {(one.kind, dict(one.values)["days"]) for one in edits({"days": printed(54)}) if "days" in dict(one.values)}
    assert {("digit", 34.0), ("digit", 57.0), ("digits-swapped", 45.0), ("power-of-ten", 540.0)} <= slips
    assert Edit("digit", (("dp", 8.0),)).of({"dp": 4, "tp": 8}) == {"dp": 8, "tp": 8}
