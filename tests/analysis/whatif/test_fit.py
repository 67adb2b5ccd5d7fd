"""What-if layouts: what is derived, what is refused, what is said."""

import pytest

from analysis.records.load import Catalogue
from analysis.whatif.completion import LayoutError, complete, parse_change
from analysis.whatif.fit import EXIT_CODES, fit

LLAMA = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 16384, "tp": 8, "pp": 16, "seq_len": 8192,
         "global_batch": 2048, "micro_batch": 1, "precision": "bf16", "attention_kernel": "flash", "zero_stage": 2,
         "recompute": "none", "layers_per_stage": "7,8*14,7"}  # fmt: skip


def test_data_parallelism_is_what_the_other_axes_leave():
    assert complete({"accelerators": 16384, "tp": 8, "pp": 16})["dp"] == 128


def test_a_layout_that_does_not_multiply_names_the_nearest_that_does():
    with pytest.raises(LayoutError, match=r"= 128, which does not divide the 1,000 .* DP 8 on 1,024"):
        complete({"accelerators": 1000, "tp": 8, "pp": 16})
    with pytest.raises(LayoutError, match=r"DP 4 = 512, which is not the 16,384 .* or DP 128"):
        complete({"accelerators": 16384, "tp": 8, "pp": 16, "dp": 4})


@pytest.mark.parametrize("text", ["tq=8", "tp", "tp=eight", "tp=", "tp=0", "tp=٣", "dp=-1"])
def test_a_change_that_is_no_layout_field_is_refused_with_a_way_out(text):
    with pytest.raises(LayoutError, match="--vs"):
        parse_change(text)


def test_the_least_degree_is_one_and_the_least_zero_stage_none():
    assert parse_change("tp=1,zero-stage=0") == {"tp": 1, "zero_stage": 0}


def test_commas_within_a_value_end_no_field():
    text = "recompute=selective (mlp,moe_act),layers_per_stage=7,8*14,7,tp=4"
    assert parse_change(text) == {"recompute": "selective (mlp,moe_act)", "layers_per_stage": "7,8*14,7", "tp": 4}


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # Llama 3.1 405B (Table 3 of its paper): 128 heads, 126 layers, no experts; here DP 128, 2,048 sequences.
        ({"tp": 256, "pp": 1}, "128 heads do not divide by TP 256; TP 128 divides them"),
        ({"ep": 8}, "EP 8 cuts experts, and the model has none"),
        ({"vpp": 9}, "PP 16 x VPP 9 = 144 stages for 126 layers"),
        ({"micro_batch": 3}, "DP 128 x micro-batch 3 = 384; the nearest that does: 1,920"),
        ({"global_batch": 1}, "the nearest that does: 128"),
    ],
)
def test_a_layout_that_cannot_be_cut_like_that_is_refused(catalogue, change, words):
    with pytest.raises(LayoutError, match=words):
        fit(catalogue.models["meta/llama-3.1-405b"], LLAMA | change, catalogue)


def test_experts_divide_over_their_ranks(catalogue):
    # DeepSeek-V3 has 256 routed experts (its report, Section 4.2): 96 ranks cannot share them evenly.
    layout = {"accelerator": "nvidia/h800-sxm-80gb", "accelerators": 1536, "pp": 16, "ep": 96, "seq_len": 4096}
    with pytest.raises(LayoutError, match="256 experts do not divide by EP 96; EP 64 divides them"):
        fit(catalogue.models["deepseek/deepseek-v3"], layout | {"global_batch": 15360}, catalogue)


def test_llama_405b_needs_interleaving_to_reach_41_percent(catalogue):
    # (16 - 1) / 16 = 0.9375 idle: at most 51.6% of the step is work; 8 virtual stages: 0.117, 89.5%.
    model = catalogue.models["meta/llama-3.1-405b"]
    plain, interleaved = (fit(model, LLAMA | change, catalogue) for change in ({}, {"vpp": 8}))
    assert "0.9375" in plain.remarks[0]
    assert "51.6%" in plain.remarks[0]
    assert "89.5%" in interleaved.remarks[0]
    assert plain.breakdown.prediction["mfu"] < 0.38 < interleaved.breakdown.prediction["mfu"]


def test_deepseek_v3_needs_no_tensor_parallelism_to_hold_its_states(catalogue):
    layout = {"accelerator": "nvidia/h800-sxm-80gb", "accelerators": 2048, "pp": 16, "ep": 64, "seq_len": 4096,
              "global_batch": 15360, "micro_batch": 1, "precision": "fp8", "attention_kernel": "flash", "zero_stage": 1,
              "recompute": "selective (mla_up_proj,layernorm,moe_act)", "schedule": "dualpipe"}  # fmt: skip
    found = fit(catalogue.models["deepseek/deepseek-v3"], layout, catalogue)
    assert found.states < 20
    assert any(one.startswith("No TP is needed for the states: PP 16 x EP 64") for one in found.remarks)
    assert EXIT_CODES[found.verdict] == 0


