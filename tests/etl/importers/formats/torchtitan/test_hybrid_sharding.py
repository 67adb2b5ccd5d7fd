"""Replicas of shards: dp is their product, and the shard stands beside it."""


def test_torchtitan(facts):
    found = facts(
        "a.toml",
        """\
        [training]
        seq_len = 64
        steps = 5
        [parallelism]
        data_parallel_replicate_degree = 4
        data_parallel_shard_degree = 8
        """,
    )
    assert (found["dp"], found["fsdp_shard"]) == (32, 8)


def test_one_replica_is_no_hybrid(facts):
    text = "[training]\nseq_len = 64\nsteps = 5\n[parallelism]\ndata_parallel_shard_degree = 8\n"
    assert "fsdp_shard" not in facts("a.toml", text)
