"""DeepSpeed, accelerate, axolotl and Paddle: settings beside a model, where "auto" is no value."""

DEEPSPEED = """{
  "zero_optimization": {"stage": 2, "reduce_bucket_size": 5e8},
  "bf16": {"enabled": "auto"}, "fp16": {"enabled": true, "loss_scale": 0},
  "train_batch_size": "auto", "train_micro_batch_size_per_gpu": 4, "wall_clock_breakdown": false}"""
ACCELERATE = """
    compute_environment: LOCAL_MACHINE
    distributed_type: FSDP
    downcast_bf16: 'no'
    fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}
    mixed_precision: bf16
    num_machines: 2
    num_processes: 16
    """
AXOLOTL = """
    base_model: some/model
    load_in_4bit: true
    datasets: [{path: some/data}]
    sequence_len: 512
    micro_batch_size: 1
    gradient_accumulation_steps: 2
    dp_shard_size: 4
    context_parallel_size: 2
    tensor_parallel_size: 2
    bf16: true
    fsdp_config: {reshard_after_forward: true}
    num_epochs: 2
    """
PADDLE = """{
  "model_name_or_path": "some/model", "per_device_train_batch_size": 2, "gradient_accumulation_steps": 3,
  "tensor_parallel_degree": 2, "pipeline_parallel_degree": 4, "virtual_pp_degree": 1, "sharding": "stage1",
  "sharding_parallel_degree": 8, "data_parallel_degree": 2, "max_seq_length": 128, "max_steps": 10, "bf16": true,
  "lr_scheduler": "wsd:120000", "recompute": false, "recompute_granularity": "full", "unified_checkpoint": true}"""


def test_auto_is_no_value_also_inside_a_switch(facts):
    assert facts("a.json", DEEPSPEED) == {"zero_stage": 2, "micro_batch": 4, "precision": "fp16"}


def test_processes_are_counted_over_all_machines(facts):
    found = facts("a.yaml", ACCELERATE)
    assert (found["accelerators"], found["zero_stage"], found["precision"]) == (16, 3, "bf16")


def test_initialising_for_stage_3_is_not_stage_3(facts):
    pointer = "fsdp_config: {}\n    deepspeed_config: {deepspeed_config_file: ds.json, zero3_init_flag: true}"
    text = ACCELERATE.replace("FSDP", "DEEPSPEED").replace("fsdp_config: {fsdp_sharding_strategy: FULL_SHARD}", pointer)
    assert "zero_stage" not in facts("a.yaml", text)
    assert facts("a.yaml", text, ("ds.json", DEEPSPEED))["zero_stage"] == 2


def test_axolotl_degrees_multiply_to_the_devices(facts):
    found = facts("a.yaml", AXOLOTL)
    assert (found["dp"], found["accelerators"], found["global_batch"]) == (4, 4 * 2 * 2, 1 * 2 * 4)


def test_how_frozen_weights_are_kept_is_not_the_precision(facts):
    found = facts("a.yaml", AXOLOTL)
    assert (found["precision"], found["zero_stage"]) == ("bf16", 3)
    assert "train_steps" not in found


def test_axolotl_without_a_shard_size_does_not_know_its_devices(facts):
    assert not {"dp", "accelerators", "global_batch"} & set(
        facts("a.yaml", AXOLOTL.replace("dp_shard_size: 4", "seed: 1"))
    )


def test_paddle_s_data_parallelism_is_two_degrees(facts):
    found = facts("a.json", PADDLE)
    assert (found["dp"], found["accelerators"], found["global_batch"]) == (16, 128, 2 * 3 * 16)


def test_paddle_s_switch_beats_its_granularity_and_one_chunk_is_no_interleaving(facts):
    found = facts("a.json", PADDLE)
    assert (found["recompute"], found["zero_stage"], found["train_steps"]) == ("none", 1, 10)
    assert "vpp" not in found
    assert facts("a.json", PADDLE.replace('"recompute": false', '"recompute": true'))["recompute"] == "full"
