"""Levanter: an include that is never followed, a precision policy, sharding by axes."""

COUNT = ",\n      num_kv_heads: 2"
RUN = """
    data: !include data/some_source.yaml
    model: {type: llama, seq_len: 512, hidden_dim: 256, intermediate_dim: 700, num_layers: 4, num_heads: 8,
      num_kv_heads: 2}
    trainer:
      mp: p=f32,c=bfloat16
      train_batch_size: 64
      num_train_steps: 100
      fsdp_axis: embed
      model_axis_size: 2
    optimizer: {learning_rate: 4e-4}
    """


def test_the_precision_is_that_of_the_computation(facts):
    assert facts("a.yaml", RUN)["precision"] == "bf16"
    assert facts("a.yaml", RUN.replace("c=bfloat16", "c=f32"))["precision"] == "fp32"


def test_the_batch_counts_sequences(facts):
    found = facts("a.yaml", RUN)
    assert (found["global_batch_tokens"], found["tokens"]) == (64 * 512, 64 * 512 * 100)


def test_an_fsdp_axis_or_parameters_over_data_is_full_sharding(facts):
    assert facts("a.yaml", RUN)["zero_stage"] == 3
    laid = RUN.replace("fsdp_axis: embed", "parameter_axis_resources: {embed: data}")
    assert facts("a.yaml", laid)["zero_stage"] == 3
    assert "zero_stage" not in facts("a.yaml", RUN.replace("fsdp_axis: embed", "max_eval_batches: 1"))


def test_a_gpt2_block_is_four_times_as_wide(reading):
    text = RUN.replace("type: llama", "type: gpt2").replace("intermediate_dim: 700, ", "").replace(COUNT, "")
    found = reading("a.yaml", text).facts
    assert (found["ffn_hidden"].value, found["ffn_hidden"].origin, found["kv_heads"].value) == (1024, "default", 8)


def test_groups_of_a_llama_block_are_not_guessed(facts):
    assert "kv_heads" not in facts("a.yaml", RUN.replace(COUNT, ""))


def test_a_hub_configuration_replaces_the_model_block(facts):
    assert "layers" not in facts("a.yaml", RUN + "use_hf_model_config: true\n")


def test_vocabulary_and_devices_are_not_in_the_file(facts):
    assert not {"vocab", "dp", "accelerators"} & set(facts("a.yaml", RUN))
