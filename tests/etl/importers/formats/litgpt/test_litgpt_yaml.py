"""LitGPT: batches under `train`, devices per node."""


def test_devices_are_nodes_times_devices_of_a_node(facts):
    found = facts(
        "a.yaml",
        """\
        model_name: some-1b
        out_dir: out
        precision: bf16-true
        train: {global_batch_size: 96, micro_batch_size: 2, max_tokens: 5000, max_seq_length: 128}
        devices: 4
        num_nodes: 3
        """,
    )
    assert [found[n] for n in ("accelerators", "dp", "global_batch_tokens", "tokens")] == [12, 12, 96 * 128, 5000]
