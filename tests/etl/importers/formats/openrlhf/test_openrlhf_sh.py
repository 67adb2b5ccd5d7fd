"""OpenRLHF: flags with dashes or dots; devices of the actor."""

import pytest


@pytest.mark.parametrize(
    "flags",
    [
        "--actor_num_nodes 2 --actor_num_gpus_per_node 4 --train_batch_size 64 --zero_stage 3 --gradient_checkpointing",
        "--actor.num_nodes 2 --actor.num_gpus_per_node 4 --train.batch_size 64 --ds.zero_stage 3"
        " --actor.gradient_checkpointing_enable",
    ],
)
def test_both_spellings_of_the_flags(facts, flags):
    found = facts("run.sh", f"python3 -m openrlhf.cli.train_ppo_ray {flags}\n")
    assert [found[n] for n in ("accelerators", "dp", "global_batch", "zero_stage", "recompute")] == [
        8,
        8,
        64,
        3,
        "full",
    ]
