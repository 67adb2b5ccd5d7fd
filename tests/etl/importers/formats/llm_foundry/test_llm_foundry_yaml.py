"""llm-foundry: variables, durations in batches, a model written out or only named."""

RUN = """
    variables: {length: 512}
    max_seq_len: ${variables.length}
    model: {name: mpt_causal_lm, d_model: 256, n_heads: 4, n_layers: 3, expansion_ratio: 3, vocab_size: 1000,
      max_seq_len: "${variables.length}"}
    tokenizer: {name: some/tokenizer, kwargs: {model_max_length: "${variables.length}"}}
    train_loader: {name: text, dataset: {max_seq_len: "${variables.length}"}}
    # Note: this requires ~16x80GB GPUs
    max_duration: 50ba
    global_train_batch_size: 32
    device_train_microbatch_size: auto
    precision: amp_bf16
    fsdp_config: {sharding_strategy: SHARD_GRAD_OP, activation_checkpointing: false}
    """


def test_variables_are_resolved(facts):
    assert facts("a.yaml", RUN)["seq_len"] == 512


def test_the_ffn_is_the_ratio_times_the_width(facts):
    assert facts("a.yaml", RUN)["ffn_hidden"] == 3 * 256


def test_batches_are_steps_and_epochs_are_not(facts):
    found = facts("a.yaml", RUN)
    assert (found["train_steps"], found["tokens"]) == (50, 50 * 32 * 512)
    assert not {"train_steps", "tokens"} & set(facts("a.yaml", RUN.replace("50ba", "2ep")))


def test_auto_is_no_value(facts):
    assert "micro_batch" not in facts("a.yaml", RUN)


def test_tying_is_the_framework_s_rule_for_its_own_model_only(facts):
    assert facts("a.yaml", RUN)["tied_embeddings"] is True
    named = RUN.replace("name: mpt_causal_lm", "name: hf_causal_lm")
    assert not {"tied_embeddings", "layers", "hidden"} & set(facts("a.yaml", named))


def test_sharding_and_recomputation_stand_in_the_fsdp_block(facts):
    found = facts("a.yaml", RUN)
    assert (found["zero_stage"], found["recompute"]) == (2, "none")


def test_a_device_count_in_a_comment_is_a_comment(reading):
    fact = reading("a.yaml", RUN).facts["accelerators"]
    assert (fact.value, fact.origin) == (16, "comment")


def test_two_lengths_that_disagree_are_left_out(reading):
    found = reading("a.yaml", RUN.replace("max_seq_len: ${variables.length}", "max_seq_len: 700", 1))
    assert "seq_len" not in found.facts
    assert any(w.startswith("conflicting-keys") for w in found.warnings)
