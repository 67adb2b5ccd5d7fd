"""Defaults belong to a framework that is established: Megatron, ms-swift, slime; a trainer of one's own has none."""

import pytest

from etl.importers.problems import ImporterError

RUN = ("tp", "pp", "cp", "zero_stage", "recompute")


def test_a_launcher_of_another_trainer_tells_its_devices_only(reading):
    found = reading(
        "run.slurm",
        """\
        #!/bin/bash
        #SBATCH --nodes=5
        #SBATCH --gres=gpu:4
        srun torchrun --nnodes=5 --nproc_per_node=4 my_train.py --shard full
        """,
    )
    assert ({n: f.value for n, f in found.facts.items()}, found.format) == ({"accelerators": 5 * 4}, "launch_script")


def test_a_file_of_model_flags_says_nothing_of_the_run(facts):
    found = facts("model.sh", "ARGS=(\n --num-layers 10 --hidden-size 640 --num-attention-heads 10 --swiglu\n)\n")
    assert found["layers"] == 10
    assert not set(RUN) & found.keys()


def test_ms_swift_shards_the_optimizer_and_recomputes_selectively(reading):
    found = reading(
        "sft.sh",
        """\
        NPROC_PER_NODE=4 \\
        megatron sft --model Some/Base --tensor_model_parallel_size 2 --max_length 4096 --micro_batch_size 1
        """,
    )
    assert {n: found.facts[n].value for n in ("tp", "pp", "zero_stage", "recompute", "seq_len", "global_batch")} == {
        "tp": 2, "pp": 1, "zero_stage": 1, "recompute": "selective", "seq_len": 4096, "global_batch": 16,
    }  # fmt: skip
    assert (found.get("accelerators"), found.facts["zero_stage"].origin, found.format) == (4, "default", "ms_swift_sh")


def test_slime_counts_the_devices_of_the_actor(reading):
    found = reading(
        "rl.sh",
        """\
        ray job submit -- python3 train.py --actor-num-nodes 3 --actor-num-gpus-per-node 8 --num-layers 6 \\
          --hidden-size 512 --num-attention-heads 8 --tensor-model-parallel-size 2 --hf-checkpoint x
        """,
    )
    assert (found.get("accelerators"), found.get("dp"), found.get("zero_stage")) == (24, 24 // 2, 1)


def test_one_node_is_taken_where_the_launcher_names_processes_only(reading):
    command = "torchrun --nproc_per_node 8 pretrain_gpt.py --num-layers 4 --hidden-size 64 --num-attention-heads 4"
    found = reading("run.sh", command)
    assert (found.get("accelerators"), found.facts["accelerators"].origin) == (8, "default")
    assert "accelerators" not in reading("run.sh", command.replace("torchrun", "torchrun --nnodes=$N")).facts


def test_an_evaluation_has_no_defaults_of_training(reading):
    flags = "--num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 2 --seq-length 8"
    found = reading("eval.sh", f"torchrun --nproc_per_node 2 --nnodes 1 tools/run_text_generation_server.py {flags}")
    assert not set(RUN) & found.facts.keys()
    assert "global_batch" not in found.facts


def test_batch_and_steps_alone_are_not_megatron(reading):
    found = reading(
        "run.sh", "torchrun --nproc_per_node 8 recipe.py --micro-batch-size 1 --global-batch-size 8 --train-iters 5\n"
    )
    assert not set(RUN) & found.facts.keys()


def test_commands_in_a_file_of_data_are_no_script(reading):
    with pytest.raises(ImporterError, match="no known format"):
        reading("card.yaml", "commands: |\n  torchrun pretrain_gpt.py --num-layers 4 --hidden-size 8 --seq-length 2\n")


def test_deepspeed_multiplies_nodes_and_devices(facts):
    command = "deepspeed --num_nodes 3 --num_gpus 4 pretrain_gpt.py --num-layers 4 --hidden-size 64 --seq-length 8"
    assert facts("run.sh", command)["accelerators"] == 3 * 4


def test_layers_that_virtual_stages_do_not_divide_are_a_warning(reading):
    found = reading(
        "run.sh",
        """\
        torchrun pretrain_gpt.py --num-layers 10 --hidden-size 64 --num-attention-heads 4 \\
          --pipeline-model-parallel-size 4 --num-layers-per-virtual-pipeline-stage 2
        """,
    )
    assert "vpp" not in found.facts
    assert found.warnings[0].startswith("vpp-does-not-fit")


def test_a_submitted_script_is_followed_with_its_arguments(facts):
    job = "torchrun --nproc_per_node=2 --nnodes=$1 pretrain_gpt.py --num-layers 4 --hidden-size 64 --seq-length 8"
    assert facts("submit.sh", "JOB=$(sbatch job.sh 6)\n", ("job.sh", job))["accelerators"] == 12


def test_windows_and_prediction_modules_are_facts(facts):
    flags = '--window-size "(127,0)" --window-attn-skip-freq 4 --mtp-num-layers 1'
    command = f"torchrun pretrain_gpt.py --num-layers 8 --hidden-size 64 --num-attention-heads 4 {flags}"
    found = facts("run.sh", command)
    # every fourth of 8 layers attends globally
    assert (found["sliding_window"], found["sliding_window_layers"], found["mtp_layers"]) == (127, 6, 1)
