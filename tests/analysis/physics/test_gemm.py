"""Matrix products of a layer: FLOP against exact parameter counts, bytes and seconds by hand."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import gemm
from analysis.physics.architecture import Architecture, describe

LLAMA_8B = describe({
    "layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "head_dim": 128, "vocab": 128256,
    "gated_mlp": True, "tied_embeddings": False,
})  # fmt: skip
DEEPSEEK_V3 = describe({
    "layers": 61, "hidden": 7168, "ffn_hidden": 18432, "heads": 128, "vocab": 129280, "gated_mlp": True,
    "tied_embeddings": False, "experts": 256, "experts_per_token": 8, "moe_ffn_hidden": 2048, "dense_layers": 3,
    "shared_ffn_hidden": 2048, "mla": True, "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128,
    "qk_rope_head_dim": 64, "v_head_dim": 128,
})  # fmt: skip


def ideal(work: gemm.Products, rate: float = 250e12) -> Any:
    return float(gemm.product_seconds(work, rate, np.inf))


def test_one_product_counts_multiply_adds_and_three_matrices() -> None:
    one = gemm.product(3, 5, 7)
    assert (float(one.flop), float(one.elements)) == (210, 21 + 35 + 15)


def test_products_add_and_repeat() -> None:
    both = gemm.product(3, 5, 7).plus(gemm.product(1, 1, 1)).times(2)
    assert (float(both.flop), float(both.elements)) == (2 * 212, 2 * 74)


def test_additive_roofline_equals_the_shape_rule() -> None:
    # t = ideal (1 + R (1/M + 1/N + 1/K)), R = rate * bytes / (2 * bandwidth)
    m, n, k, rate, bandwidth = 2048.0, 9600.0, 25600.0, 243e12, 2.039e12
    shape = 1 + rate / bandwidth * (1 / m + 1 / n + 1 / k)
    assert float(gemm.product_seconds(gemm.product(m, n, k), rate, bandwidth)) == pytest.approx(
        2 * m * n * k / rate * shape
    )


def test_fp8_operands_with_bf16_outputs_move_a_third_less() -> None:
    assert float(gemm.pass_bytes(1.0)) == pytest.approx(4 / 3)
    assert float(gemm.pass_bytes(1.0, output_bytes=4.0)) == 2.0


def test_grouped_query_projections_count_two_flop_per_weight_and_token() -> None:
    # h*(a + 2g)*d + a*d*h = 4096*6144 + 4096*4096 weights (Llama 3 8B)
    assert float(gemm.attention_products(LLAMA_8B, 100, 1).flop) == 200 * (4096 * 6144 + 4096 * 4096)


def test_grouped_query_elements_by_hand() -> None:
    into = 100 * 4096 + 4096 * 6144 + 100 * 6144
    out = 100 * 4096 + 4096 * 4096 + 100 * 4096
    assert float(gemm.attention_products(LLAMA_8B, 100, 1).elements) == into + out


def test_tensor_ranks_share_the_projections() -> None:
    whole, eighth = (float(gemm.attention_products(LLAMA_8B, 100, t).flop) for t in (1, 8))
    assert eighth == whole / 8


def test_latent_attention_counts_its_exact_weights() -> None:
    # DeepSeek-V3: q 7168*1536 + 1536*128*192, kv 7168*576 + 512*128*256, out 128*128*7168 = 187,105,280
    weights = 7168 * 1536 + 1536 * 128 * 192 + 7168 * 576 + 512 * 128 * 256 + 128 * 128 * 7168
    assert weights == 187_105_280
    assert float(gemm.attention_products(DEEPSEEK_V3, 10, 1).flop) == pytest.approx(20 * weights)


def test_latent_down_projections_are_not_shared_by_tensor_ranks() -> None:
    down = 7168 * (1536 + 512 + 64)
    rest = 187_105_280 - down
    assert float(gemm.attention_products(DEEPSEEK_V3, 10, 8).flop) == pytest.approx(20 * (rest / 8 + down))


def test_latent_elements_by_hand() -> None:
    m = 10
    up_weights = 1536 * 128 * 192 + 512 * 128 * 256
    up = up_weights + (m * 128 * (192 + 128 + 128) + 128 * (192 + 128 + 128) + m) + m * (1536 + 512)
    out = m * 7168 + 7168 * 16384 + m * 16384
    down = m * 2112 + 2112 * 7168 + m * 7168
    assert float(gemm.attention_products(DEEPSEEK_V3, m, 1).elements) == pytest.approx(up + out + down)


def test_latent_elements_of_half_the_heads() -> None:
    whole, half = (float(gemm.attention_products(DEEPSEEK_V3, 10, t).elements) for t in (1, 2))
    per_head = 1536 * 192 + 512 * 256 + (10 + 1) * 448 + 7168 * 128 + 10 * 128
    assert whole - half == pytest.approx(64 * per_head)


def test_gated_mlp_has_three_products_and_a_plain_one_two() -> None:
    plain = describe({"hidden": 4096, "heads": 32, "ffn_hidden": 14336, "gated_mlp": False})
    assert float(gemm.dense_products(LLAMA_8B, 10, 2).flop) == 6 * 10 * 4096 * 7168
    assert float(gemm.dense_products(plain, 10, 2).flop) == 4 * 10 * 4096 * 7168


def test_gated_mlp_elements_by_hand() -> None:
    up = 10 * 4096 + 4096 * 28672 + 10 * 28672
    down = 10 * 14336 + 14336 * 4096 + 10 * 4096
    assert float(gemm.dense_products(LLAMA_8B, 10, 1).elements) == up + down


@pytest.mark.parametrize(("ep", "etp"), [(1, 1), (8, 1), (64, 1), (8, 2)])
def test_routed_flop_does_not_depend_on_where_experts_live(ep: int, etp: int) -> None:
    # each rank computes k copies of its own number of tokens: 8 * 6 * h * f
    assert float(gemm.routed_products(DEEPSEEK_V3, 4096, ep, etp).flop) == pytest.approx(4096 * 8 * 6 * 7168 * 2048)


def test_weights_of_every_local_expert_are_read_once() -> None:
    few = gemm.routed_products(DEEPSEEK_V3, 4096, 64, 1).elements
    many = gemm.routed_products(DEEPSEEK_V3, 4096, 8, 1).elements
    assert float(many - few) == pytest.approx((32 - 4) * 3 * 7168 * 2048)


def test_a_dense_model_has_no_routed_work() -> None:
    assert float(gemm.routed_products(LLAMA_8B, 4096, 1, 1).flop) == 0


def test_shared_expert_and_router_by_hand() -> None:
    # one shared expert of 2048 over 2 tensor ranks, router 7168 x 256 on half of the tokens
    assert float(gemm.shared_products(DEEPSEEK_V3, 10, 2).flop) == 6 * 10 * 7168 * 1024 + 2 * 5 * 7168 * 256


def test_head_is_split_over_the_vocabulary() -> None:
    assert float(gemm.head_products(LLAMA_8B, 10, 8).flop) == 2 * 10 * 4096 * 16032
    assert float(gemm.head_products(LLAMA_8B, 10, 8).elements) == 10 * 4096 + 4096 * 16032 + 10 * 16032


def test_layer_flop_agree_with_the_parameter_count() -> None:
    # 6,979,588,096 weights of Llama 3 8B's 32 layers without norms = 8,030,261,248 - 2 * 128256 * 4096 - 65 * 4096
    layer = gemm.attention_products(LLAMA_8B, 1, 1).plus(gemm.dense_products(LLAMA_8B, 1, 1))
    assert float(layer.flop) * 32 / 2 == 8_030_261_248 - 2 * 128256 * 4096 - 65 * 4096


@given(st.floats(16, 1e5), st.floats(16, 1e5), st.floats(16, 1e5))
def test_larger_products_run_at_a_higher_rate(m: float, n: float, k: float) -> None:
    small, large = gemm.product(m, n, k), gemm.product(2 * m, 2 * n, 2 * k)
    rates = [float(p.flop / gemm.product_seconds(p, 250e12, 2e12)) for p in (small, large)]
    assert rates[1] > rates[0]


@given(st.floats(1e11, 1e13))
def test_faster_memory_never_slows_a_product(bandwidth: float) -> None:
    work = gemm.product(512, 4096, 4096)
    slow = float(gemm.product_seconds(work, 250e12, bandwidth))
    assert float(gemm.product_seconds(work, 250e12, 2 * bandwidth)) < slow


def test_vector_equals_scalars() -> None:
    table: Architecture = describe({"hidden": np.array([4096.0, 8192.0]), "heads": 32, "ffn_hidden": 1024.0,
                                    "gated_mlp": True})  # fmt: skip
    facts = {"heads": 32, "ffn_hidden": 1024, "gated_mlp": True}
    each = [float(gemm.dense_products(describe(facts | {"hidden": h}), 7, 1).flop) for h in (4096, 8192)]
    assert gemm.dense_products(table, 7, 1).flop.tolist() == each


def test_overlapped_products_take_the_larger_of_arithmetic_and_traffic() -> None:
    # 2 * 4096^3 / 200e12 = 0.687 ms against 3 * 4096^2 * 2 B / 1e12 = 0.101 ms, then the same at 1e11 B/s
    work = gemm.product(4096, 4096, 4096)
    fast, slow = (float(gemm.product_seconds(work, 200e12, bw, 2.0, overlapped=1.0)) for bw in (1e12, 1e11))
    assert fast == pytest.approx(2 * 4096**3 / 200e12)
    assert slow == pytest.approx(3 * 4096**2 * 2 / 1e11)
