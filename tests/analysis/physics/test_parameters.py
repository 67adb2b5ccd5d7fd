"""Parameter counts against published totals, hand arithmetic and each other."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import parameters
from analysis.physics.architecture import describe

from .published import (
    BIASED,
    BLOOM,
    DEEPSEEK_V2_LITE,
    DEEPSEEK_V3,
    GPT_OSS_120B,
    LLAMA_2_7B,
    LLAMA_3_405B,
    MIXTRAL,
    OLMOE,
    PLAIN,
    QWEN_1_5_72B,
    QWEN_1_5_MOE,
    QWEN_2_57B,
    QWEN_3_4B,
    QWEN_3_235B,
    STORIES_42M,
    Facts,
    gpt,
)  # fmt: skip

TOTALS = [
    (LLAMA_2_7B, 6_738_415_616),
    (LLAMA_3_405B, 405_853_388_800),
    (QWEN_1_5_72B, 72_287_920_128),  # github.com/EleutherAI/cookbook/issues/36
    (QWEN_3_4B, 4_022_468_096),
    (MIXTRAL, 46_702_792_704),  # github.com/jranaraki/vllm-fit/issues/27
    (QWEN_3_235B, 235_093_634_560),
    (DEEPSEEK_V2_LITE, 15_706_484_224),  # github.com/deepseek-ai/DeepSeek-V2/issues/73: 15.706e9
    (DEEPSEEK_V3, 671_026_419_200),
    (GPT_OSS_120B, 116_829_156_672),
    (BLOOM, 176_247_271_424),
    (OLMOE, 6_919_161_856),
    (STORIES_42M, 41_689_600),  # github.com/karpathy/llama2.c/issues/378: 58,073,600 counts the tied matrix twice
]  # fmt: skip


@pytest.mark.parametrize(("facts", "total"), TOTALS)
def test_published_totals_come_out_to_the_last_digit(facts: Facts, total: int) -> None:
    assert int(parameters.count(facts)["total"]) == total


@pytest.mark.parametrize(
    ("facts", "active"),
    [(MIXTRAL, 12_879_925_248), (QWEN_3_235B, 22_190_763_520), (GPT_OSS_120B, 5_711_982_912), (OLMOE, 1_282_017_280)],
)
def test_published_active_counts_come_out_to_the_last_digit(facts: Facts, active: int) -> None:
    assert int(parameters.count(facts)["active"]) == active


@pytest.mark.parametrize(
    ("facts", "key", "billions"),
    [
        (DEEPSEEK_V3, "active", 37.55),  # github.com/deepseek-ai/DeepSeek-V3/issues/231
        (DEEPSEEK_V3, "active_without_embedding", 36.63),
        (DEEPSEEK_V3, "total_with_mtp", 684.49),  # model card: 685B on the hub
        (DEEPSEEK_V2_LITE, "active", 2.66),  # github.com/deepseek-ai/DeepSeek-V2/issues/73
        (DEEPSEEK_V2_LITE, "active_without_embedding", 2.45),
        (GPT_OSS_120B, "active_without_embedding", 5.13),  # model card: 5.1B active
        (QWEN_1_5_MOE, "total", 14.32),  # github.com/xorbitsai/inference/pull/1642: 14.3e9, not 2.7e9
        (QWEN_2_57B, "total", 57.41),
    ],
)
def test_published_counts_to_two_decimals(facts: Facts, key: str, billions: float) -> None:
    assert float(parameters.count(facts)[key]) / 1e9 == pytest.approx(billions, abs=0.0051)


def test_the_mtp_checkpoint_of_deepseek_v3_counts_to_the_last_digit() -> None:
    assert int(parameters.count(DEEPSEEK_V3)["total_with_mtp"]) == 684_489_845_504


def test_the_prediction_block_of_a_dense_model_is_one_dense_layer_and_its_projection() -> None:
    # By hand (arXiv:2412.19437, Section 2.2, on Llama 2 7B): a layer of 4 h^2 + 3 h f + 2 h, a 2h-to-h matrix, 3 norms.
    h, f = 4096, 11008
    block = parameters.mtp_block(describe(LLAMA_2_7B))
    assert int(block.total) == (4 * h * h + 3 * h * f + 2 * h) + 2 * h * h + 3 * h


def test_mtp_without_its_own_matrices_is_two_vocabulary_matrices_smaller() -> None:
    shared = parameters.count(DEEPSEEK_V3 | {"mtp_own_embedding": False})["total_with_mtp"]
    assert int(parameters.count(DEEPSEEK_V3)["total_with_mtp"] - shared) == 2 * 129280 * 7168


@pytest.mark.parametrize(
    ("layers", "hidden", "heads", "billions"),
    [(24, 2304, 24, 1.7), (48, 8192, 64, 39.1), (96, 12288, 96, 174.6), (105, 20480, 128, 529.6),
     (128, 25600, 160, 1008.0)],
)  # fmt: skip
def test_gpt_counts_match_narayanan_2021_table_1(layers: int, hidden: int, heads: int, billions: float) -> None:
    facts = gpt(layers, hidden, heads, **BIASED, learned_positions=2048, final_norm=False)
    assert float(parameters.count(facts)["total"]) / 1e9 == pytest.approx(billions, abs=0.051)


@given(st.integers(1, 200), st.integers(1, 64), st.integers(1, 16), st.integers(1, 10**6), st.integers(0, 10**5))
def test_gpt_counts_follow_equation_2_of_narayanan_2021(layers: int, a: int, d: int, vocab: int, seq: int) -> None:
    h = a * d
    facts = gpt(layers, h, a, vocab, **BIASED, learned_positions=seq, final_norm=False)
    assert int(parameters.count(facts)["total"]) == 12 * layers * h * h + 13 * layers * h + (vocab + seq) * h


def test_latent_attention_by_hand() -> None:
    arch = describe(DEEPSEEK_V3)
    queries = 7168 * 1536 + 1536 * 128 * 192
    keys_values = 7168 * (512 + 64) + 512 * 128 * 256
    sharded, whole = parameters.attention_weights(arch)
    assert int(sharded + whole) == queries + keys_values + 128 * 128 * 7168 == 187_105_280
    assert int(whole) == 7168 * (1536 + 512 + 64)


def test_latent_attention_without_query_latent_projects_from_hidden() -> None:
    sharded, whole = parameters.attention_weights(describe(DEEPSEEK_V2_LITE))
    assert int(sharded) == 2048 * 16 * 192 + 512 * 16 * 256 + 16 * 128 * 2048
    assert int(whole) == 2048 * 576


def test_experts_are_a_bucket_of_their_own() -> None:
    # github.com/NVIDIA/Megatron-LM/issues/4050: experts 45.10e9 of Mixtral's 46.70e9
    buckets = parameters.count(MIXTRAL)
    assert int(buckets["routed_experts"]) == 32 * 8 * 3 * 4096 * 14336 == 45_097_156_608
    assert int(buckets["replicated"]) == 32 * (2 * 4096 + 4096 * 8) + 4096


@pytest.mark.parametrize("facts", [facts for facts, _ in TOTALS])
def test_buckets_and_parts_add_up_to_the_total(facts: Facts) -> None:
    counted = parameters.count(facts)
    buckets = counted["tp_sharded"] + counted["replicated"] + counted["routed_experts"]
    parts = parameters.by_part(describe(facts))
    assert int(buckets) == int(counted["total"])
    assert int(sum(parts.values())) == int(counted["total_with_mtp"])


@pytest.mark.parametrize(
    ("more", "extra"),
    [
        ({"qkv_bias": 1}, 2 * (8 + 2 * 2) * 16),
        ({"attention_output_bias": 1}, 2 * 128),
        ({"mlp_bias": 1}, 2 * (512 + 128)),
        ({"gated_mlp": 1, "mlp_bias": 1}, 2 * (128 * 512 + 2 * 512 + 128)),
        ({"qk_norm": "head"}, 2 * 2 * 16),
        ({"qk_norm": "projection"}, 2 * (8 + 2) * 16),
        ({"attention_sinks": 1}, 2 * 8),
        ({"norms_per_layer": 4}, 2 * 2 * 128),
        ({"norms_per_layer": 1}, -2 * 128),
        ({"norm_vectors": 2}, (2 * 2 + 1) * 128),
        ({"norm_vectors": 0}, -(2 * 2 + 1) * 128),
        ({"embedding_norm": 1}, 128),
        ({"final_norm": 0}, -128),
        ({"learned_positions": 64}, 64 * 128),
        ({"tied_embeddings": 0}, 1000 * 128),
        ({"tied_embeddings": 0, "head_bias": 1}, 1000 * 128 + 1000),
    ],
)
def test_each_option_adds_what_its_tensor_holds(more: Facts, extra: int) -> None:
    base = PLAIN | {"layers": 2, "hidden": 128, "ffn_hidden": 512, "heads": 8, "kv_heads": 2, "vocab": 1000}
    change = parameters.count(base | more)["total"] - parameters.count(base)["total"]
    assert int(change) == extra


@pytest.mark.parametrize(
    ("more", "extra"),
    [
        ({"router_bias": 1}, 2 * 4),
        ({"expert_bias": 1}, 2 * 4 * (2 * 64 + 128)),
        ({"shared_ffn_hidden": 32}, 2 * 3 * 128 * 32),
        ({"shared_ffn_hidden": 32, "shared_expert_gate": 1}, 2 * (3 * 128 * 32 + 128)),
        ({"dense_layers": 1}, 3 * 128 * 512 - 4 * (3 * 128 * 64 + 128)),
        ({"moe_layer_step": 2}, 3 * 128 * 512 - 4 * (3 * 128 * 64 + 128)),
    ],
)
def test_each_moe_option_adds_what_its_tensor_holds(more: Facts, extra: int) -> None:
    base = {"layers": 2, "hidden": 128, "ffn_hidden": 512, "heads": 8, "vocab": 1000, "gated_mlp": 1,
            "tied_embeddings": 0, "experts": 4, "experts_per_token": 2, "moe_ffn_hidden": 64}  # fmt: skip
    change = parameters.count(base | more)["total"] - parameters.count(base)["total"]
    assert int(change) == extra


def test_padding_the_vocabulary_adds_one_row_per_word() -> None:
    # github.com/NVIDIA/Megatron-LM/issues/1702: 1187 * 128 = 151,936 rows for 151,669 tokens, 0.68M parameters
    padded, plain = (parameters.count(QWEN_3_4B | {"vocab": v})["total"] for v in (1187 * 128, 151_669))
    assert int(padded - plain) == 267 * 2560 == 683_520


def test_a_wrong_ffn_width_of_llama_13b_costs_157_million() -> None:
    # github.com/deepspeedai/Megatron-DeepSpeed/issues/184: computed 13,568, real 13,824
    llama = LLAMA_2_7B | {"layers": 40, "hidden": 5120, "heads": 40}
    real, computed = (parameters.count(llama | {"ffn_hidden": f})["total"] for f in (13_824, 13_568))
    assert int(real - computed) == 3 * 5120 * 256 * 40


def test_a_table_counts_as_its_rows_do() -> None:
    names = ("layers", "hidden", "ffn_hidden", "heads", "vocab", "gated_mlp", "tied_embeddings")
    table: dict[str, Any] = {name: np.array([LLAMA_2_7B[name], STORIES_42M[name]]) for name in names}
    assert parameters.count(table)["total"].tolist() == [6_738_415_616, 41_689_600]


def test_a_missing_fact_makes_the_count_unknown_and_not_smaller() -> None:
    without = {name: value for name, value in LLAMA_2_7B.items() if name != "vocab"}
    assert np.isnan(parameters.count(without)["total"])
    assert np.isnan(parameters.count(LLAMA_2_7B | {"ffn_hidden": None})["total"])


@given(st.sampled_from(["layers", "hidden", "ffn_hidden", "vocab"]), st.integers(1, 50))
def test_more_of_anything_is_more_parameters(name: str, factor: int) -> None:
    larger = LLAMA_2_7B | {"head_dim": 128, name: LLAMA_2_7B[name] * (factor + 1)}
    assert parameters.count(larger)["total"] > parameters.count(LLAMA_2_7B)["total"]


def test_a_tied_matrix_is_active_once_as_head_when_the_embedding_is_left_out() -> None:
    counted = parameters.count(QWEN_3_4B)
    assert int(counted["active_without_embedding"]) == int(counted["total"])
    untied = parameters.count(QWEN_3_4B | {"tied_embeddings": False})
    assert int(untied["active_without_embedding"]) == int(untied["total"]) - 151936 * 2560 == int(counted["total"])
