"""Words of precision, recompute and offload columns."""

import numpy as np
import pandas as pd
import pytest

from analysis.layout import words
from analysis.layout.checkpointing import Recompute, recompute_words
from analysis.layout.words import Stated, Words, dtype_code


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("bf16", words.BF16), ("BF16", words.BF16), ("bf16-true", words.BF16), ("amp_bf16", words.BF16),
        ("fp16/bf16 mixed", words.BF16), ("bf16 pure (weights, grads, Adam states bf16)", words.BF16),
        ("bf16 (BF16 optimizer, fp32 grad accumulation)", words.BF16), ("fp16", words.FP16), ("16", words.FP16),
        ("FP8", words.FP8), ("FP8-CS", words.FP8), ("fp8 (tensorwise linear)", words.FP8),
        ("FP8-MX", words.MXFP8), ("MXFP8", words.MXFP8), ("NVFP4", words.NVFP4), ("fp32", words.FP32),
        ("tf32", words.FP32), ("32-true", words.FP32), ("amp_fp8", words.FP8), ("sixteen", words.UNKNOWN),
    ],
)  # fmt: skip
def test_precision_texts_name_their_arithmetic(text: str, code: float) -> None:
    assert dtype_code(text) == code


def words(precision: str, optimizer: str = "", offload: str = "", name: str = "", adapter: str = "") -> Words:
    """Codes of one row."""
    return Words.read(*(pd.Series([text]) for text in (precision, optimizer, offload, name, adapter)))


@pytest.mark.parametrize(
    ("name", "adapter"), [("Llama 3.2 3B QLoRA", 2), ("phi-1.5 LoRA r=8", 1), ("Explorational 7B", 0)]
)
def test_names_tell_adapters(name: str, adapter: float) -> None:
    assert float(words("bf16", name=name).adapter[0]) == adapter


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("bf16 pure (weights, grads, Adam states bf16)", "pure_16bit"),
        ("bf16-true", "pure_16bit"),
        ("bf16 (BF16 optimizer, fp32 grad accumulation)", "deepspeed_bf16"),
        ("bf16 compute; nf4 base weights", "adapter"),
        ("bf16 with LoRA", "adapter"),
        ("bf16, optimizer step in backward", "no_gradients"),
    ],
)
def test_precision_texts_name_their_storage(text: str, field: str) -> None:
    flags = {
        name: float(value[0]) for name, value in vars(words(text)).items() if name not in ("dtype", "moment_bytes")
    }
    assert {name for name, value in flags.items() if value > 0} == {field}


@pytest.mark.parametrize(
    ("optimizer", "width"),
    [
        ("8-bit Adam", 2),
        ("AdamW8bit", 2),
        ("SGD", 0),
        ("Adafactor", 0),
        ("LOMO", 0),
        ("Lion", 4),
        ("Muon", 4),
        ("GaLore", 2),
        ("AdamW", np.nan),
    ],
)
def test_optimizers_keep_their_moments(optimizer: str, width: float) -> None:
    assert float(words("bf16", optimizer).moment_bytes[0]) == pytest.approx(width, nan_ok=True)


def test_the_optimizer_column_outranks_the_precision_text() -> None:
    assert float(words("bf16 8-bit Adam", "SGD").moment_bytes[0]) == 0
    assert float(words("bf16 8-bit Adam").moment_bytes[0]) == 2
    assert float(words("bf16", name="Llama 7B SGD").moment_bytes[0]) == 0


def test_lomo_keeps_neither_gradients_nor_master_weights() -> None:
    for said in (words("bf16", "LOMO"), words("bf16 lomo"), words("bf16", name="LLaMA-7B LOMO")):
        assert (said.no_gradients[0], said.no_master[0], said.moment_bytes[0]) == (1, 1, 0)


@pytest.mark.parametrize(
    ("text", "optimizer", "weights"),
    [("optimizer", 1, 0), ("parameters+optimizer", 1, 1), ("cpu", 1, 0), ("weights", 0, 1), ("", 0, 0), ("all", 1, 1)],
)
def test_offload_texts_name_what_leaves(text: str, optimizer: float, weights: float) -> None:
    said = words("bf16", offload=text)
    assert (float(said.offloaded_optimizer[0]), float(said.offloaded_weights[0])) == (optimizer, weights)


