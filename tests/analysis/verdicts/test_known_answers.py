"""Runs whose printed numbers are known to be right or wrong come out so. Sources stand at each case."""

import pytest

from analysis.layout.reasons import Reason
from analysis.records.spans import as_span, printed
from analysis.verdicts import judge
from schemas.reasons import cause, sentence

H100_TFLOPS = 989.5


def verdict(name, scope="phase", **facts):
    spans = {k: printed(v) if isinstance(v, (int, float)) and k in QUANTITIES else v for k, v in facts.items()}
    return next(one for one in judge(spans, scope) if one.check_name == name)


def words(one, language="en"):
    return sentence(one.check_name, one.reason, one.values, language)


QUANTITIES = {
    "accelerators", "tokens", "accelerator_hours", "days", "global_batch_tokens", "reported_mfu", "compute_flop",
    "reported_tflops_per_accelerator", "reported_tokens_per_s_per_accelerator", "global_batch", "steps",
    "params_total", "params_active", "reported_step_time_s",
}  # fmt: skip

# Llama 3 paper, arXiv:2407.21783v1, Table 4: 131,072 tokens, TP8 CP16 PP16 DP4, 16 sequences per DP group, 16M tokens.
LONG_CONTEXT = {
    "accelerators": as_span(16384), "tp": 8, "cp": 16, "pp": 16, "seq_len": 131072, "sequences_per_dp": 16,
    "global_batch_tokens": 16e6,
}  # fmt: skip


def test_llama_3_v1_long_context_row_is_impossible_and_dp_8_settles_both_equations():
    one = verdict("layout-product", dp=4, **LONG_CONTEXT)
    assert one.status == "impossible"
    assert "TP 8 x CP 16 x PP 16 x DP 4 = 8,192" in words(one)
    assert "16,384 accelerators" in words(one)
    assert "DP 16,000,000 / (16 x 131,072) = 7.63" in words(one)
    assert "DP 8 settles both" in words(one)
    assert verdict("batch-witness", dp=4, **LONG_CONTEXT).status == "impossible"


def test_the_same_row_with_dp_8_is_plausible():
    assert verdict("layout-product", dp=8, **LONG_CONTEXT).status == "plausible"
    assert verdict("batch-witness", dp=8, **LONG_CONTEXT).status == "plausible"


def test_dp_is_not_settled_when_the_batch_says_something_else():
    one = verdict("layout-product", dp=4, **{**LONG_CONTEXT, "global_batch_tokens": 64e6})
    assert "settles" not in words(one)


def test_lamda_with_2_81_trillion_tokens_needs_368_percent_of_the_peak():
    # arXiv:2201.08239: 137B parameters, 1,024 TPU v3 chips (123 TFLOP/s), 57.7 days.
    one = verdict("mfu-from-hours", "run", tokens=2.81e12, flop_best=6 * 137e9, peak_tflops=123.0, days=57.7,
                    accelerators=as_span(1024))  # fmt: skip
    assert one.status == "impossible"
    assert one.span.best == pytest.approx(3.68, abs=0.01)


def test_llama_3_3_card_hours_are_too_many_and_7_million_are_right():
    # Model card of Llama 3.3 70B: 39.3M H100 hours; 7.0M is the 70B row of the 3.1 card.
    facts = {"tokens": 15e12, "flop_best": 6 * 70.55e9, "peak_tflops": H100_TFLOPS}
    wrong = verdict("mfu-from-hours", "run", accelerator_hours=39.3e6, **facts)
    right = verdict("mfu-from-hours", "run", accelerator_hours=7.0e6, **facts)
    assert (wrong.status, right.status) == ("strained", "plausible")
    assert right.span.best == pytest.approx(0.255, abs=0.005)


def test_deepseek_v2_hours_are_per_trillion_tokens():
    # arXiv:2405.04434: 172.8K H800 hours per trillion tokens, 8.1T tokens, 21B active.
    facts = {"tokens": 8.1e12, "flop_best": 6 * 21e9, "peak_tflops": H100_TFLOPS}
    assert verdict("mfu-from-hours", "run", accelerator_hours=172.8e3, **facts).status == "impossible"
    assert verdict("mfu-from-hours", "run", accelerator_hours=172.8e3 * 8.1, **facts).status == "plausible"


