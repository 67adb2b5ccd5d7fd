"""Local attention, prediction modules and layers without a formula, as a what-if must know them."""

import pytest

from etl.importers import whatif

PLAIN = (
    '"num_hidden_layers": 9, "hidden_size": 64, "num_attention_heads": 4, "intermediate_size": 96, "vocab_size": 100'
)


def config(family: str, more: str) -> str:
    return f'{{"model_type": "{family}", {PLAIN}, {more}}}'


@pytest.mark.parametrize(
    ("family", "more", "layers"),
    [
        ("mistral", '"sliding_window": 4096', 9),  # every layer
        ("gemma2", '"sliding_window": 4096', 5),  # layers 0, 2, 4, 6, 8
        ("gemma3_text", '"sliding_window": 512', 8),  # every sixth is global
        ("gpt_oss", '"sliding_window": 128, "layer_types": ["sliding_attention", "full_attention"]', 1),
        ("qwen2", '"sliding_window": 4096, "use_sliding_window": true, "max_window_layers": 6', 3),
    ],
)
def test_the_layers_that_a_window_holds_for(facts, family, more, layers):
    assert facts("config.json", config(family, more))["sliding_window_layers"] == layers


@pytest.mark.parametrize("more", ['"sliding_window": null', '"sliding_window": 4096, "use_sliding_window": false'])
def test_a_window_that_is_off_is_no_fact(facts, more):
    assert "sliding_window" not in facts("config.json", config("qwen2", more))


def test_a_window_without_its_layers_is_a_warning(reading):
    found = reading("config.json", config("newcomer", '"sliding_window": 512'))
    assert "sliding_window" not in found.facts
    assert found.warnings[0].startswith("window-unclear")


def test_prediction_modules_reach_a_what_if_and_not_the_count(reading):
    found = reading("config.json", config("llama", '"num_nextn_predict_layers": 1'))
    assert whatif.model(found)["mtp_layers"] == 1


@pytest.mark.parametrize(
    ("more", "part"),
    [
        ('"layer_types": ["linear_attention", "full_attention"]', "linear attention"),
        ('"full_attention_interval": 4', "linear attention"),
        ('"mamba_d_state": 16', "Mamba"),
        ('"is_encoder_decoder": true', "encoder"),
    ],
)
def test_a_part_that_no_field_describes_is_named_to_a_what_if(reading, more, part):
    assert part in whatif.model(reading("config.json", config("newcomer", more)))["not_modelled"]


def test_a_dense_ffn_beside_experts_is_a_shared_expert_to_a_rank(reading):
    more = '"num_experts": 8, "top_k_experts": 2, "moe_intermediate_size": 32'
    found = reading("config.json", config("gemma4_text", more))
    assert (found.get("ffn_hidden"), found.get("moe_ffn_hidden"), found.get("shared_experts")) == (96, 32, None)
    assert whatif.model(found)["shared_ffn_hidden"] == 96


def test_nemotron_gives_the_width_of_one_shared_expert(facts):
    more = (
        '"hybrid_override_pattern": "MEM*", "n_routed_experts": 8, "n_shared_experts": 1,'
        '"moe_intermediate_size": 16, "moe_shared_expert_intermediate_size": 48, "num_experts_per_tok": 2'
    )
    assert facts("config.json", config("nemotron_h", more))["shared_experts"] == 1
