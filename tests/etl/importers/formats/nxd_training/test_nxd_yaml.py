"""NxD Training's YAML has NeMo's names, but its layout stands in a group of its own."""


def test_the_layout_is_that_of_distributed_strategy(reading):
    found = reading(
        "run.yaml",
        """\
        trainer: {devices: 32, num_nodes: 2}
        distributed_strategy: {tensor_model_parallel_size: 8, pipeline_model_parallel_size: 2, zero1: true}
        data: {micro_batch_size: 1, global_batch_size: 64}
        model: {num_layers: 6, hidden_size: 512, num_attention_heads: 8, num_kv_heads: 2}
        """,
    )
    assert [found.get(n) for n in ("tp", "pp", "zero_stage", "accelerators", "dp")] == [8, 2, 1, 64, 64 // 16]
    assert (found.get("kv_heads"), found.format) == (2, "nxd_yaml")