def test_skywork_moe_throughput_implies_29_percent_where_38_is_printed():
    # arXiv:2406.06563: 22B active, 690 tokens/s per A800: 6 x 22e9 x 690 / 312e12 = 0.292.
    printed_there = {"reported_tokens_per_s_per_accelerator": 690, "reported_mfu": 0.38, "reported_mfu_basis": "6nd"}
    facts = {"accelerators": as_span(192), "peak_tflops": 312.0, "flop_6nd": 6 * 22e9}
    one = verdict("mfu-from-throughput", **printed_there, **facts)
    assert one.status == "strained"
    assert one.span.best == pytest.approx(0.292, abs=0.001)
    assert cause(one.cause) == "a factor 4/3: recomputation counted as work (8ND for 6ND)"


def test_eight_by_eight_by_ten_is_not_320():
    assert verdict("layout-product", tp=8, pp=8, dp=10, accelerators=as_span(320)).status == "impossible"


def test_eighty_layers_on_pp_16_with_two_virtual_stages_leave_sixteen():
    one = verdict("divisibility", layers=80, pp=16, vpp=2)
    assert (one.status, one.span.best) == ("impossible", 16)


def test_llama_126_layers_on_16_stages_of_8_are_excused_by_embedding_and_head():
    assert verdict("divisibility", layers=126, pp=16, vpp=8).status == "strained"


def test_eight_accelerators_cannot_hold_pp_2_with_ep_8():
    one = verdict("expert-product", ep=8, etp=1, pp=2, accelerators=as_span(8))
    assert one.status == "impossible"
    assert "= 16 does not fit the 8 accelerators" in words(one)


def test_llama_405b_at_41_percent_with_pp_16_and_16_micro_batches_implies_interleaving():
    # (16 - 1) / 16 = 93.75% bubble: ceiling 1 / 1.9375 = 51.6%; 41% is 79% of that.
    one = verdict("bubble-ceiling", pp=16, microbatches=16, reported_mfu=0.41)
    assert one.span.best == pytest.approx(0.516, abs=0.0005)
    assert one.status == "strained"
    assert "interleaving is implied" in words(one)


def test_interleaving_by_8_lifts_the_ceiling_to_89_percent():
    # 15 / (16 x 8) = 11.7%: 1 / 1.1172 = 89.5%.
    assert verdict("bubble-ceiling", pp=16, microbatches=16, vpp=8).span.best == pytest.approx(0.895, abs=0.0005)


def test_mfu_above_one_is_impossible_and_above_65_percent_strained():
    assert verdict("mfu-bound", reported_mfu=1.21).status == "impossible"
    assert verdict("mfu-bound", reported_mfu=0.7).status == "strained"
    assert verdict("mfu-bound", reported_mfu=0.41).status == "plausible"


def test_400_tflops_on_an_h100_is_40_percent_not_20():
    # 400 / 989.5 = 40.4%; against the sparse peak of 1,979 it would be 20.2%.
    agrees = verdict(
        "throughput-against-mfu", reported_tflops_per_accelerator=400, reported_mfu=0.41, peak_tflops=989.5
    )
    sparse = verdict(
        "throughput-against-mfu", reported_tflops_per_accelerator=400, reported_mfu=0.20, peak_tflops=989.5
    )
    assert agrees.status == "plausible"
    assert sparse.status == "impossible"
    assert "sparse peak" in cause(sparse.cause)


def test_compute_that_counts_recomputation_is_named_so():
    # 8ND for 6ND is 4/3 by definition.
    one = verdict("compute-against-6nd", "run", compute_flop=8 * 100e9 * 1e12, tokens=1e12, flop_6nd=6 * 100e9)
    assert one.status == "strained"
    assert one.cause == "factor-4-3"


