"""Attention core: FLOP against the papers' formulas, kernel classes against FlashAttention's figures."""

import numpy as np
import pytest

from analysis.physics import attention, flops
from analysis.physics.architecture import describe

LLAMA = describe({"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "vocab": 1, "gated_mlp": True,
                  "tied_embeddings": True, "ffn_hidden": 1})  # fmt: skip


def test_full_attention_is_four_s_s_h_forward() -> None:
    # Two products of 2 s^2 h FLOP each (Narayanan et al. 2021, appendix).
    assert float(attention.core_flop(LLAMA, 1, 2048, 1, 1, causal=False)) == 4 * 2048**2 * 4096


def test_causal_attention_is_half_of_it_and_ranks_share_it() -> None:
    assert float(attention.core_flop(LLAMA, 3, 2048, 2, 4, causal=True)) == 3 * 2 * 2048**2 * 4096 / 8


def test_core_agrees_with_the_flop_count_per_token() -> None:
    both = flops.per_token(LLAMA, 2048)
    core = 3 * 32 * float(attention.core_flop(LLAMA, 1, 2048, 1, 1, causal=True)) / 2048
    assert float(both["model-flops"] - both["causal"]) == pytest.approx(core)


def test_grouped_queries_do_not_shrink_the_core() -> None:
    # https://github.com/allenai/OLMo-core/pull/478: scores use query heads
    full = describe({"layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 32})
    one = [float(attention.core_flop(a, 1, 2048, 1, 1, causal=True)) for a in (LLAMA, full)]
    assert one[0] == one[1]


def test_latent_attention_counts_both_head_widths() -> None:
    latent = describe({"layers": 1, "hidden": 8, "heads": 128, "mla": True, "qk_nope_head_dim": 128,
                       "qk_rope_head_dim": 64, "v_head_dim": 128})  # fmt: skip
    assert float(attention.core_flop(latent, 1, 4096, 1, 1, causal=True)) == 4096**2 * 128 * 320


def test_fused_backward_has_five_products_to_two() -> None:
    forward, backward = attention.fused_seconds(2e12, 100e12)
    assert (float(forward), float(backward)) == (0.02, 0.05)


def test_unfused_core_pays_for_products_and_softmax_traffic() -> None:
    # 2e12/100e12 = 20 ms; 1e9 scores * 15 B / 2e12 = 7.5 ms, a third of it forward
    forward, backward = attention.unfused_seconds(2e12, 1e9, 100e12, 2e12, 15.0)
    assert float(forward) == pytest.approx(0.020 + 0.0025)
    assert float(backward) == pytest.approx(0.040 + 0.0050)


def test_short_sequences_reach_half_at_the_half_length() -> None:
    assert attention.block_share(np.array([400.0, 1200.0]), 400.0).tolist() == [0.5, 0.75]


def test_narrow_heads_lose_as_in_flash_attention_2() -> None:
    # arXiv:2307.08691, fig. 4-6: d = 64 reaches 0.80 to 0.87 of d = 128.
    share = float(attention.head_dim_share(64.0, 0.2))
    assert 0.80 <= share <= 0.87
    assert share == pytest.approx(64 / (0.8 * 64 + 0.2 * 128))


def test_wide_heads_gain_nothing() -> None:
    assert attention.head_dim_share(np.array([128.0, 192.0, 256.0]), 0.2).tolist() == [1, 1, 1]


@pytest.mark.parametrize(("width", "halvings"), [(64, 0), (128, 0), (192, 0), (96, 1), (160, 1), (80, 2), (216, 3)])
def test_alignment_counts_halvings_below_sixty_four(width: int, halvings: int) -> None:
    assert float(attention.alignment_share(width, 0.75)) == pytest.approx(0.75**halvings)


@pytest.mark.parametrize(("name", "kind"), [("flash", 0), ("sdpa", 0), ("flash-alibi", 1), ("eager", 2)])
def test_kernel_names_fall_in_three_classes(name: str, kind: float) -> None:
    assert attention.KERNEL_CLASSES[name] == kind


def test_vector_equals_scalars() -> None:
    lengths = [512.0, 2048.0, 131072.0]
    each = [float(attention.core_flop(LLAMA, 1, s, 1, 1, causal=True)) for s in lengths]
    assert attention.core_flop(LLAMA, 1, np.array(lengths), 1, 1, causal=True).tolist() == each
