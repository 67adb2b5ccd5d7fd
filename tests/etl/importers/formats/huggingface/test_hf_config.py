"""Hugging Face config.json: architecture only, and totals that agree with published checkpoints."""

import json

import pytest

from analysis.physics.parameters import count
from etl.importers.formats_list import read_documents
from etl.importers.read.documents import Document

LLAMA_3_8B = {
    "model_type": "llama", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 128256, "tie_word_embeddings": False,
    "max_position_embeddings": 8192, "torch_dtype": "bfloat16", "pretraining_tp": 1,
}  # fmt: skip
MIXTRAL = {
    "model_type": "mixtral", "hidden_size": 4096, "intermediate_size": 14336, "num_hidden_layers": 32,
    "num_attention_heads": 32, "num_key_value_heads": 8, "vocab_size": 32000, "num_local_experts": 8,
    "num_experts_per_tok": 2,
}  # fmt: skip
DEEPSEEK_V3 = {
    "model_type": "deepseek_v3", "hidden_size": 7168, "intermediate_size": 18432, "moe_intermediate_size": 2048,
    "num_hidden_layers": 61, "num_attention_heads": 128, "num_key_value_heads": 128, "vocab_size": 129280,
    "n_routed_experts": 256, "num_experts_per_tok": 8, "n_shared_experts": 1, "first_k_dense_replace": 3,
    "q_lora_rank": 1536, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128,
    "num_nextn_predict_layers": 1, "tie_word_embeddings": False, "ep_size": 1, "topk_method": "noaux_tc",
}  # fmt: skip
GPT2 = {
    "model_type": "gpt2",
    "n_embd": 768,
    "n_head": 12,
    "n_layer": 12,
    "n_inner": None,
    "n_positions": 1024,
    "vocab_size": 50257,
}
FALCON_40B = {
    "model_type": "falcon", "hidden_size": 8192, "num_attention_heads": 128, "num_hidden_layers": 60, "num_kv_heads": 8,
    "multi_query": True, "new_decoder_architecture": True, "parallel_attn": True, "bias": False, "vocab_size": 65024,
}  # fmt: skip
# Published totals: Llama 3 8B, Mixtral 8x7B, GPT-2 small, Falcon 40B (their checkpoints); DeepSeek-V3 without its MTP
# module but with 58 * 256 router biases (arXiv:2412.19437 prints 671B).
TOTALS = [
    (LLAMA_3_8B, 8_030_261_248), (MIXTRAL, 46_702_792_704), (DEEPSEEK_V3, 671_026_419_200), (GPT2, 124_439_808),
    (FALCON_40B, 41_303_293_952),
]  # fmt: skip


def read(config):
    return read_documents(Document("config.json", json.dumps(config, indent=1)), [], count)


def values(config):
    return {name: fact.value for name, fact in read(config).facts.items()}


@pytest.mark.parametrize(("config", "total"), TOTALS, ids=[c["model_type"] for c, _ in TOTALS])
def test_the_total_is_that_of_the_published_checkpoint(config, total):
    assert values(config)["params_total"] == total


def test_active_parameters_leave_out_the_experts_a_token_does_not_use():
    idle = 32 * (8 - 2) * 3 * 4096 * 14336  # layers, idle experts, three matrices
    assert values(MIXTRAL)["params_active"] == 46_702_792_704 - idle == 12_879_925_248


def test_a_config_states_no_fact_of_a_run():
    run = {"seq_len", "tp", "pp", "dp", "ep", "precision", "tokens", "train_steps", "global_batch", "zero_stage"}
    assert not run & (values(LLAMA_3_8B) | values(DEEPSEEK_V3)).keys()


def test_the_one_width_of_mixtral_is_the_expert_width():
    found = values(MIXTRAL)
    assert found["moe_ffn_hidden"] == 14336
    assert "ffn_hidden" not in found


def test_latent_attention_has_no_head_size():
    assert not {"head_dim", "kv_heads"} & values(DEEPSEEK_V3).keys()


def test_dense_width_stands_where_first_layers_are_dense():
    found = values(DEEPSEEK_V3)
    assert (found["ffn_hidden"], found["moe_ffn_hidden"], found["shared_experts"]) == (18432, 2048, 1)


