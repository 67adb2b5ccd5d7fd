"""Primus: overrides on a model file, variables with a default after one colon."""

RUN = """
    work_group: ${TEAM:amd}
    modules:
      pre_trainer:
        framework: megatron
        model: small.yaml
        overrides:
          train_iters: 10
          micro_batch_size: 2
          global_batch_size: ${BATCH:64}
          seq_length: 128
          tensor_model_parallel_size: ${PRIMUS_TP:4}
          pipeline_model_parallel_size: 2
          use_distributed_optimizer: true
          recompute_granularity: full
    """


def test_one_colon_is_a_default(facts):
    found = facts("a.yaml", RUN)
    assert (found["tp"], found["global_batch"], found["tokens"]) == (4, 64, 10 * 64 * 128)


def test_a_model_that_is_not_given_is_not_known(facts):
    assert not {"layers", "hidden", "tied_embeddings", "dp"} & set(facts("a.yaml", RUN))


def test_a_model_file_beside_it_is_read_and_overridden(facts):
    model = "num_layers: 8\nhidden_size: 64\nffn_hidden_size: 256\nnum_attention_heads: 4\nseq_length: 9999\n"
    found = facts("a.yaml", RUN, ("small.yaml", model))
    assert (found["layers"], found["ffn_hidden"], found["seq_len"], found["kv_heads"]) == (8, 256, 128, 4)


def test_other_frameworks_keep_their_own_names(facts):
    text = """
    modules:
      pre_trainer:
        framework: torchtitan
        overrides: {training: {local_batch_size: 2, seq_len: 64, steps: 5}, parallelism: {tensor_parallel_degree: 2}}
    """
    found = facts("a.yaml", text)
    assert (found["tp"], found["micro_batch"], found["train_steps"]) == (2, 2, 5)
    assert not {"precision", "recompute", "zero_stage"} & set(found), "the module and model files may set these"
