"""verl: words of Hydra behind a trainer; the actor's layout is reported and named."""

SCRIPT = """\
    N=6
    python3 -m verl.trainer.main_ppo --config-name=ppo_megatron_trainer \\
      actor_rollout_ref.actor.megatron.tensor_model_parallel_size=2 \\
      +actor_rollout_ref.actor.megatron.override_transformer_config.recompute_granularity=full \\
      actor_rollout_ref.rollout.tensor_model_parallel_size=8 \\
      trainer.n_gpus_per_node=4 trainer.nnodes=$N
    """


def test_the_layout_is_that_of_the_actor(reading):
    found = reading("run.sh", SCRIPT)
    assert [found.get(n) for n in ("tp", "accelerators", "dp", "recompute")] == [2, 24, 24 // 2, "full"]
    assert found.warnings == ["several-roles: the layout is that of the actor in training; not reported: rollout tp 8"]


def test_fsdp_without_degrees_shards_fully(facts):
    text = SCRIPT.replace("--config-name=ppo_megatron_trainer", "").replace("megatron", "fsdp_config")
    assert [facts("run.sh", text)[n] for n in ("tp", "pp", "zero_stage")] == [1, 1, 3]


def test_a_yaml_without_words_is_read_alike(facts):
    found = facts(
        "a.yaml",
        """\
        actor_rollout_ref: {actor: {megatron: {tensor_model_parallel_size: 4, pipeline_model_parallel_size: 2}}}
        trainer: {nnodes: 2, n_gpus_per_node: 8}
        """,
    )
    assert (found["tp"], found["pp"], found["dp"]) == (4, 2, 16 // 8)