def test_defaults_say_so_and_stated_facts_have_key_and_line():
    reading = read(LLAMA_3_8B)
    assert (reading.facts["head_dim"].value, reading.facts["head_dim"].origin) == (128, "default")
    assert (reading.facts["layers"].key, reading.facts["layers"].line) == ("num_hidden_layers", 5)


def test_gpt2_ties_its_embeddings_and_is_four_times_as_wide():
    found = values(GPT2)
    assert (found["tied_embeddings"], found["ffn_hidden"], found["kv_heads"]) == (True, 3072, 12)


def test_the_newer_falcon_decoder_overrides_multi_query():
    assert values(FALCON_40B)["kv_heads"] == 8
    assert values({**FALCON_40B, "new_decoder_architecture": False})["kv_heads"] == 1


def test_older_falcon_files_use_other_words():
    old = {"model_type": "RefinedWeb", "hidden_size": 8192, "n_layer": 60, "n_head": 128, "n_head_kv": 8, "bias": False}
    old |= {"vocab_size": 65024, "parallel_attn": True}
    assert values(old)["params_total"] == 41_303_293_952


def test_the_text_model_is_read_and_the_vision_tower_is_not():
    nested = {
        "model_type": "llava",
        "text_config": LLAMA_3_8B,
        "vision_config": {"hidden_size": 640, "num_hidden_layers": 9},
    }
    assert values(nested)["layers"] == 32


def test_tying_that_differs_between_text_model_and_whole_is_a_conflict():
    reading = read({"tie_word_embeddings": True, "text_config": LLAMA_3_8B})
    assert "tied_embeddings" not in reading.facts
    assert reading.warnings[0].startswith("conflicting-keys")


def test_a_hybrid_counts_sub_blocks_and_a_width_only_where_its_letter_stands():
    pattern = {"model_type": "nemotron_h", "hidden_size": 64, "hybrid_override_pattern": "M*ME",
               "intermediate_size": 128, "num_attention_heads": 4, "num_key_value_heads": 2, "vocab_size": 100,
              "n_routed_experts": 4,
               "num_experts_per_tok": 2, "moe_intermediate_size": 32}  # fmt: skip
    found = values(pattern)
    assert (found["layers"], found["moe_ffn_hidden"], found.get("ffn_hidden")) == (4, 32, None)


def test_every_second_layer_of_llama_4_is_dense_with_its_own_width():
    config = {"model_type": "llama4_text", "hidden_size": 5120, "intermediate_size": 8192,
              "intermediate_size_mlp": 16384, "interleave_moe_layer_step": 2, "num_hidden_layers": 48,
              "num_attention_heads": 40,
              "num_key_value_heads": 8, "head_dim": 128, "num_local_experts": 128, "num_experts_per_tok": 1,
              "vocab_size": 202048}  # fmt: skip
    found = values(config)
    assert (found["ffn_hidden"], found["moe_ffn_hidden"], found["shared_experts"]) == (16384, 8192, 1)
    assert found["params_total"] == 400_711_848_960  # Llama 4 Maverick's text model; its card says 400B


def test_an_unknown_family_is_read_but_not_counted():
    found = values({**LLAMA_3_8B, "model_type": "brand_new"})
    assert found["layers"] == 32
    assert "params_total" not in found


def test_generation_settings_are_no_architecture():
    assert "experts_per_token" not in values({**LLAMA_3_8B, "top_k": 50, "num_beams": 1, "max_length": 20})


def test_blocks_found_by_search_add_up_by_hand():
    block = {"attention": {"n_heads_in_group": 2, "no_op": False}, "ffn": {"ffn_mult": 3.0, "no_op": False}}
    silent = {"attention": {"no_op": True}, "ffn": {"ffn_mult": 1.5, "no_op": False}}
    config = {"model_type": "nemotron-nas", "hidden_size": 512, "num_attention_heads": 8, "num_hidden_layers": 2,
              "vocab_size": 1000, "tie_word_embeddings": False, "block_configs": [block, silent]}  # fmt: skip
    attention = 2 * 512 * 512 + 2 * 512 * 64 * 4  # four groups of 64
    by_hand = 2 * 1000 * 512 + 512 + (attention + 512) + (3 * 512 * 1024 + 512) + (3 * 512 * 512 + 512)
    assert values(config)["params_total"] == by_hand
