"""MLPerf submissions: exported variables in the order they are sourced, the YAML they feed, and system descriptions."""

COMMON = "export USE_DIST_OPTIMIZER=True\nexport FP8=True\nexport MICRO_BATCH_SIZE=1\n"
FP4 = "export FP4=True\nexport FP8=False\n"
RUN = """\
    source $(dirname ${BASH_SOURCE[0]})/config_common.sh
    source $(dirname ${BASH_SOURCE[0]})/config_common_fp4.sh
    export MINIBS=6
    export TENSOR_MODEL_PARALLEL=2
    export PIPELINE_MODEL_PARALLEL=4
    export INTERLEAVED_PIPELINE=1
    export CONTEXT_PARALLEL=2
    export MAX_STEPS=600
    export DGXNNODES=16
    export DGXNGPU=4
    export DGXSYSTEM=$(basename $(readlink -f ${BASH_SOURCE[0]}))
    """
YAML = """\
    trainer: {devices: "${oc.decode:${oc.env:DGXNGPU,8}}", num_nodes: "${oc.decode:${oc.env:DGXNNODES,1}}"}
    model:
      encoder_seq_length: 8192
      tensor_model_parallel_size: ${oc.decode:${oc.env:TENSOR_MODEL_PARALLEL}}
      overwritten_attributes: {num_layers: "${oc.decode:${oc.env:OVERWRITTEN_NUM_LAYERS,126}}"}
      ranks: ${floor_div:${multiply:${trainer.devices},${trainer.num_nodes}},16}
      global_batch_size: ${multiply:${oc.decode:${oc.env:MINIBS}},${.ranks}}
    """
FILES = [("X_config_common.sh", COMMON), ("X_config_common_fp4.sh", FP4)]


def test_the_last_sourced_file_decides(facts):
    assert facts("config_16x4.sh", RUN, *FILES)["precision"] == "nvfp4"


def test_the_batch_of_a_rank_times_the_ranks_is_the_global_batch(facts):
    found = facts("config_16x4.sh", RUN, *FILES)
    assert (found["accelerators"], found["dp"], found["global_batch"]) == (64, 64 // 16, 6 * 4)


def test_a_cap_on_steps_is_no_plan_and_one_virtual_stage_is_none(facts):
    assert not {"tokens", "train_steps", "vpp"} & facts("config_16x4.sh", RUN, *FILES).keys()


def test_the_yaml_is_filled_from_the_variables_and_its_fallbacks_are_defaults(reading):
    found = reading("config_16x4.sh", RUN, *FILES, ("custom.yaml", YAML))
    assert (found.get("seq_len"), found.get("global_batch"), found.get("tp")) == (8192, 24, 2)
    assert (found.facts["layers"].value, found.facts["layers"].origin) == (126, "default")


def test_a_missing_device_count_stands_in_the_file_name_only(reading):
    text = RUN.replace("export DGXNGPU=4\n", "")
    found = reading("config_DGX_16x8x1xtp2.sh", text, *FILES).facts["accelerators"]
    assert (found.value, found.origin) == (128, "comment")
    assert "accelerators" not in reading("config_DGX_12x8x1xtp2.sh", text, *FILES).facts


def test_other_submitters_use_other_names(facts):
    names = ["NNODES=1", "GPUS_PER_NODE=8", "GBS=32", "MBS=2", "TP=1", "PP=1", "CP=1", "DGXSYSTEM=x"]
    text = "".join(f"export {name}\n" for name in names)
    found = facts("config_MI.sh", text)
    assert (found["dp"], found["global_batch"], found["micro_batch"]) == (8, 32, 2)


def test_the_yaml_alone_says_only_what_it_holds(facts):
    found = facts("custom.yaml", YAML)
    assert found["seq_len"] == 8192
    assert not {"tp", "accelerators", "global_batch"} & found.keys()


def test_a_system_is_nodes_times_accelerators_written_as_text(facts):
    text = '{"submitter": "x", "number_of_nodes": "1280", "accelerators_per_node": "4"}'
    assert facts("system.json", text) == {"accelerators": 5120}