def test_a_missing_fact_makes_unknown_and_is_named():
    one = verdict("tp-inside-domain", tp=8)
    assert (one.status, one.values) == ("unknown", {"facts": ["scale_up_domain"]})


def test_what_is_missing_is_said_in_a_contributors_words():
    one = next(one for one in judge({"params_total": 7e9}, "run") if one.check_name == "headline-parameters")
    assert words(one) == "Not stated: enough of the architecture to count parameters."
    lacks = {"accelerators": 8, "engine_lacks": [Reason("unstated", "gated_mlp"), Reason("unstated", "kv_heads")]}
    one = next(one for one in judge(lacks, "phase") if one.check_name == "states-fit")
    assert words(one) == "Not stated: gated_mlp, kv_heads."


def test_tensor_parallelism_beyond_the_box_is_strained():
    assert verdict("tp-inside-domain", tp=16, scale_up_domain=8).status == "strained"
    assert verdict("tp-inside-domain", tp=16, scale_up_domain=72).status == "plausible"


def test_active_parameters_cannot_exceed_the_total():
    one = verdict("active-parameters", "run", params_active=600e9, params_total=500e9)
    assert one.status == "impossible"


def test_states_that_exceed_the_card_do_not_fit():
    # 8B x 16 B = 128 GB on one card of 80 GB.
    facts = {"accelerators": as_span(1), "card_gib": 79.6}
    assert verdict("states-fit", states_low_gib=128e9 / 2**30, **facts).status == "impossible"
    assert verdict("states-fit", states_low_gib=17.3, **facts).status == "plausible"


def test_steps_times_batch_is_the_token_count_of_gpt_j():
    # GPT-J-6B card: 383,500 steps of 512 x 2,048 tokens are the 402B tokens printed.
    facts = {"steps": 383500, "largest_batch_tokens": as_span(512 * 2048)}
    assert verdict("steps-against-tokens", "run", tokens=402e9, **facts).status == "plausible"
    assert verdict("steps-against-tokens", "run", tokens=600e9, **facts).status == "impossible"
    ramp = verdict("steps-against-tokens", "run", tokens=300e9, **facts)
    assert ramp.status == "strained"
    assert "batch ramp" in cause(ramp.cause)


def test_step_time_times_steps_fits_into_the_days():
    # 95,000 x 105 s = 115.45 days.
    facts = {"reported_step_time_s": 105, "steps": 95000}
    assert verdict("steps-against-days", days=117, **facts).status == "plausible"
    assert verdict("steps-against-days", days=60, **facts).status == "impossible"


def test_hours_on_fewer_days_than_they_need_are_impossible():
    # Llama 3.1 405B: 30.84M hours on 16,384 accelerators are 78.4 days; the 54 days often quoted are too few.
    facts = {"accelerator_hours": 30.84e6, "accelerators": as_span(16384)}
    assert verdict("hours-against-days", "run", days=78.4, **facts).status == "plausible"
    assert verdict("hours-against-days", "run", days=54, **facts).status == "strained"
    assert verdict("hours-against-days", "run", days=30, **facts).status == "impossible"


def test_a_headline_that_counts_active_parameters_for_all_is_impossible():
    # Mixtral 8x7B: 46,702,792,704 parameters, 12,879,925,248 active.
    facts = {"exact_total": 46702792704.0}
    assert verdict("headline-parameters", "run", params_total=46.7e9, **facts).status == "plausible"
    assert verdict("headline-parameters", "run", params_total=12.9e9, **facts).status == "impossible"


def test_every_check_has_a_known_answer_here():
    from pathlib import Path

    from analysis.verdicts import CHECKS

    text = Path(__file__).read_text(encoding="utf-8")
    assert [name for name in CHECKS if f'"{name}"' not in text] == []


