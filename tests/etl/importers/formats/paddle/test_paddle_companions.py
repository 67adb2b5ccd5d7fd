"""The model's config beside Paddle's training arguments."""


def test_the_model_beside_gives_the_architecture(facts):
    run = """\
        trainer_args:
          per_device_train_batch_size: 1
          gradient_accumulation_steps: 4
          tensor_parallel_degree: 2
          pipeline_parallel_degree: 2
          sharding: stage1
          sharding_parallel_degree: 4
          data_parallel_degree: 2
        """
    model = '{"num_hidden_layers": 10, "hidden_size": 64, "remove_tail_layer": 1}'
    found = facts("run.yaml", run, ("model_config.json", model))
    assert [found[n] for n in ("layers", "dp", "accelerators", "global_batch")] == [9, 8, 32, 32]
