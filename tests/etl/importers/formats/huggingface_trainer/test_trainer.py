"""The Hugging Face trainer's arguments in YAML, in scripts and in what a run leaves behind."""

FACTORY = """\
stage: sft
finetuning_type: full
template: qwen
cutoff_len: 2048
per_device_train_batch_size: 2
gradient_accumulation_steps: 4
bf16: true
"""


def test_llama_factory_checkpoints_unless_it_is_switched_off(reading):
    assert reading("a.yaml", FACTORY).facts["recompute"].origin == "default"
    off = reading("a.yaml", FACTORY + "disable_gradient_checkpointing: true\n")
    assert (off.get("recompute"), off.format) == ("none", "llamafactory_yaml")


def test_its_megatron_trainer_states_a_layout(facts):
    more = "tensor_model_parallel_size: 2\nuse_distributed_optimizer: true\nrecompute_granularity: full\n"
    found = facts("a.yaml", FACTORY + more)
    assert [found[n] for n in ("tp", "zero_stage", "recompute", "seq_len")] == [2, 1, "full", 2048]


def test_a_stage_in_a_file_name_is_a_comment(reading):
    found = reading("a.yaml", FACTORY + "deepspeed: examples/ds_z3_config.json\n")
    assert (found.get("zero_stage"), found.facts["zero_stage"].origin) == (3, "comment")


def test_processes_of_accelerate_are_the_devices(facts):
    found = facts(
        "run.sh",
        """\
        accelerate launch --num_processes 16 --num_machines 2 train.py --per_device_train_batch_size 1 \\
          --gradient_accumulation_steps 2 --max_seq_length 512 --bf16
        """,
    )
    assert [found[n] for n in ("accelerators", "dp", "global_batch", "precision")] == [16, 16, 32, "bf16"]


def test_a_job_submitter_in_front_multiplies_nodes_and_devices(facts):
    command = "python mason.py --num_nodes 2 --gpus 8 -- accelerate launch --num_processes 8 t.py"
    assert facts("run.sh", f"{command} --per_device_train_batch_size 1\n")["accelerators"] == 2 * 8


def test_the_state_of_a_run_has_steps_loss_and_mean_step_time(facts):
    found = facts(
        "trainer_state.json",
        """\
        {"max_steps": 50, "train_batch_size": 4, "log_history": [{"loss": 2.5, "step": 10}, {"loss": 2.25, "step": 20},
         {"train_runtime": 100.0, "train_steps_per_second": 0.5}]}
        """,
    )
    assert found == {"train_steps": 50, "micro_batch": 4, "loss": 2.25, "step_time_s": 1 / 0.5}
