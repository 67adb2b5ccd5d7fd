"""Reading facts: what is derived, what counts as absent, what stays unknown."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics.architecture import ABSENT, describe

from .published import DEEPSEEK_V3, GPT_OSS_120B


def test_what_every_format_derives_is_derived() -> None:
    arch = describe({"hidden": 4096, "heads": 32, "ffn_hidden": 11008})
    assert (float(arch.head_dim), float(arch.kv_heads), float(arch.moe_ffn_hidden)) == (128, 32, 11008)


@pytest.mark.parametrize("blank", [None, float("nan")])
def test_blank_and_absent_are_the_same(blank: float | None) -> None:
    stated, absent = describe({"hidden": 8, "heads": 2, "kv_heads": blank}), describe({"hidden": 8, "heads": 2})
    assert float(stated.kv_heads) == float(absent.kv_heads) == 2


@pytest.mark.parametrize("name", [name for name, value in ABSENT.items() if np.isnan(value)])
def test_needed_facts_stay_unknown(name: str) -> None:
    assert np.isnan(getattr(describe({}), name))


def test_a_model_without_any_mlp_width_is_unknown() -> None:
    assert np.isnan(describe({"hidden": 8, "heads": 2}).ffn_hidden)
    assert float(describe({"hidden": 8, "heads": 2, "experts": 4, "moe_ffn_hidden": 16}).ffn_hidden) == 0


def test_head_widths_follow_the_kind_of_attention() -> None:
    latent = describe(DEEPSEEK_V3)
    assert (float(latent.qk_dim), float(latent.v_dim)) == (192, 128)
    grouped = describe({"hidden": 64, "heads": 4, "head_dim": 32})
    assert (float(grouped.qk_dim), float(grouped.v_dim)) == (32, 32)


def test_matrices_of_an_mlp() -> None:
    assert [float(describe({"gated_mlp": g}).mlp_matrices) for g in (0, 1)] == [2, 3]


@given(st.integers(0, 100), st.integers(0, 20), st.integers(1, 4))
def test_moe_layers_are_counted_as_a_list_of_layers_would(layers: int, dense: int, step: int) -> None:
    arch = describe({"layers": layers, "experts": 8, "dense_layers": dense, "moe_layer_step": step})
    listed = sum(1 for i in range(layers) if i >= dense and (i - dense + 1) % step == 0)
    assert float(arch.moe_layers) == listed


def test_a_window_without_a_count_holds_for_all_layers() -> None:
    assert float(describe({"layers": 36, "sliding_window": 128}).windowed_layers) == 36
    assert float(describe(GPT_OSS_120B).windowed_layers) == 18
    assert float(describe({"layers": 36, "sliding_window_layers": 18}).windowed_layers) == 0


def test_rows_of_a_table_are_cut_and_single_values_kept() -> None:
    cut = describe({"layers": np.array([1.0, 2.0, 3.0]), "hidden": 64}).rows(slice(1, 3))
    assert cut.layers.tolist() == [2, 3]
    assert float(cut.hidden) == 64


def test_qk_norms_are_named() -> None:
    assert [float(describe({"qk_norm": name}).qk_norm) for name in ("none", "head", "projection")] == [0, 1, 2]