def test_an_offload_nobody_knows_is_marked() -> None:
    assert float(words("bf16", offload="to the moon").offload_understood[0]) == 0


@pytest.mark.parametrize(
    ("text", "shares"),
    [
        ("none", set()),
        ("full", {"layer"}),
        ("full+offload", {"layer", "offloaded"}),
        ("selective", {"core", "plain_selective"}),
        ("selective (core_attn)", {"core"}),
        ("Selective (mla_up_proj, mlp)", {"qkv", "mlp"}),
        ("selective (moe,layernorm)", {"experts", "norm"}),
        ("selective (moe_act)", {"expert_activation"}),
        ("selective (shared_experts)", {"shared_expert"}),
        ("selective (op)", {"operator"}),
        ("selective (sac)", {"operator"}),
        ("selective (attn + mlp_rms)", {"core", "qkv", "norm"}),
        ("selective (mla_rms,ffn)", {"norm", "mlp"}),
        ("activation checkpointing", {"layer"}),
    ],
)
def test_recompute_texts_name_what_is_dropped(text: str, shares: set[str]) -> None:
    said = recompute_words(text)
    assert {name for name, value in said.items() if value and name not in ("understood", "every")} == shares
    assert said["understood"] == 1


def test_partial_and_grouped_recompute() -> None:
    assert recompute_words("full (4 layers)")["layer_count"] == 4
    assert recompute_words("full (block, 4 layers)")["layer_count"] == 4
    assert recompute_words("full (every 2 layers)")["every"] == 2
    assert recompute_words("full (uniform, 2 layers)")["every"] == 2
    assert recompute_words("selective (every 2nd layer)")["layer"] == 0.5
    assert recompute_words("full")["every"] == 1


@pytest.mark.parametrize("text", ["mixed: see flag", "selective (magic)", "selective ()", "yes please"])
def test_other_recompute_texts_are_not_understood(text: str) -> None:
    assert recompute_words(text)["understood"] == 0


def test_a_blank_recompute_says_nothing() -> None:
    said = Recompute.read(pd.Series(["", "full", None]))
    assert np.isnan(said.layer[[0, 2]]).all()
    assert float(said.layer[1]) == 1


def test_stated_widths_are_read() -> None:
    row = Stated.read(*(pd.Series([text]) for text in ("bf16", "fp8", "chunked", "nvidia-smi")))
    assert [float(getattr(row, n)[0]) for n in ("gradient", "moment", "loss", "kind")] == [2, 1, 0, 2]


def test_unknown_widths_say_nothing() -> None:
    row = Stated.read(*(pd.Series([text]) for text in ("int3", "", "magic", "guess")))
    assert all(np.isnan(getattr(row, n)[0]) for n in ("gradient", "moment", "loss", "kind"))


@pytest.mark.parametrize(
    ("text", "dropped"),
    [
        # MaxText, docs on remat policies: `full` keeps layer inputs; custom keeps what it lists
        ("maxtext remat_policy=full", {"layer"}),
        ("maxtext remat_policy=custom (decoder_layer_input=offload)", {"layer", "offloaded"}),
        ("remat_policy=save_qkv_proj", {"norm", "core", "mlp", "experts", "shared_expert", "expert_activation"}),
        ("remat_policy=minimal", {"norm"}),
        ("maxtext remat_policy=custom (decoder_layer_input=offload, query_proj=offload, out_proj=offload)",
         {"norm", "core", "mlp", "experts", "shared_expert", "expert_activation", "offloaded"}),
        ("selective op", {"operator"}),
    ],
)  # fmt: skip
def test_policies_of_frameworks_say_what_is_dropped(text: str, dropped: set[str]) -> None:
    found = recompute_words(text)
    assert found["understood"] == 1.0
    assert {name for name, share in found.items() if share} - {"understood", "every"} == dropped


def test_a_policy_that_is_not_known_is_not_understood() -> None:
    assert recompute_words("maxtext remat_policy=quantum")["understood"] == 0.0


def test_torchtitan_recomputes_every_second_layer() -> None:
    # torchtitan, --activation_checkpoint.selective_ac_option 2
    assert recompute_words("selective layer")["layer"] == 0.5
