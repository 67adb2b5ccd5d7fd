"""FLOP counts against published values, other derivations and the conventions people report."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import flops
from analysis.physics.architecture import describe
from analysis.physics.parameters import count

from .published import (
    DEEPSEEK_V3,
    GPT_OSS_120B,
    LLAMA_2_7B,
    LLAMA_3_8B,
    LLAMA_3_70B,
    LLAMA_3_405B,
    MIXTRAL,
    QWEN_3_30B,
    QWEN_3_235B,
    Facts,
    gpt,
)

# TFLOP/s over tokens/s of the Megatron-Bridge and NeMo performance tables agree with these to 0.1 %.
CAUSAL = [
    (LLAMA_3_8B, 8192, 51.47),
    (LLAMA_3_70B, 8192, 449.24),
    (LLAMA_3_405B, 8192, 2523.96),
    (QWEN_3_30B, 4096, 23.01),
    (QWEN_3_235B, 4096, 148.04),
    (DEEPSEEK_V3, 4096, 249.81),
]


@pytest.mark.parametrize(("facts", "seq_len", "gflop"), CAUSAL)
def test_causal_counts_match_what_megatron_prints(facts: Facts, seq_len: int, gflop: float) -> None:
    assert float(flops.per_token(facts, seq_len)["causal"]) / 1e9 == pytest.approx(gflop, rel=2e-4)


@pytest.mark.parametrize(("convention", "gflop"), [("6nd", 2435.12), ("causal", 2523.96), ("model-flops", 2625.42)])
def test_llama_405b_in_three_conventions(convention: str, gflop: float) -> None:
    assert float(flops.per_token(LLAMA_3_405B, 8192)[convention]) / 1e9 == pytest.approx(gflop, abs=0.011)


@pytest.mark.parametrize(("seq_len", "gflop"), [(4096, 46.06), (32768, 91.22), (262144, 452.2)])
def test_full_attention_matches_nemo_tables_of_llama_2_7b(seq_len: int, gflop: float) -> None:
    # NeMo 24.07 performance summary: TFLOP/s over tokens/s, printed to three digits
    assert float(flops.per_token(LLAMA_2_7B, seq_len)["model-flops"]) / 1e9 == pytest.approx(gflop, rel=2e-3)


def test_a_prediction_depth_adds_its_layer_its_projection_and_the_head_again() -> None:
    assert float(flops.per_token(DEEPSEEK_V3, 4096)["causal-with-mtp"]) / 1e9 == pytest.approx(259.99, abs=0.011)


@pytest.mark.parametrize(
    ("layers", "hidden", "sequences", "flop"),
    [(48, 6144, 4, 1.14356e15), (96, 12288, 64, 1.41092e17), (105, 20480, 280, 1.85223e18),
     (128, 25600, 512, 6.42588e18)],
)  # fmt: skip
def test_gpt_iterations_of_korthikanti_2022(layers: int, hidden: int, sequences: int, flop: float) -> None:
    # arXiv:2205.05198, table 3 and appendix A: 22B, 175B, 530B and 1T
    assert float(flops.gpt_iteration(layers, hidden, 51200, 2048, sequences)) == pytest.approx(flop, rel=1e-5)


@given(st.integers(1, 100), st.integers(1, 64), st.integers(1, 300), st.integers(1, 10**5), st.integers(1, 9))
def test_the_iteration_formula_is_the_closed_form_of_narayanan_2021(
    layers: int, a: int, batch: int, vocab: int, blocks: int
) -> None:
    h, s = 64 * a, 128 * blocks
    full = 96 * batch * layers * s * h**2 * (1 + s / (6 * h) + vocab / (16 * layers * h))
    plain = 72 * batch * layers * s * h**2 * (1 + s / (6 * h) + vocab / (12 * layers * h))
    assert float(flops.gpt_iteration(layers, h, vocab, s, batch)) == pytest.approx(plain, rel=1e-12)
    assert float(flops.gpt_iteration(layers, h, vocab, s, batch, full_recompute=True)) == pytest.approx(full, rel=1e-12)


@given(st.integers(1, 100), st.integers(1, 64), st.integers(1, 10**5), st.integers(1, 64))
def test_per_token_and_per_iteration_agree_for_a_gpt(layers: int, heads: int, vocab: int, blocks: int) -> None:
    facts, s = gpt(layers, 64 * heads, heads, vocab), 128 * blocks
    token = flops.per_token(facts, s, recomputed_linear=1, recomputed_core=1)
    assert float(token["model-flops"]) * s == pytest.approx(float(flops.gpt_iteration(layers, 64 * heads, vocab, s, 1)))
    again = flops.gpt_iteration(layers, 64 * heads, vocab, s, 1, full_recompute=True)
    assert float(token["hardware-flops"]) * s == pytest.approx(float(again))


def test_selective_recompute_repeats_only_the_forward_core() -> None:
    token = flops.per_token(LLAMA_3_8B, 8192, recomputed_core=1)
    assert float(token["hardware-flops"] - token["model-flops"]) == 4 * 8192 * 4096 * 32


@pytest.mark.parametrize("facts", [LLAMA_3_8B, DEEPSEEK_V3])
def test_without_recompute_hardware_and_model_flops_are_one(facts: Facts) -> None:
    token = flops.per_token(facts, 8192)
    assert float(token["hardware-flops"]) == float(token["model-flops"])


@pytest.mark.parametrize("facts", [LLAMA_3_8B, DEEPSEEK_V3])
def test_full_recompute_repeats_a_third_of_everything_but_the_head(facts: Facts) -> None:
    token = flops.per_token(facts, 8192, recomputed_linear=1, recomputed_core=1)
    head = 6 * facts["hidden"] * facts["vocab"]
    again = float(token["hardware-flops"] - token["model-flops"])
    assert again == pytest.approx((float(token["model-flops"]) - head) / 3)


def test_six_n_d_counts_active_parameters_only() -> None:
    # github.com/AI-Hypercomputer/maxtext/pull/678: Mixtral's 8 experts counted gave 287.78 where 2 give 79.98
    token = flops.per_token(MIXTRAL, 4096)
    assert float(token["6nd"]) == 6 * 12_879_925_248
    assert float(6 * count(MIXTRAL)["total"] / token["6nd"]) == pytest.approx(3.626, abs=1e-3)


def test_a_window_lowers_gpt_oss_by_nine_percent() -> None:
    # github.com/pytorch/torchtitan/pull/4300: 38.04e9 without, 34.53e9 with the window (biases counted as weights)
    everywhere = GPT_OSS_120B | {"sliding_window": 0}
    with_window, without = (flops.per_token(f, 4096)["model-flops"] for f in (GPT_OSS_120B, everywhere))
    assert float(without - with_window) == 38_044_854_144 - 34_534_221_696
    assert float(with_window) / 34_534_221_696 == pytest.approx(1, abs=5e-4)


def test_scores_use_query_heads_whatever_the_kv_heads() -> None:
    # github.com/allenai/OLMo-core/pull/478
    cores = []
    for kv_heads in (32, 8):
        token = flops.per_token(LLAMA_3_8B | {"kv_heads": kv_heads}, 8192)
        cores.append(float(token["model-flops"] - token["causal"]))
    assert cores[0] == cores[1] == 6 * 8192 * 4096 * 32


def test_both_products_of_the_core_are_counted() -> None:
    # github.com/pytorch/torchtitan/pull/4366: 6 * heads * (qk_dim + v_dim) * context
    token = flops.per_token(DEEPSEEK_V3, 4096)
    router = 6 * 58 * 7168 * 256
    assert float(token["model-flops"] - token["causal"]) == 6 * 128 * (192 + 128) * 2048 * 61 + router


def test_causal_attention_at_the_flash_benchmark_is_half_of_full() -> None:
    # github.com/pytorch/torchtitan/issues/341: 189 TFLOP/s causal, doubled and over 312 gives 121 %, 60.6 % is right
    arch = describe({"layers": 1, "hidden": 2048, "heads": 32})
    half, full = (flops.attention_context(arch, np.asarray(16384.0), causal=c) for c in (True, False))
    assert float(full / half) == 2
    assert pytest.approx(0.606, abs=1e-3) == 189 / 312


def test_a_gate_costs_a_third_matrix() -> None:
    # github.com/NVIDIA/Megatron-LM/pull/682
    gated, plain = (flops.per_token(LLAMA_3_8B | {"gated_mlp": g}, 8192)["causal"] for g in (1, 0))
    assert float(gated - plain) == 6 * 32 * 4096 * 14336


def test_a_tied_head_is_still_multiplied() -> None:
    # github.com/pytorch/torchtitan/pull/3225
    tied, own = (flops.per_token(LLAMA_3_8B | {"tied_embeddings": t}, 8192)["causal"] for t in (1, 0))
    assert float(tied) == float(own)


def test_shared_experts_are_active_and_their_gate_is_multiplied() -> None:
    base = {"layers": 2, "hidden": 128, "heads": 8, "vocab": 100, "gated_mlp": 1, "tied_embeddings": 0, "experts": 4,
            "experts_per_token": 2, "moe_ffn_hidden": 64}  # fmt: skip
    with_shared = base | {"shared_ffn_hidden": 32, "shared_expert_gate": 1}
    causal, full = (
        flops.per_token(with_shared, 64)[n] - flops.per_token(base, 64)[n] for n in ("causal", "model-flops")
    )
    assert float(causal) == 6 * 2 * 3 * 128 * 32
    assert float(full) == 6 * 2 * (3 * 128 * 32 + 128)


def test_deepseek_v3_hours_tokens_and_utilisation_agree() -> None:
    # arXiv:2412.19437, table 1: 2.664M H800 hours of pre-training, 14.8T tokens; dense BF16 peak 989.5 TFLOP/s
    per_second = 14.8e12 * flops.per_token(DEEPSEEK_V3, 4096)["causal"] / (2.664e6 * 3600)
    assert float(per_second) / 1e12 == pytest.approx(385.5, abs=0.1)
    assert float(per_second) / 989.5e12 == pytest.approx(0.390, abs=5e-4)


def test_deepseek_v3_in_6nd_is_a_third_of_bf16_peak() -> None:
    # github.com/jax-ml/scaling-book/issues/31: 16.5 % of FP8, 33.1 % of BF16 on 2.79M hours; 34.6 % on 2.664M
    flop = 6 * 37e9 * 14.8e12
    assert flop / (2.79e6 * 3600 * 1979e12) == pytest.approx(0.165, abs=5e-4)
    assert flop / (2.664e6 * 3600 * 989.5e12) == pytest.approx(0.346, abs=5e-4)


def test_totals_beyond_64_bit_integers_stay_finite() -> None:
    # github.com/huggingface/transformers/pull/10213: int64 ends at 9.22e18
    assert float(flops.per_token(LLAMA_3_405B, 8192)["6nd"]) * 15.6e12 == pytest.approx(3.8e25, rel=1e-2)


@given(st.integers(1, 4096), st.integers(1, 4096))
def test_a_window_never_counts_more_than_the_whole_sequence(window: int, seq_len: int) -> None:
    arch = describe({"layers": 3, "hidden": 64, "heads": 1, "sliding_window": window, "sliding_window_layers": 2})
    for causal in (True, False):
        part = float(flops.attention_context(arch, np.asarray(float(seq_len)), causal=causal))
        assert part <= 3 * seq_len / (2 if causal else 1)


def test_causal_windows_count_the_pairs_inside_the_band() -> None:
    arch = describe({"layers": 1, "hidden": 64, "heads": 1, "sliding_window": 256})
    pairs = sum(min(i + 1, 256) for i in range(4096))
    context = float(flops.attention_context(arch, np.asarray(4096.0), causal=True))
    assert context * 4096 == pytest.approx(pairs, rel=2e-3)


def test_a_table_counts_as_its_rows_do() -> None:
    table = {name: np.array([LLAMA_3_8B[name], LLAMA_3_70B[name]]) for name in LLAMA_3_8B}
    both = flops.per_token(table, np.array([8192, 8192]))["causal"]
    assert both.tolist() == [float(flops.per_token(f, 8192)["causal"]) for f in (LLAMA_3_8B, LLAMA_3_70B)]