def test_tensor_parallelism_beyond_the_box_is_said_to_cross_it(catalogue):
    # An H100 SXM box joins eight cards by NVLink (NVIDIA, H100 data sheet): TP 8 stays inside, TP 16 cannot.
    model = catalogue.models["meta/llama-3.1-405b"]
    inside, across = (" ".join(fit(model, LLAMA | {"tp": tp}, catalogue).remarks) for tp in (8, 16))
    assert "inside the scale-up domain" in inside
    assert "ACROSS the scale-up domain" in across


def test_an_8b_model_does_not_fit_one_80_gb_card(catalogue):
    # 8.03e9 x 16 B = 128 GB.
    layout = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 1, "seq_len": 8192, "global_batch": 1,
              "micro_batch": 1, "precision": "bf16", "attention_kernel": "flash", "zero_stage": 1,
              "recompute": "full"}  # fmt: skip
    model = {"layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "vocab": 128256,
             "gated_mlp": True, "tied_embeddings": False}  # fmt: skip
    found = fit(model, layout, catalogue)
    assert found.verdict == "does-not-fit"
    assert EXIT_CODES[found.verdict] == 1


def test_an_accelerator_without_memory_cannot_be_told(catalogue):
    found = fit(catalogue.models["meta/llama-3.1-405b"], LLAMA | {"accelerator": "nvidia/none"}, catalogue)
    assert EXIT_CODES[found.verdict] == 3


def test_what_is_printed_as_json_has_no_nan(catalogue):
    import json

    found = fit(catalogue.models["meta/llama-3.1-405b"], LLAMA | {"accelerator": "nvidia/none"}, catalogue)
    assert "NaN" not in json.dumps(found.as_json())


def test_the_published_step_of_deepseek_v3_lies_within_the_bounds(catalogue):
    # arXiv:2412.19437: 2.664M H800-hours, 14.8T tokens, batch 15,360 x 4,096: 19.9 s a step, 38.9% MFU (causal).
    layout = {"accelerator": "nvidia/h800-sxm-80gb", "accelerators": 2048, "pp": 16, "ep": 64, "seq_len": 4096,
              "global_batch": 15360, "micro_batch": 1, "precision": "fp8", "attention_kernel": "flash", "zero_stage": 1,
              "recompute": "selective (mla_up_proj,layernorm,moe_act)", "schedule": "dualpipe"}  # fmt: skip
    step = fit(catalogue.models["deepseek/deepseek-v3"], layout, catalogue).breakdown.prediction
    # fit takes software that is not named as less tuned than theirs.
    assert step["step_time_s"] == pytest.approx(19.9, rel=0.15)
    assert step["step_time_s_low"] < 19.9 < step["step_time_s_high"]
    # The same layout without the overlap that DualPipe is for.
    plain = fit(catalogue.models["deepseek/deepseek-v3"], layout | {"schedule": "1f1b"}, catalogue).breakdown
    assert plain.seconds["ep"] > 5
    overlapped = fit(catalogue.models["deepseek/deepseek-v3"], layout, catalogue).breakdown
    assert overlapped.seconds["ep"] == 0


@pytest.mark.parametrize(("tp", "split"), [(1, False), (2, True), (8, True)])
def test_sequences_are_split_beside_tensor_parallelism(tp, split):
    assert complete({"accelerators": 64, "tp": tp})["sequence_parallel"] is split


LLAMA_70B = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 64, "seq_len": 4096, "global_batch": 64,
             "micro_batch": 1, "precision": "bf16", "attention_kernel": "flash", "zero_stage": 1,
             "recompute": "none"}  # fmt: skip


@pytest.mark.parametrize(
    ("change", "words"),
    [
        # Llama 3.1 70B: 80 layers, 64 heads, 8 KV heads (its model card's config).
        ({"pp": 16, "vpp": 2}, "80 layers do not divide by PP 16 x VPP 2 = 32; VPP 5 divides them, or state the split"),
        ({"pp": 16, "vpp": 3}, "PP 16 x VPP 3 = 48; VPP 5 divides them"),
        ({"tp": 8, "cp": 4, "seq_len": 4104}, "does not divide into 32 equal parts .* nearest that does: 4,096"),
        ({"vpp": 4}, "vpp 4 changes nothing at PP 1"),
        ({"schedule": "zb1p"}, "schedule zb1p changes nothing at PP 1"),
        ({"etp": 4}, "etp 4 cuts experts, and the model has none"),
        ({"layers_per_stage": "80"}, "layers_per_stage changes nothing at PP 1"),
    ],
)
def test_what_does_not_divide_or_changes_nothing_is_refused(catalogue, change, words):
    with pytest.raises(LayoutError, match=words):
        fit(catalogue.models["meta/llama-3.1-70b"], LLAMA_70B | change, catalogue)


