"""NeMo-RL: the back end that is enabled has the layout; files beneath `defaults` fill in."""

BASE = """\
    policy:
      train_global_batch_size: 64
      train_micro_batch_size: 2
      max_total_sequence_length: 1024
      dtensor_cfg: {enabled: true, tensor_parallel_size: 1, context_parallel_size: 1, activation_checkpointing: false}
      megatron_cfg:
        {enabled: false, tensor_model_parallel_size: 2, pipeline_model_parallel_size: 2, context_parallel_size: 1}
    cluster: {gpus_per_node: 8, num_nodes: 1}
    """
TOP = """\
    defaults: base.yaml
    policy:
      dtensor_cfg: {enabled: false}
      megatron_cfg: {enabled: true, pipeline_model_parallel_size: 4}
    cluster: {num_nodes: 4}
    """


def test_the_enabled_back_end_counts(facts):
    found = facts("a.yaml", BASE)
    assert [found[n] for n in ("tp", "pp", "zero_stage", "dp")] == [1, 1, 3, 8]


def test_a_file_lies_over_what_it_names(facts):
    found = facts("top.yaml", TOP, ("base.yaml", BASE))
    assert [found[n] for n in ("tp", "pp", "accelerators", "dp", "seq_len")] == [2, 4, 32, 32 // 8, 1024]
