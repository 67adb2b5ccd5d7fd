"""GPT-NeoX: JSON-like YAML whose gated FFN stands as three times its width."""

RUN = """
    # Trained on 16 GPUs.
    {
      "pipe_parallel_size": 0, "model_parallel_size": 2,
      "num_layers": 8, "hidden_size": 512, "num_attention_heads": 8, "seq_length": 256, "pos_emb": "rotary",
      "no_weight_tying": True,
      "zero_optimization": {"stage": 1, "overlap_comm": True,},
      "train_micro_batch_size_per_gpu": 4,
      "gradient_accumulation_steps": 3, # 6 on 8 GPUs
      "checkpoint_activations": true,
      "fp16": {"enabled": true},
      "train_iters": 1000,
    }
    """


def test_no_pipeline_means_one_stage(facts):
    assert facts("a.yml", RUN)["pp"] == 1


def test_a_device_count_in_a_comment_is_the_weakest_source_and_so_is_what_follows(reading):
    found = reading("a.yml", RUN).facts
    values = {name: (found[name].value, found[name].origin) for name in ("accelerators", "dp", "global_batch")}
    assert values == {"accelerators": (16, "comment"), "dp": (8, "comment"), "global_batch": (4 * 3 * 8, "comment")}


def test_a_plain_ffn_is_four_times_the_hidden_width(facts):
    assert facts("a.yml", RUN)["ffn_hidden"] == 4 * 512


def test_a_gated_width_is_a_third_rounded_up(facts):
    gated = '"activation": "swiglu", "intermediate_size": 4096, "mlp_multiple_of": 256, "num_layers"'
    # int(4096 * 2 / 3) = 2730, halved 1365, up to a multiple of 256: 1536
    assert facts("a.yml", RUN.replace('"num_layers"', gated))["ffn_hidden"] == 1536


def test_a_gated_ffn_without_a_width_is_ambiguous_and_left_out(reading):
    found = reading("a.yml", RUN.replace('"num_layers"', '"activation": "swiglu", "num_layers"'))
    assert "ffn_hidden" not in found.facts
    assert any(w.startswith("ffn-ambiguous") for w in found.warnings)


def test_a_block_called_llama_keeps_a_stated_width_and_is_ambiguous_without(reading):
    block = RUN.replace('"num_layers"', '"mlp_type": "llama", "activation": "silu", "num_layers"')
    assert any(w.startswith("ffn-ambiguous") for w in reading("a.yml", block).warnings)
    stated = reading("a.yml", block.replace('"mlp_type"', '"intermediate_size": 1792, "mlp_type"'))
    assert (stated.get("ffn_hidden"), stated.warnings) == (1792, [])


def test_a_model_of_mamba_blocks_has_no_attention_heads(facts):
    text = RUN.replace('"num_layers"', '"attention_config": [[["mamba"], 8]], "num_layers"')
    assert not {"heads", "kv_heads", "head_dim", "ffn_hidden"} & set(facts("a.yml", text))


def test_untying_has_to_be_said(facts):
    assert facts("a.yml", RUN)["tied_embeddings"] is False
    assert facts("a.yml", RUN.replace('"no_weight_tying": True,', ""))["tied_embeddings"] is True
