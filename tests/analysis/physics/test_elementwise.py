"""Memory traffic of norms, activations, experts and the optimizer, tensor by tensor."""

import pytest

from analysis.physics import elementwise
from analysis.physics.architecture import describe

GATED = describe({"hidden": 4096, "heads": 32, "kv_heads": 8, "head_dim": 128, "ffn_hidden": 14336, "gated_mlp": True})
PLAIN = describe({"hidden": 4096, "heads": 32, "ffn_hidden": 16384, "gated_mlp": False})
MOE = describe({"hidden": 2048, "heads": 32, "head_dim": 128, "kv_heads": 4, "gated_mlp": True, "experts": 128,
                "experts_per_token": 8, "moe_ffn_hidden": 768, "shared_ffn_hidden": 512})  # fmt: skip


def test_two_norms_and_two_additions_touch_ten_tensors_of_two_bytes() -> None:
    # norm: x in, y out; addition: two in, one out; twice each, 2 B
    assert float(elementwise.residual_bytes(GATED, 7)) == 7 * 2 * (2 * 2 + 2 * 3) * 4096


def test_rotary_reads_and_writes_queries_and_keys() -> None:
    assert float(elementwise.attention_bytes(GATED, 7)) == 7 * 2 * 2 * (32 + 8) * 128


def test_latent_attention_rotates_as_many_keys_as_queries() -> None:
    latent = describe({"hidden": 7168, "heads": 128, "mla": True, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64})
    assert float(elementwise.attention_bytes(latent, 1)) == 4 * 2 * 128 * 192


def test_gated_activation_touches_three_tensors_and_gelu_two() -> None:
    assert float(elementwise.dense_mlp_bytes(GATED, 7)) == 7 * 2 * 3 * 14336
    assert float(elementwise.dense_mlp_bytes(PLAIN, 7)) == 7 * 2 * 2 * 16384


def test_expert_layer_moves_copies_and_activations() -> None:
    copies = 8 * 8 * 2048  # four passes of 2 B per copy
    assert float(elementwise.moe_mlp_bytes(MOE, 7)) == 7 * (6 * (8 * 768 + 512) + copies)


def test_quantising_costs_four_bytes_per_element_around_the_products() -> None:
    assert float(elementwise.cast_bytes(GATED, 7)) == 7 * 4 * (4 * 4096 + 3 * 14336)
    assert float(elementwise.cast_bytes(MOE, 7)) == 7 * 4 * (4 * 2048 + 3 * (8 * 768 + 512))


def test_adam_moves_thirty_bytes_per_parameter() -> None:
    assert 4 * 4 + 3 * 4 + 2 == 30
    assert float(elementwise.optimizer_seconds(8.03e9, 30.0, 2.039e12)) == pytest.approx(0.118, abs=5e-4)


def test_backward_moves_twice_what_forward_does() -> None:
    assert elementwise.BACKWARD_PASSES == 2.0