def test_the_stages_of_llama_405b_hold_its_layers():
    # arXiv:2407.21783, section 3.3.2: one layer less on the first and on the last of 16 stages; 126 layers.
    facts = {"layers": 126, "pp": 16}
    assert verdict("layers-per-stage", layers_per_stage=[7, *[8] * 14, 7], **facts).status == "plausible"
    assert verdict("layers-per-stage", layers_per_stage=[8] * 16, **facts).status == "impossible"
    assert verdict("layers-per-stage", layers_per_stage=[9] * 14, **facts).status == "impossible"


def test_experts_of_deepseek_v3_leave_the_box_by_choice():
    # arXiv:2412.19437, section 3.2: 64-way expert parallelism over 8 nodes of 8 H800.
    one = verdict("ep-inside-domain", ep=64, scale_up_domain=8)
    assert (one.status, one.reason) == ("plausible", "across")
    assert verdict("ep-inside-domain", ep=64, scale_up_domain=72).reason == "inside"


def test_a_modelled_peak_is_no_proof():
    # An 80 GB card is 74.5 GiB; a model of activations that exceeds it in every reading strains belief, no more.
    card = {"accelerators": as_span(8), "card_gib": 80e9 / 2**30}
    low = verdict("memory-fit", memory_gib=90.0, memory_gib_low=80.0, memory_gib_high=100.0, **card)
    near = verdict("memory-fit", memory_gib=70.0, memory_gib_low=60.0, memory_gib_high=80.0, **card)
    free = verdict("memory-fit", memory_gib=40.0, memory_gib_low=35.0, memory_gib_high=45.0, **card)
    assert [(one.status, one.reason) for one in (low, near, free)] == [
        ("strained", "too-large"), ("plausible", "tight"), ("plausible", "could-fit"),
    ]  # fmt: skip


def test_only_a_faster_step_than_expected_is_strained():
    # A slow stack is a choice; Llama 3.1 405B prints 38 to 43 % (arXiv:2407.21783, Table 4).
    expected = {"modelled_mfu_low": 0.35, "modelled_mfu": 0.40, "modelled_mfu_high": 0.45}
    assert verdict("mfu-against-model", causal_mfu=0.41, **expected).status == "plausible"
    assert verdict("mfu-against-model", causal_mfu=0.20, **expected).status == "plausible"
    assert verdict("mfu-against-model", causal_mfu=0.60, **expected).status == "strained"


def test_steps_times_batch_is_the_token_count_of_gpt_neox():
    # arXiv:2204.06745, section 3: 1,538 sequences of 2,048 tokens (3.15M), 150,000 steps: 472e9 tokens.
    facts = {"steps": 150000, "global_batch_tokens": 1538 * 2048}
    assert verdict("steps-against-batch", tokens=472e9, **facts).status == "plausible"
    assert verdict("steps-against-batch", tokens=1e12, **facts).status == "impossible"


def test_two_speeds_of_one_phase_agree_or_not():
    # 128 x 4,096 tokens in 6.55 s are 80,043 tokens a second.
    facts = {"reported_step_time_s": 6.55, "global_batch": 128, "seq_len": 4096}
    assert verdict("throughput-against-step", reported_tokens_per_s=80043, **facts).status == "plausible"
    four = verdict("throughput-against-step", reported_tokens_per_s=20000, **facts)
    assert four.status == "impossible"
    assert four.span.best / (128 * 4096) == pytest.approx(0.25, abs=0.001)


def test_hours_over_accelerators_are_days():
    # Llama 3.1 405B: 30.84M hours on 16,384 accelerators are 78.4 days (its model card); ten times that are not.
    facts = {"accelerators": as_span(16384)}
    one = verdict("days-from-hours", "run", accelerator_hours=30.84e6, **facts)
    assert (one.status, round(one.span.best, 1)) == ("plausible", 78.4)
    assert verdict("days-from-hours", "run", accelerator_hours=308.4e6, **facts).status == "strained"


def test_a_model_is_younger_than_its_accelerator():
    # NVIDIA announced the A100 on 14 May 2020; GPT-2 is of 14 February 2019, Llama 2 of 18 July 2023.
    a100 = {"accelerator_released": "2020-05-14"}
    assert verdict("release-order", "run", released="2023-07-18", **a100).status == "plausible"
    assert verdict("release-order", "run", released="2019-02-14", **a100).status == "strained"


