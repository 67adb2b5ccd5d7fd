"""A recipe is known by its parameters, whatever it imports; defaults of its signature are its settings."""


def test_a_recipe_of_a_house_of_its_own(facts):
    found = facts(
        "recipe.py",
        """\
        from house import base

        def pretrain_recipe(tensor_parallelism: int = 4, pipeline_parallelism=2, num_nodes=3, num_gpus_per_node=8):
            cfg = base()
            cfg.ddp.use_distributed_optimizer = True
            return cfg
        """,
    )
    assert [found[n] for n in ("tp", "pp", "accelerators", "dp", "zero_stage")] == [4, 2, 24, 24 // 8, 1]
