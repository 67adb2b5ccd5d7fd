"""ColossalAI: a plugin that only shards fixes the degrees."""


def test_a_sharding_plugin_fixes_stage_and_degrees(facts):
    found = facts(
        "run.sh",
        """\
        colossalai run --nproc_per_node 4 train.py --plugin zero2 --batch_size 2 --max_len 64 --grad_checkpoint
        """,
    )
    assert [found[n] for n in ("zero_stage", "tp", "micro_batch", "seq_len", "recompute")] == [2, 1, 2, 64, "full"]


def test_the_hybrid_plugin_states_its_degrees(facts):
    found = facts("run.sh", "colossalai run --nproc_per_node 8 bench.py -p 3d --tp 4 --pp 2 --mbs 1 -b 8 -g\n")
    assert [found[n] for n in ("tp", "pp", "micro_batch")] == [4, 2, 1]