def test_a_sequence_divides_over_context_and_sequence_parallel_ranks():
    # Megatron-Core: 2 chunks a CP rank, each over TP ranks: 4 x lcm(2, 8) = 32; 4,104 = 128 x 32 + 8.
    facts = {"tp": 8, "cp": 4, "sequence_parallel": True}
    bad = verdict("divisibility", seq_len=4104, **facts)
    assert (bad.status, bad.values["divisor"], bad.values["left"]) == ("impossible", 32, 8)
    assert verdict("divisibility", seq_len=4096, **facts).status == "plausible"


def test_query_groups_are_repeated_or_divided():
    # Llama 3.1 405B has 8 groups: TP 16 keeps each on two ranks; TP 6 can do neither.
    assert verdict("divisibility", heads=96, kv_heads=8, tp=16).status == "plausible"
    assert verdict("divisibility", heads=96, kv_heads=8, tp=6).reason == "remainder"


def provenance(basis=None, disputed=None):
    from analysis.records.provenance import Provenance

    return Provenance(basis or {}, disputed or {})


COMPUTE = {"compute_flop": 4.51e23, "tokens": 7.58e12, "flop_6nd": 6 * 2.73e9}
"""AFM-on-device: Epoch AI's estimate of its compute beside 6ND of the final model (arXiv:2407.21075)."""


def test_an_estimate_is_never_judged_as_stated():
    assert verdict("compute-against-6nd", "run", **COMPUTE).status == "impossible"
    one = verdict("compute-against-6nd", "run", provenance=provenance({"compute_flop": "estimated"}), **COMPUTE)
    assert one.status == "unknown"
    assert words(one).endswith("(compute_flop is an estimate).")


def test_a_second_hand_value_makes_nothing_impossible():
    one = verdict("compute-against-6nd", "run", provenance=provenance({"tokens": "second-hand"}), **COMPUTE)
    assert (one.status, "tokens is second-hand" in words(one)) == ("strained", True)
    unused = verdict("compute-against-6nd", "run", provenance=provenance({"days": "second-hand"}), **COMPUTE)
    assert unused.status == "impossible"


def test_a_contradiction_that_the_record_explains_says_so():
    disputed = provenance(disputed={"tokens": "The table counts one epoch."})
    assert (
        verdict("compute-against-6nd", "run", provenance=disputed, **COMPUTE).explained == "The table counts one epoch."
    )
    agreeing = COMPUTE | {"compute_flop": 1.24e23}
    assert verdict("compute-against-6nd", "run", provenance=disputed, **agreeing).explained is None


def test_bounds_and_divisions_do_not_decide():
    from analysis.verdicts import CHECKS

    deciding = {name for name, one in CHECKS.items() if one.decisive}
    assert {"layout-product", "compute-against-6nd", "mfu-from-hours"} <= deciding
    assert not {"mfu-bound", "divisibility", "memory-fit", "states-fit", "release-order", "bubble-ceiling"} & deciding


def test_how_far_a_printed_value_may_move_before_its_verdict_changes():
    # GPT-J: 383,500 steps of 512 x 2,048 tokens; 402e9 printed. The band is 0.94 to 1.07.
    facts = {"steps": 383500, "largest_batch_tokens": as_span(512 * 2048)}
    one = verdict("steps-against-tokens", "run", tokens=402e9, **facts)
    ratio = 383500 * 512 * 2048 / 402e9
    assert one.slack == pytest.approx((0.94 / ratio, 1.07 / ratio))
    assert one.inputs == ("largest_batch_tokens", "steps", "tokens")
    for factor, status in ((0.999, "plausible"), (1.001, "strained")):
        moved = verdict("steps-against-tokens", "run", tokens=as_span(402e9 / (one.slack[1] * factor)), **facts)
        assert moved.status == status
    assert verdict("tp-inside-domain", tp=8, scale_up_domain=8).slack is None
