"""NeMo: interpolation with relative keys, switches that are off, optimizers that shard."""

RUN = """
    trainer: {num_nodes: 4, devices: 8, precision: bf16, max_steps: 10}
    model:
      micro_batch_size: 2
      global_batch_size: 64
      tensor_model_parallel_size: 2
      pipeline_model_parallel_size: 4
      virtual_pipeline_model_parallel_size: null
      encoder_seq_length: 512
      max_position_embeddings: 9000
      num_layers: 8
      hidden_size: 256
      ffn_hidden_size: ${multiply:4, ${.hidden_size}}
      num_attention_heads: 4
      num_query_groups: null
      activations_checkpoint_granularity: null
      fsdp: False
      fsdp_sharding_strategy: full
      fp8: False
      fp8_hybrid: True
      optim: {name: mcore_distributed_optim}
      data: {seq_length: "${model.encoder_seq_length}"}
    """


def test_a_relative_reference_is_resolved(facts):
    assert facts("a.yaml", RUN)["ffn_hidden"] == 1024


def test_devices_are_nodes_times_devices_and_dp_what_is_left(facts):
    found = facts("a.yaml", RUN)
    assert (found["accelerators"], found["dp"]) == (32, 4)


def test_switches_that_are_off_say_nothing(facts):
    found = facts("a.yaml", RUN)
    assert (found["precision"], found["zero_stage"]) == ("bf16", 1)
    assert facts("a.yaml", RUN.replace("fp8: False", "fp8: True"))["precision"] == "fp8"
    assert facts("a.yaml", RUN.replace("fsdp: False", "fsdp: True"))["zero_stage"] == 3


def test_null_is_the_rule_and_not_a_value(reading):
    found = reading("a.yaml", RUN)
    assert "vpp" not in found.facts
    assert (found.get("recompute"), found.get("kv_heads"), found.facts["kv_heads"].origin) == ("none", 4, "default")


def test_two_lengths_that_disagree_are_left_out_with_what_follows(reading):
    found = reading("a.yaml", RUN.replace('seq_length: "${model.encoder_seq_length}"', "seq_length: 128"))
    assert not {"seq_len", "tokens", "global_batch_tokens"} & set(found.facts)
    assert any(w.startswith("conflicting-keys") for w in found.warnings)


def test_a_batch_below_one_micro_batch_a_rank_warns(reading):
    found = reading("a.yaml", RUN.replace("global_batch_size: 64", "global_batch_size: 4"))
    assert any(w.startswith("batch-does-not-fit") for w in found.warnings)


def test_experts_take_the_width_of_the_ffn(facts):
    found = facts("a.yaml", RUN.replace("num_layers: 8", "num_layers: 8\n      num_moe_experts: 8"))
    assert (found["moe_ffn_hidden"], found["experts"], found["shared_experts"]) == (1024, 8, 0)
    assert "ffn_hidden" not in found


def test_automodel_names_its_sizes_under_distributed(facts):
    text = """
    step_scheduler: {global_batch_size: 128, local_batch_size: 4, max_steps: 12}
    model: {_target_: nemo_automodel.X, config: {pretrained_model_name_or_path: some/model}}
    distributed: {strategy: fsdp2, tp_size: 1, pp_size: 4, cp_size: 1, ep_size: 16}
    dataset: {seq_len: 64}
    """
    found = facts("a.yaml", text)
    quantised = text.replace(
        "pretrained_model_name_or_path: some/model}", "name: x}, backend: {te_fp8: {recipe: mxfp8}}"
    )
    assert facts("a.yaml", quantised)["precision"] == "mxfp8"
    assert (found["pp"], found["ep"], found["tokens"]) == (4, 16, 12 * 128 * 64)
    assert not {"layers", "micro_batch", "dp"} & set(found)
