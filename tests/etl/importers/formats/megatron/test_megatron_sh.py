"""Megatron launch scripts: what the command would be started with, and what Megatron does without a flag."""

import pytest

SCRIPT = """\
    #!/bin/bash
    #SBATCH --nodes=6     # was 12
    #SBATCH --gpus-per-node=8
    VOCAB_SIZE=50257   # passed to nothing
    ARGS=(
        --num-layers 24
        --hidden-size 1024
        --num-attention-heads 16
        --seq-length 512
        --micro-batch-size 2
        --global-batch-size 96
        --train-iters 1000
        --tensor-model-parallel-size 2
        --pipeline-model-parallel-size 4
        # --recompute-activations
        --bf16
    )
    srun python pretrain_gpt.py ${ARGS[@]} $EXTRA
    """


def with_flags(flags: str) -> str:
    return SCRIPT.replace("--bf16", f"--bf16 {flags}")


def test_devices_are_nodes_times_devices_of_the_batch_header(facts):
    found = facts("run.sh", SCRIPT)
    assert (found["accelerators"], found["dp"]) == (6 * 8, 6 * 8 // (2 * 4))


def test_tokens_are_steps_times_batch_times_length(facts):
    assert facts("run.sh", SCRIPT)["tokens"] == 1000 * 96 * 512


def test_what_no_flag_says_is_what_megatron_does(reading):
    facts = reading("run.sh", SCRIPT).facts
    expected = {
        "ffn_hidden": 4096,
        "kv_heads": 16,
        "head_dim": 64,
        "tied_embeddings": True,
        "cp": 1,
        "recompute": "none",
        "zero_stage": 0,
    }
    assert {name: facts[name].value for name in expected} == expected
    assert {facts[name].origin for name in expected} == {"default"}


def test_a_variable_that_is_passed_to_nothing_is_no_fact(facts):
    assert "vocab" not in facts("run.sh", SCRIPT)


def test_gated_width_is_eight_thirds_down_to_a_multiple_of_64(facts):
    assert facts("run.sh", with_flags("--swiglu"))["ffn_hidden"] == int(8 * 1024 / 3 / 64) * 64 == 2688


def test_virtual_stages_are_layers_over_stages_and_layers_per_virtual_stage(facts):
    assert facts("run.sh", with_flags("--num-layers-per-virtual-pipeline-stage 2"))["vpp"] == 24 // 4 // 2


def test_embedding_and_loss_in_the_split_make_layers_plus_two_divisible(facts):
    ends = "--account-for-embedding-in-pipeline-split --account-for-loss-in-pipeline-split"
    flags = f"--num-layers-per-virtual-pipeline-stage 2 {ends}"
    assert facts("run.sh", with_flags(flags).replace("layers 24", "layers 22"))["vpp"] == (22 + 2) // 4 // 2


def test_query_groups_without_their_switch_are_doubtful(facts):
    assert "kv_heads" not in facts("run.sh", with_flags("--num-query-groups 4"))
    assert facts("run.sh", with_flags("--group-query-attention --num-query-groups 4"))["kv_heads"] == 4


@pytest.mark.parametrize(
    ("flags", "field", "value"),
    [
        ("--fp8-format hybrid", "precision", "fp8"),
        ("--use-distributed-optimizer", "zero_stage", 1),
        ("--recompute-activations", "recompute", "selective"),
        ("--recompute-granularity full", "recompute", "full"),
        ("--untie-embeddings-and-output-weights", "tied_embeddings", False),
        ("--noop-layers 22,23", "layers", 22),
        ("--vocab-size 32_000", "vocab", 32000),
        ("--kv-channels 128", "head_dim", 128),
    ],
)
def test_a_flag_states_its_field(facts, flags, field, value):
    assert facts("run.sh", with_flags(flags))[field] == value


def test_experts_take_the_ffn_width_when_they_have_none_of_their_own(facts):
    found = facts("run.sh", with_flags("--num-experts 8 --moe-router-topk 2 --ffn-hidden-size 3000"))
    assert (found["moe_ffn_hidden"], found["shared_experts"], found.get("ffn_hidden")) == (3000, 0, None)


def test_a_list_expression_says_which_layers_are_dense(facts):
    flags = '--num-experts 8 --moe-ffn-hidden-size 256 --ffn-hidden-size 3000 --moe-layer-freq "([0]*1+[1]*23)"'
    assert facts("run.sh", with_flags(flags))["ffn_hidden"] == 3000


def test_a_ramp_leaves_steps_times_batch_no_token_count(facts):
    assert "tokens" not in facts("run.sh", with_flags("--rampup-batch-size 16 16 1000"))


def test_samples_times_length_are_tokens_also_with_a_ramp(facts):
    text = with_flags("--rampup-batch-size 16 16 1000").replace("--train-iters 1000", "--train-samples 24_000_000")
    found = facts("run.sh", text)
    assert (found["tokens"], found.get("train_steps")) == (24_000_000 * 512, None)


def test_fewer_devices_than_the_layout_needs_is_a_warning_and_no_dp(reading):
    found = reading("run.sh", SCRIPT.replace("nodes=6", "nodes=1").replace("size 4", "size 8"))
    assert found.warnings[0].startswith("gpus-below-model-parallel")
    assert "dp" not in found.facts


def test_experts_that_do_not_fit_the_devices_are_a_warning(reading):
    flags = "--num-experts 7 --moe-router-topk 2 --expert-model-parallel-size 7 --expert-tensor-parallel-size 1"
    assert any(w.startswith("ep-does-not-fit") for w in reading("run.sh", with_flags(flags)).warnings)


def test_a_batch_that_ranks_cannot_share_is_a_warning(reading):
    warnings = reading("run.sh", SCRIPT.replace("global-batch-size 96", "global-batch-size 90")).warnings
    assert any(w.startswith("batch-does-not-fit") for w in warnings)  # 90 is no multiple of 2 * 6


def test_the_submit_script_beside_it_gives_the_nodes(facts):
    bare = SCRIPT.replace("#SBATCH --nodes=6     # was 12", "").replace("#SBATCH --gpus-per-node=8", "")
    submit = "#!/bin/bash\n#SBATCH --nodes=4\n#SBATCH --gres=gpu:4\nbash train.sh\n"
    assert "accelerators" not in facts("train.sh", bare)
    assert facts("train.sh", bare, ("sbatch.sh", submit))["accelerators"] == 16


def test_nodes_on_the_sbatch_call_beat_the_header(facts):
    assert facts("train.sh", SCRIPT, ("submit.sh", "N=3\nsbatch --nodes=$N train.sh\n"))["accelerators"] == 3 * 8


def test_a_sourced_file_gives_the_parameters(facts):
    text = "#!/bin/bash\nsource ./params.sh\ntorchrun --nnodes 2 --nproc_per_node 8 pretrain_gpt.py ${P[@]}\n"
    params = "P=(--num-layers 4 --hidden-size 64 --num-attention-heads 4 --micro-batch-size 1)"
    found = facts("train.sh", text, ("run_params.sh", params))
    assert (found["layers"], found["accelerators"]) == (4, 16)


def test_the_stage_may_stand_in_a_here_document(facts):
    text = with_flags("--deepspeed --deepspeed_config ds.json").replace(
        "srun", 'ZS=2\n    cat <<EOT > ds.json\n    {"zero_optimization": {"stage": $ZS}}\n    EOT\n    srun'
    )
    assert facts("run.sh", text.replace("    EOT", "EOT"))["zero_stage"] == 2


def test_a_file_of_parameters_only_is_read_from_its_arrays(facts):
    text = "ALL=()\nALL+=(\n --num-layers 8\n --hidden-size 64\n --micro-batch-size 1 --global-batch-size 4\n)\n"
    assert facts("params.sh", text)["layers"] == 8


def test_two_different_runs_in_one_script_report_the_first(reading):
    text = "\n".join(f"python pretrain_gpt.py --num-layers {n} --hidden-size 64 --micro-batch-size 1" for n in (4, 8))
    found = reading("both.sh", text)
    assert found.get("layers") == 4
    assert found.warnings[0].startswith("several-runs")


def test_flags_may_be_the_keys_of_a_yaml_file(facts):
    text = """
        MODEL_ARGS:
          --num-layers: 61
          --hidden-size: 512
          --num-attention-heads: 8
          --tensor-model-parallel-size: ${TP}
          --use-distributed-optimizer: true
          --swiglu: false
        """
    found = facts("model.yaml", text)
    assert (found["layers"], found["zero_stage"], found["ffn_hidden"]) == (61, 1, 4 * 512)
    assert "tp" not in found
    assert facts("model.yaml", text, ("run.sh", "TP=4\n"))["tp"] == 4
