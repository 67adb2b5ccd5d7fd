"""FlagScale: Megatron's arguments as YAML, an FFN by multiplier, groups that need their switch."""

from etl.importers.formats.megatron.megatron_args import moe_layers

RUN = """
    system:
      tensor_model_parallel_size: 2
      pipeline_model_parallel_size: 2
      disable_bias_linear: True
      use_distributed_optimizer: True
      precision: {bf16: True}
    model:
      num_layers: 8
      hidden_size: 2048
      num_attention_heads: 16
      group_query_attention: True
      num_query_groups: 2
      seq_length: 128
      max_position_embeddings: 9000
      swiglu: true
      multiple_of: 256
      hidden_dim_multiplier: 2
      train_samples: 1000
      micro_batch_size: 2
      global_batch_size: 30
    data: {data_path: "${data_path:??}", tokenizer: {vocab_size: 777}}
    """


def test_the_ffn_is_two_thirds_of_4h_times_the_multiplier_rounded_up(facts):
    # int(8192 * 2 / 3) = 5461, times 2 = 10922, up to a multiple of 256: 11008
    assert facts("a.yaml", RUN)["ffn_hidden"] == 11008


def test_tokens_are_samples_times_length(facts):
    assert facts("a.yaml", RUN)["tokens"] == 1000 * 128


def test_the_vocabulary_stands_with_the_tokenizer(facts):
    assert facts("a.yaml", RUN)["vocab"] == 777


def test_groups_without_their_switch_are_doubtful_and_left_out(facts):
    assert facts("a.yaml", RUN)["kv_heads"] == 2
    assert "kv_heads" not in facts("a.yaml", RUN.replace("group_query_attention: True", "qk_layernorm: true"))


def test_the_model_file_does_not_know_the_devices(facts):
    assert not {"accelerators", "dp"} & set(facts("a.yaml", RUN))


def test_an_experiment_beside_it_does(facts):
    experiment = "experiment: {task: {type: train}, runner: {nnodes: 4, nproc_per_node: 8}}"
    found = facts("a.yaml", RUN, ("experiment.yaml", experiment))
    assert (found["accelerators"], found["dp"]) == (32, 8)


def test_the_dense_width_stays_only_where_a_layer_is_dense(facts):
    moe = "num_experts: 16\n      ffn_hidden_size: 8192\n      moe_ffn_hidden_size: 512\n      num_layers"
    assert "ffn_hidden" not in facts("a.yaml", RUN.replace("num_layers", moe))
    some = moe.replace("num_experts", 'moe_layer_freq: "[0]+[1]*7"\n      num_experts')
    assert facts("a.yaml", RUN.replace("num_layers", some))["ffn_hidden"] == 8192


def test_patterns_of_expert_layers_are_read_as_data(facts):
    assert sum(moe_layers("([0]*3+[1]*58)", 61) or []) == 58
    assert moe_layers("__import__('os')", 4) is None


def test_unequal_meshes_have_no_single_layout(facts):
    text = RUN.replace("system:", "system:\n      hetero: {enable_hetero: True}")
    assert not {"tp", "pp"} & set(facts("a.yaml", text))
