"""Saved activations against Korthikanti et al. 2022, Megatron-Core's DeepSeek-V3 table, measured logits and by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import activations
from analysis.physics.activations import total
from analysis.physics.architecture import describe
from analysis.physics.split import split

from .policies import policy
from .published import DEEPSEEK_V3, GPT_22B, LLAMA_3_8B, MIXTRAL, QWEN_3_235B, Facts, gpt

GIB = 2.0**30
OLD = {"unfused_attention": 1, "dropout": 1}
"""What Megatron-LM of 2022 stored: scores and dropout masks."""


def dense(facts: Facts, cut: dict[str, Any], **choices: float) -> dict[str, float]:
    """Bytes of a dense layer by part."""
    parts, _ = activations.layer_bytes(describe(facts), split(**cut), policy(**choices))
    return {name: float(value) for name, value in parts.items()}


def mixture(facts: Facts, cut: dict[str, Any], **choices: float) -> dict[str, float]:
    """Bytes of an MoE layer by part."""
    _, parts = activations.layer_bytes(describe(facts), split(**cut), policy(**choices))
    return {name: float(value) for name, value in parts.items()}


@pytest.mark.parametrize(
    ("parallel", "choices", "gib"),
    [
        (0, {}, 59.25),
        (1, {}, 39.5625),
        (0, {"recompute_core": 1}, 29.25),
        (1, {"recompute_core": 1}, 9.5625),
        (0, {"recompute_layer": 1}, 4.5),
    ],
)
def test_the_22b_case_of_korthikanti_2022(parallel: int, choices: dict[str, float], gib: float) -> None:
    # arXiv:2205.05198, table 2 and fig. 7: L 48, h 6144, a 64, s 2048, b 4, t 8
    cut = {"seq_len": 2048, "micro_batch": 4, "tp": 8, "sequence_parallel": parallel}
    assert 48 * sum(dense(GPT_22B, cut, **OLD, **choices).values()) / GIB == gib


@given(st.integers(1, 4), st.integers(1, 8), st.integers(1, 4), st.sampled_from([1, 2, 4, 8]))
def test_every_formula_of_table_2_holds(blocks: int, heads: int, b: int, t: int) -> None:
    s, h = 128 * blocks, 64 * heads * 8
    facts, a = gpt(2, h, heads * 8), heads * 8
    sbh, scores = s * b * h, 5 * a * s / h
    for parallel, expected in ((0, 10 + 24 / t + scores / t), (1, (34 + scores) / t)):
        cut = {"seq_len": s, "micro_batch": b, "tp": t, "sequence_parallel": parallel}
        assert sum(dense(facts, cut, **OLD).values()) == pytest.approx(sbh * expected)
        assert sum(dense(facts, cut, **OLD, recompute_layer=1).values()) == pytest.approx(
            2 * sbh * (1 / t if parallel else 1)
        )


def test_gpt2_large_overflows_a_32_gb_card() -> None:
    # github.com/NVIDIA/Megatron-LM/issues/525: L 36, h 1280, a 20, s 1024, b 4: 20.04 GiB of activations
    cut = {"seq_len": 1024, "micro_batch": 4}
    assert 36 * sum(dense(gpt(36, 1280, 20), cut, **OLD).values()) / GIB == pytest.approx(20.04, abs=0.005)


def test_a_llama_layer_by_hand() -> None:
    # per token: two norm inputs and outputs 8h; q, k, v and output; one FP32 per head; gate, up and product 6f
    h, f, a, g, d = 4096, 14336, 32, 8, 128
    expected = 8 * h + 2 * (a + 2 * g) * d + 2 * a * d + 4 * a + 6 * f
    assert sum(dense(LLAMA_3_8B, {"seq_len": 8192}).values()) == 8192 * expected


def test_pieces_of_a_layer_that_options_add() -> None:
    cut = {"seq_len": 1}
    plain = sum(dense(LLAMA_3_8B, cut).values())
    assert sum(dense(LLAMA_3_8B, cut, separate_gate=1).values()) - plain == 2 * 14336
    assert sum(dense(LLAMA_3_8B, cut, eager_norm=1).values()) - plain == 2 * 4 * 4096
    assert sum(dense(LLAMA_3_8B | {"qk_norm": "head"}, cut).values()) - plain == 2 * (32 + 8) * 128
    assert sum(dense(LLAMA_3_8B | {"norms_per_layer": 4}, cut).values()) - plain == 2 * 2 * 4096
    assert plain - sum(dense(LLAMA_3_8B | {"norms_per_layer": 1}, cut).values()) == 4 * 4096


def test_eight_bit_inputs_halve_what_products_keep() -> None:
    whole, half = (dense(LLAMA_3_8B, {"seq_len": 1}, linear_input=w) for w in (2, 1))
    assert whole["norm_outputs"] - half["norm_outputs"] == 2 * 4096
    assert whole["mlp"] - half["mlp"] == 14336
    assert half["attention_output"] - whole["attention_output"] == 4096  # the kernel keeps its own 16-bit output


@pytest.mark.parametrize(
    ("choice", "part", "dropped"),
    [("recompute_qkv", "queries_keys_values", 1), ("recompute_mlp", "mlp", 1), ("recompute_norm", "norm_outputs", 1),
     ("recompute_core", "attention_core", 1)],
)  # fmt: skip
def test_each_module_can_be_dropped_alone(choice: str, part: str, dropped: int) -> None:
    kept, less = dense(LLAMA_3_8B, {"seq_len": 64}), dense(LLAMA_3_8B, {"seq_len": 64}, **{choice: 1})
    changed = {name for name in kept if kept[name] != less[name]}
    assert changed == {part}
    assert less[part] == (1 - dropped) * kept[part]


@pytest.mark.parametrize(
    ("choice", "parts"),
    [
        ("recompute_experts", {"router", "dispatched_tokens", "routed_experts", "shared_experts"}),
        ("recompute_shared_expert", {"shared_experts"}),
    ],
)
def test_each_moe_module_can_be_dropped_alone(choice: str, parts: set[str]) -> None:
    kept, less = mixture(DEEPSEEK_V3, {"seq_len": 64}), mixture(DEEPSEEK_V3, {"seq_len": 64}, **{choice: 1})
    assert {name for name in kept if less[name] == 0 and kept[name] > 0} == parts


def test_dropping_the_expert_activation_keeps_gate_and_up() -> None:
    kept, less = (mixture(MIXTRAL, {"seq_len": 1}, recompute_expert_activation=x)["routed_experts"] for x in (0, 1))
    assert kept == 2 * 3 * 2 * 14336
    assert less == 2 * 2 * 2 * 14336


DEEPSEEK_TOKENS = 4096 * 61
"""Tokens times layers that a rank of PP 4 holds of 4 micro-batches (one quarter of 61 layers each)."""


@pytest.mark.parametrize(
    ("choice", "gib", "tolerance"),
    [({"recompute_qkv": 1}, 30.4, 0.02), ({"recompute_norm": 1}, 8.2, 0.2)],
)
def test_recompute_savings_of_deepseek_v3(choice: dict[str, float], gib: float, tolerance: float) -> None:
    # Megatron-Core MoE, arXiv:2603.07685, table 4 (PP4 VPP4 EP64, BF16): MLA up-projection 30.4, layer norm 8.2
    cut = {"seq_len": 4096, "ep": 64}
    saved = sum(mixture(DEEPSEEK_V3, cut).values()) - sum(mixture(DEEPSEEK_V3, cut, **choice).values())
    assert saved * 61 / GIB == pytest.approx(gib, rel=tolerance)


def test_keeping_expert_outputs_would_cost_deepseek_v3_26_gib() -> None:
    # same source, sec. 4.1: multiplying before the second product saves k h 16-bit numbers per token, 26.3
    assert pytest.approx(26.3, rel=0.03) == 2 * 8 * 7168 * DEEPSEEK_TOKENS / GIB


def test_all_activations_of_deepseek_v3_with_expert_outputs() -> None:
    # same source, table 3: 131.0 of activations before these savings
    layer = sum(mixture(DEEPSEEK_V3, {"seq_len": 4096, "ep": 64}).values()) / 4096 + 2 * 8 * 7168
    assert layer * DEEPSEEK_TOKENS / GIB == pytest.approx(131.0, rel=0.03)


def test_a_latent_layer_by_hand() -> None:
    parts = mixture(DEEPSEEK_V3, {"seq_len": 1})
    assert parts["queries_keys_values"] == 2 * 128 * (192 + 192 + 128)
    assert parts["latents"] == 2 * (2 * 1536 + 2 * 512 + 64)
    assert parts["attention_output"] == 2 * 128 * 128
    assert parts["dispatched_tokens"] == 2 * 8 * 7168
    assert parts["routed_experts"] == 8 * 6 * 2048
    assert parts["shared_experts"] == 6 * 2048
    assert parts["router"] == 13 * 256


def test_latents_stay_whole_under_tp_and_are_split_by_sequence_parallelism() -> None:
    whole, split_up = (mixture(DEEPSEEK_V3, {"seq_len": 8, "tp": 4, "sequence_parallel": p})["latents"] for p in (0, 1))
    assert whole == mixture(DEEPSEEK_V3, {"seq_len": 8})["latents"] == 4 * split_up


@pytest.mark.parametrize("ep", [1, 2, 8, 64])
def test_expert_parallelism_divides_no_activation(ep: int) -> None:
    # github.com/NVIDIA/Megatron-LM/pull/6782: EP is carved out of DP, every rank brings its own tokens
    one, many = (mixture(QWEN_3_235B, {"seq_len": 64, "ep": e}) for e in (1, ep))
    assert many == one


@pytest.mark.parametrize("etp", [1, 2, 4])
def test_expert_tensor_parallelism_cancels_inside_the_experts(etp: int) -> None:
    # same source: t*s*b*f/TP per rank, whatever etp; but the gathered copies grow with it
    cut = {"seq_len": 64, "tp": 4, "sequence_parallel": 1, "ep": 2, "etp": etp}
    parts = mixture(MIXTRAL, cut)
    assert parts["routed_experts"] == 64 * 2 * 6 * 14336 / 4
    assert parts["dispatched_tokens"] == 2 * 4096 * 64 * 2 * etp / 4


def test_without_sequence_parallelism_every_tensor_rank_routes_all_tokens() -> None:
    arch = describe(MIXTRAL)
    both = [float(activations.routed_tokens(arch, split(seq_len=64, tp=4, ep=2, sequence_parallel=p))) for p in (0, 1)]
    assert both == [128, 32]


@given(st.sampled_from([LLAMA_3_8B, MIXTRAL, DEEPSEEK_V3]), st.integers(1, 8), st.integers(1, 8))
def test_activations_grow_with_tokens_and_shrink_with_context_parallelism(facts: Facts, b: int, cp: int) -> None:
    kind = mixture if "experts" in facts else dense
    one = sum(kind(facts, {"seq_len": 840}).values())
    assert sum(kind(facts, {"seq_len": 840, "micro_batch": b, "cp": cp}).values()) == pytest.approx(one * b / cp)


def test_unfused_scores_of_a_context_rank_reach_the_whole_sequence() -> None:
    cut = {"seq_len": 1024, "cp": 4}
    assert dense(gpt(1, 64, 4), cut, unfused_attention=1)["attention_core"] == 2 * 4 * 1024 * 256


def test_operator_level_checkpointing_keeps_every_second_product() -> None:
    # torchtitan's op policy on Llama: layer input, queries, values, attention output, first and last MLP product
    per_token = 2 * (4096 + 4096 + 1024 + 4096 + 14336 + 4096) + 4 * 32
    assert sum(dense(LLAMA_3_8B, {"seq_len": 8}, recompute_operator=1).values()) == 8 * per_token
    split_up = dense(LLAMA_3_8B, {"seq_len": 8, "tp": 2, "sequence_parallel": 1}, recompute_operator=1)
    assert sum(split_up.values()) == 8 * per_token / 2


def test_operator_level_checkpointing_of_a_mixture_keeps_tokens_and_shared_expert() -> None:
    attention = 128 * (192 + 128) + 512
    per_token = 2 * (2 * 7168 + attention + 2048 + 8 * 7168) + 4 * 128
    assert sum(mixture(DEEPSEEK_V3, {"seq_len": 8}, recompute_operator=1).values()) == 8 * per_token


def test_checkpoints_of_groups_keep_one_input_per_group() -> None:
    one, two = (dense(LLAMA_3_8B, {"seq_len": 8}, recompute_layer=1, recompute_every=n) for n in (1, 2))
    assert sum(one.values()) == 2 * sum(two.values()) == 2 * 8 * 4096


def test_half_of_the_layers_recomputed_is_half_of_each() -> None:
    none, half, full = (sum(dense(LLAMA_3_8B, {"seq_len": 8}, recompute_layer=x).values()) for x in (0, 0.5, 1))
    assert half == pytest.approx((none + full) / 2)


def test_offloaded_checkpoints_leave_the_device() -> None:
    assert sum(dense(LLAMA_3_8B, {"seq_len": 8}, recompute_layer=1, offloaded_activations=1).values()) == 0


@pytest.mark.parametrize(
    ("tokens", "vocab", "width", "size", "unit"),
    [
        (4096, 50_304, 4, 786.0, 2**20),  # github.com/NVIDIA/Megatron-LM/issues/525: the failed allocation
        (11_600, 248_320, 4, 10.73, GIB),  # github.com/THUDM/slime/issues/2253: not "10.8 GB"
        (512, 151_665, 2, 155.3, 1e6),  # github.com/huggingface/trl/issues/3678: in bf16
        (512, 151_665, 4, 310.6, 1e6),
        (8192, 248_320, 4, 7.58, GIB),  # github.com/NVIDIA-NeMo/labs-molt/pull/121
    ],
)
def test_logits_of_reports(tokens: int, vocab: int, width: int, size: float, unit: float) -> None:
    needed = activations.logit_bytes(describe({"vocab": vocab}), split(seq_len=tokens), policy(logit_bytes=width))
    assert float(needed) / unit == pytest.approx(size, rel=1e-3)


def test_ten_bytes_per_logit_match_what_halving_the_tokens_freed() -> None:
    # github.com/NVIDIA/Megatron-LM/pull/7220: (2279.1 - 1276.5) MiB for 2048 tokens and 50,304 entries
    freed = activations.logit_bytes(describe({"vocab": 50_304}), split(seq_len=2048), policy())
    assert float(freed) / 2**20 == pytest.approx(2279.1 - 1276.5, rel=0.025)


def test_logits_are_split_by_tp() -> None:
    arch = describe({"vocab": 1000})
    whole, part = (activations.logit_bytes(arch, split(seq_len=8, tp=t), policy()) for t in (1, 4))
    assert float(whole) == 4 * float(part)


def test_the_head_keeps_input_and_output_of_the_final_norm() -> None:
    arch = describe({"hidden": 512})
    assert float(activations.head_bytes(arch, split(seq_len=8, tp=2, sequence_parallel=1), policy())) == 8 * 4 * 512 / 2


def backward(facts: Facts, cut: dict[str, Any], **choices: float) -> float:
    return float(activations.backward_bytes(describe(facts), split(**cut), policy(**choices)))


def test_passing_tensors_of_a_dense_layer_by_hand() -> None:
    assert backward(LLAMA_3_8B, {"seq_len": 8, "tp": 2}) == 8 * (4 * 4096 + 2 * 3 * 14336 / 2)
    assert backward(gpt(2, 64, 4), {"seq_len": 8}) == 8 * (4 * 64 + 2 * 2 * 256)


def test_passing_scores_replace_mlp_gradients_where_they_are_larger() -> None:
    assert backward(gpt(2, 64, 4), {"seq_len": 4096}, unfused_attention=1) == 4096 * (4 * 64 + 4 * 4 * 4096)
    split_up = backward(gpt(2, 64, 4), {"seq_len": 4096, "tp": 2}, unfused_attention=1)
    assert split_up == 4096 * (4 * 64 + 4 * 4 * 4096 / 2)


def test_passing_tensors_of_a_mixture_follow_the_routed_tokens() -> None:
    assert backward(MIXTRAL, {"seq_len": 8}) == 8 * (4 * 4096 + 2 * 3 * 2 * 14336 + 2 * 2 * 4096)


def test_passing_tensors_of_split_experts_are_split_too() -> None:
    cut = {"seq_len": 8, "tp": 2, "sequence_parallel": 1, "ep": 2, "etp": 2}
    assert backward(MIXTRAL, cut) == 8 * (4 * 4096 + 2 * 3 * 2 * 14336 / 2 + 2 * 2 * 4096)


@pytest.mark.parametrize("every", [1, 3])
def test_a_recomputed_group_comes_back_whole(every: int) -> None:
    plain, again = backward(LLAMA_3_8B, {"seq_len": 8}), sum(dense(LLAMA_3_8B, {"seq_len": 8}).values())
    assert backward(LLAMA_3_8B, {"seq_len": 8}, recompute_layer=0.5, recompute_every=every) == plain + every * again


def test_a_table_of_rows_is_its_rows() -> None:
    arch = describe({name: np.array([LLAMA_3_8B[name], GPT_22B[name]]) for name in GPT_22B})
    table, _ = activations.layer_bytes(arch, split(seq_len=np.array([8192.0, 2048.0])), policy())
    rows = [sum(dense(f, {"seq_len": s}).values()) for f, s in ((LLAMA_3_8B | {"kv_heads": 32}, 8192), (GPT_22B, 2048))]
    assert total(table).tolist() == rows
