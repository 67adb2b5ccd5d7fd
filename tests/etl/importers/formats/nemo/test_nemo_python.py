"""NeMo 2 and Megatron-Bridge recipes: signatures, assignments to attributes, functions that call one another."""

NEMO = """
    import nemo_run as run

    def trainer(tensor_parallelism: int = 2, pipeline_parallelism: int = 3, num_nodes: int = 1, devices: int = 8):
        strategy = run.Config(Strategy, tensor_model_parallel_size=tensor_parallelism,
                              pipeline_model_parallel_size=pipeline_parallelism,
                              virtual_pipeline_model_parallel_size=None)
        return run.Config(Trainer, strategy=strategy, num_nodes=num_nodes, devices=devices, max_steps=2 * 50,
                          plugins=bf16_mixed())

    def pretrain_recipe(num_nodes: int = 30 * 16, performance_mode: bool = False):
        recipe = run.Partial(fn, trainer=trainer(num_nodes=num_nodes),
                             data=run.Config(Data, seq_length=1_024, global_batch_size=960, micro_batch_size=1))
        if performance_mode:
            recipe.trainer.strategy.tensor_model_parallel_size = 8
        return recipe
    """
BRIDGE = '''
    from megatron.bridge.recipes import base

    def small_pretrain_64gpu_config():
        """Small: 64x H100, BF16."""
        cfg = base()
        cfg.mixed_precision = _precision("bf16")
        cfg.model.tensor_model_parallel_size = 4
        cfg.model.tensor_model_parallel_size = 2
        cfg.model.pipeline_model_parallel_size = 4
        cfg.model.virtual_pipeline_model_parallel_size = None
        cfg.model.context_parallel_size = 1
        cfg.train.global_batch_size = 512
        return cfg

    def small_pretrain_8gpu_config():
        cfg = small_pretrain_64gpu_config()
        cfg.train.global_batch_size = 64
        return cfg
    '''


def test_defaults_of_signatures_and_arithmetic_are_followed_through_calls(facts):
    found = facts("a.py", NEMO)
    assert (found["tp"], found["pp"], found["accelerators"], found["train_steps"]) == (2, 3, 480 * 8, 100)


def test_a_branch_that_is_off_is_not_taken(facts):
    assert facts("a.py", NEMO)["tp"] == 2


def test_none_is_not_set(facts):
    assert "vpp" not in facts("a.py", NEMO)


def test_the_architecture_is_only_a_name(facts):
    assert not {"layers", "hidden", "heads", "vocab"} & set(facts("a.py", NEMO))


def test_the_last_assignment_wins_and_the_first_recipe_is_reported(reading):
    found = reading("a.py", BRIDGE)
    assert (found.get("tp"), found.get("global_batch"), found.get("precision")) == (2, 512, "bf16")
    assert any(w.startswith("several-runs") for w in found.warnings)


def test_devices_in_the_name_of_the_recipe_are_a_comment(reading):
    found = reading("a.py", BRIDGE).facts
    assert (found["accelerators"].value, found["accelerators"].origin) == (64, "comment")
    assert (found["dp"].value, found["dp"].origin) == (8, "comment")


def test_a_stated_fact_points_at_the_line_of_its_value(reading):
    fact = reading("a.py", BRIDGE).facts["tp"]
    assert (fact.key, fact.line) == ("model.tensor_model_parallel_size", 9)