def test_an_uneven_split_is_named(catalogue):
    # 126 layers on 16 stages: one less on both ends, as arXiv:2407.21783 has it.
    layout = {name: value for name, value in LLAMA.items() if name != "layers_per_stage"}
    remarks = fit(catalogue.models["meta/llama-3.1-405b"], layout, catalogue).remarks
    assert remarks[0].startswith("126 layers do not divide by 16 stages; assumed per rank: 7, 14 x 8, 7")


def test_experts_are_split_by_tp_unless_etp_is_given(catalogue: Catalogue) -> None:
    # NVIDIA-NeMo/Megatron-Bridge issue 546; Megatron-LM arguments.py: expert tensor parallelism defaults to TP.
    # Mixtral 8x7B on TP 4, EP 4: 45.1e9 / 16 expert and 1.6e9 / 4 other parameters in 2 B are 6.0 GiB.
    mixtral = {"layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "vocab": 32000,
               "experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "gated_mlp": True,
               "tied_embeddings": False}  # fmt: skip
    layout = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 16, "tp": 4, "cp": 2, "ep": 4, "seq_len": 8192,
              "global_batch": 256, "micro_batch": 1, "zero_stage": 1, "precision": "bf16", "recompute": "none",
              "attention_kernel": "flash"}  # fmt: skip
    assumed, alone = fit(mixtral, layout, catalogue), fit(mixtral, layout | {"etp": 1}, catalogue)
    assert assumed.layout["etp"] == 4
    assert float(assumed.breakdown.memory_gib["weights"].max()) == pytest.approx(6.0, abs=0.05)
    assert any("ETP is not given" in remark for remark in assumed.remarks)
    assert float(alone.breakdown.memory_gib["weights"].max()) == pytest.approx(21.75, abs=0.05)


def test_a_size_printed_in_gib_is_not_counted_in_gb(catalogue: Catalogue) -> None:
    # alvarobartt/hf-mem issue 33: Llama 2 7B needs 6,738,415,616 x 16 B = 100.41 GiB of states; a Trainium 2 has 96 GiB
    llama = {"layers": 32, "hidden": 4096, "ffn_hidden": 11008, "heads": 32, "kv_heads": 32, "vocab": 32000,
             "gated_mlp": True, "tied_embeddings": False}  # fmt: skip
    layout = {"accelerator": "aws/trainium2", "accelerators": 1, "zero_stage": 0, "precision": "fp16", "seq_len": 1024,
              "global_batch": 1, "micro_batch": 1, "recompute": "none", "attention_kernel": "flash"}  # fmt: skip
    found = fit(llama, layout, catalogue)
    assert found.verdict == "does-not-fit"
    assert found.card_gib == 96
    assert found.states == pytest.approx(100.41, abs=0.005)


def test_an_estimate_above_the_card_is_called_likely_not_to_fit(catalogue: Catalogue) -> None:
    llama = {"layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "vocab": 128256,
             "gated_mlp": True, "tied_embeddings": False}  # fmt: skip
    layout = {"accelerator": "nvidia/h100-sxm-80gb", "accelerators": 8, "zero_stage": 1, "precision": "bf16",
              "seq_len": 8192, "global_batch": 8, "recompute": "none", "attention_kernel": "flash"}  # fmt: skip
    for micro_batch in (1, 2, 3, 4, 6, 8):
        answer = fit(llama, layout | {"micro_batch": micro_batch, "global_batch": 8 * micro_batch}, catalogue)
        best, low = (float(answer.breakdown.prediction[name]) for name in ("memory_gib", "memory_gib_low"))
        assert (answer.verdict == "does-not-fit") == (low > answer.card_gib)
        assert ("likely does not fit" in answer.why) == (low <= answer.card_gib < best)


@pytest.mark.parametrize(("precision", "peak"), [("bf16", 989), ("fp8", 989), ("tf32", 494.5), ("fp32", 67)])
def test_the_peak_that_is_printed_is_the_one_that_mfu_divides_by(catalogue: Catalogue, precision, peak) -> None:
    # NVIDIA H100 product page, SXM: TF32 989 with sparsity, FP32 67; BF16 1,979 with sparsity.
    made = fit(catalogue.models["meta/llama-3.1-405b"], LLAMA | {"precision": precision}, catalogue)
    assert made.peak_tflops == pytest.approx(peak, rel=1e-3)
    step, mfu = (made.breakdown.prediction[name] for name in ("step_time_s", "mfu"))
    flop = mfu * step * 16384 * peak * 1e12
    # 6 N D; causal attention of length 8,192 adds under a tenth.
    assert flop == pytest.approx(6 * 405e9 * 2048 * 8192, rel=0.15)


def test_software_without_an_entry_is_said_and_those_with_one_are_listed(catalogue: Catalogue) -> None:
    model = catalogue.models["meta/llama-3.1-405b"]
    other = [one for one in fit(model, LLAMA | {"stack": "foo"}, catalogue).remarks if "software 'foo'" in one]
    assert len(other) == 1
    assert "megatron-core" in other[0]
    assert not any("software" in one for one in fit(model, LLAMA | {"stack": "nanotron"}, catalogue).remarks)
