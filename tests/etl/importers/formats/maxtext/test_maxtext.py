"""MaxText: layers of YAML under a command line; open axes leave the device count open."""

import pytest

from etl.importers.formats.maxtext.maxtext_keys import chips

MODEL = """
    base_emb_dim: 1024
    base_num_query_heads: 8
    base_num_kv_heads: 4
    base_mlp_dim: 4_096
    base_num_decoder_layers: 13 # half of the real number
    head_dim: 128
    mlp_activations: ["gelu", "linear"]
    vocab_size: 32_000
    decoder_block: "llama2"
    logits_via_embedding: true
    num_hidden_layers_for_vit: 27
    hidden_size_for_vit: 777
    """
BASE = """
    base_output_directory: ""
    base_emb_dim: 2048
    base_num_decoder_layers: 16
    dtype: bfloat16
    quantization: ""
    max_target_length: 2048
    steps: 150_001
    per_device_batch_size: 12.0
    remat_policy: full
    dcn_data_parallelism: -1
    dcn_fsdp_parallelism: 1
    dcn_tensor_parallelism: 1
    dcn_pipeline_parallelism: 1
    dcn_context_parallelism: 1
    ici_data_parallelism: 1
    ici_fsdp_parallelism: -1
    ici_tensor_parallelism: 1
    ici_pipeline_parallelism: 1
    ici_context_parallelism: 1
    """
SCRIPT = """
    #!/bin/bash
    export STEPS=${STEPS:-30}
    # 4 nodes
    python3 -m maxtext.train "${DIR}"/base.yml model_name=small steps=$STEPS enable_checkpointing: False \\
      per_device_batch_size=0.5 max_target_length=1024 ici_fsdp_parallelism=4 ici_tensor_parallelism=2 run_name=$NAME
    """


def test_a_model_file_alone_has_no_facts_of_a_run(facts):
    assert not {"seq_len", "global_batch", "train_steps", "accelerators"} & set(facts("m.yml", MODEL))


def test_the_vision_tower_is_not_the_model(facts):
    found = facts("m.yml", MODEL)
    assert (found["layers"], found["hidden"], found["ffn_hidden"], found["tied_embeddings"]) == (13, 1024, 4096, True)


def test_a_gemma2_block_is_two_layers(reading):
    found = reading("m.yml", MODEL.replace("llama2", "gemma2"))
    assert found.get("layers") == 26
    assert any(w.startswith("comment-disagrees") for w in found.warnings)


def test_expert_models_without_dense_layers_have_no_dense_width(facts):
    moe = MODEL + "num_experts: 8\n    num_experts_per_tok: 2\n"
    found = facts("m.yml", moe)
    assert found["moe_ffn_hidden"] == 4096
    assert "ffn_hidden" not in found


def test_the_command_line_beats_the_model_and_the_model_beats_the_base(facts):
    found = facts("run.sh", SCRIPT, ("base.yml", BASE), ("small.yml", MODEL))
    assert (found["train_steps"], found["seq_len"], found["hidden"], found["precision"]) == (30, 1024, 1024, "bf16")


def test_the_micro_batch_is_that_of_one_data_parallel_rank(facts):
    # half a sequence a device, two devices a rank (tp 2)
    assert facts("run.sh", SCRIPT, ("base.yml", BASE))["micro_batch"] == 1


def test_an_open_axis_leaves_the_devices_to_the_comment(reading):
    found = reading("run.sh", SCRIPT, ("base.yml", BASE)).facts
    # 4 nodes of 4 * 2 devices; half a sequence on each
    assert (found["accelerators"].value, found["accelerators"].origin) == (32, "comment")
    assert (found["global_batch"].value, found["global_batch"].origin) == (16, "comment")


def test_a_named_model_that_is_not_given_hides_that_of_the_base(facts):
    assert not {"layers", "hidden", "vocab"} & set(facts("run.sh", SCRIPT, ("base.yml", BASE)))
    unnamed = SCRIPT.replace("model_name=small ", "")
    assert facts("run.sh", unnamed, ("base.yml", BASE))["layers"] == 16


def test_a_slice_named_in_a_comment_counts_its_chips(reading):
    text = SCRIPT.replace("# 4 nodes", "# Sized for 4M tokens on 2 x v5p-512.")
    fact = reading("run.sh", text, ("base.yml", BASE)).facts["accelerators"]
    # a v5p slice is named by its TensorCores, two a chip
    assert (fact.value, fact.origin) == (2 * 256, "comment")


def test_any_number_of_slices_is_no_number(facts):
    text = SCRIPT.replace("# 4 nodes", "# Works for any number of v5e-256 slices, as train_compile TOPOLOGY=v5e-256.")
    assert not {"accelerators", "dp", "global_batch"} & set(facts("run.sh", text, ("base.yml", BASE)))


def test_closed_axes_multiply_to_the_devices(reading):
    text = SCRIPT.replace("run_name", "dcn_data_parallelism=3 run_name")
    fact = reading("run.sh", text, ("base.yml", BASE)).facts["accelerators"]
    assert (fact.value, fact.origin) == (3 * 4 * 2, "stated")


def test_a_value_not_known_hides_the_layers_below(facts):
    text = SCRIPT.replace("steps=$STEPS", "steps=$(nproc)")
    assert "train_steps" not in facts("run.sh", text, ("base.yml", BASE))


def test_arguments_reach_the_script_that_is_called(facts):
    inner = "X=${1:-4}\npython3 -m maxtext.train base.yml steps=$X per_device_batch_size=1\n"
    found = facts("outer.sh", "#!/bin/bash\n# maxtext\nbash dir/inner.sh 7\n", ("inner.sh", inner))
    assert found["train_steps"] == 7


def test_a_command_that_changes_the_model_warns(reading):
    found = reading("run.sh", SCRIPT.replace("steps=", "head_dim=64 steps="), ("small.yml", MODEL))
    assert any(w.startswith("override-changes-model") for w in found.warnings)


@pytest.mark.parametrize(("name", "count"), [("v4-128", 64), ("v5p-1024", 512), ("v5e-256", 256), ("v6e-256", 256)])
def test_early_slices_are_named_by_cores_and_later_ones_by_chips(name, count):
    # Google Cloud TPU documentation: a v4 or v5p chip has two TensorCores, and the slice name counts cores
    assert chips(name) == count
