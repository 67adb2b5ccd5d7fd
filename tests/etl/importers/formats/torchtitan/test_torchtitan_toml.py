"""torchtitan and Prime: degrees that multiply, -1 for the rest, tables that need a converter."""

RUN = """
    # NOTE: this is a preset for 64 H100 GPUs.
    [model]
    name = "llama3"
    flavor = "8B"
    [training]
    local_batch_size = 2
    seq_len = 1024
    steps = 1_000
    [parallelism]
    data_parallel_shard_degree = -1
    tensor_parallel_degree = 4
    [float8]
    enable_fsdp_float8_all_gather = true
    """


def test_the_rest_is_unknown_and_the_comment_is_only_a_comment(reading):
    found = reading("a.toml", RUN).facts
    assert (found["accelerators"].value, found["accelerators"].origin) == (64, "comment")
    assert (found["dp"].value, found["dp"].origin) == (16, "comment")
    assert found["global_batch"].value == 32


def test_known_degrees_multiply_to_dp_and_devices(reading):
    text = RUN.replace(
        "degree = -1", "degree = 8\n    data_parallel_replicate_degree = 2\n    context_parallel_degree = 2"
    )
    found = reading("a.toml", text).facts
    assert (found["dp"].value, found["accelerators"].value, found["accelerators"].origin) == (16, 128, "derived")


def test_a_float8_table_needs_its_converter(facts):
    assert facts("a.toml", RUN)["precision"] == "bf16"
    on = RUN.replace('flavor = "8B"', 'flavor = "8B"\n    converters = ["quantize.linear.float8"]')
    assert facts("a.toml", on)["precision"] == "fp8"


def test_sharding_is_full_by_default_and_off_with_copies_only(reading):
    assert (reading("a.toml", RUN).facts["zero_stage"].value, reading("a.toml", RUN).facts["zero_stage"].origin) == (
        3,
        "default",
    )
    copies = RUN.replace("shard_degree = -1", "shard_degree = 1\n    data_parallel_replicate_degree = 4")
    assert reading("a.toml", copies).get("zero_stage") == 0


def test_a_file_without_any_device_count_has_no_batch(facts):
    assert not {"dp", "global_batch", "tokens"} & set(facts("a.toml", RUN.replace("64 H100 GPUs", "many GPUs")))


def test_a_prime_batch_is_that_of_one_worker(facts):
    text = """
    model_name = "1B"
    [hardware]
    micro_batch_size = 4
    act_ckpt = true
    [train]
    batch_size = 128
    [data]
    seq_length = 512
    [diloco]
    inner_steps = 100
    """
    found = facts("a.toml", text)
    assert (found["micro_batch"], found["seq_len"], found["recompute"]) == (4, 512, "full")
    assert not {"global_batch", "dp", "accelerators"} & set(found)


def test_prime_s_second_vocabulary(facts):
    text = """
    [train]
    micro_bs = 8
    reshard_after_forward = true
    [optim]
    batch_size = 64
    total_steps = 10
    [data]
    seq_length = 32
    """
    found = facts("a.toml", text)
    assert (found["micro_batch"], found["zero_stage"], found["global_batch_tokens"]) == (8, 3, 64 * 32)


def test_the_horizon_of_a_learning_rate_is_no_length(facts):
    text = "[train]\nmicro_bs = 8\n[optim]\nbatch_size = 64\ntotal_steps = 1_000_000\n[data]\nseq_length = 32\n"
    assert not {"train_steps", "tokens"} & set(facts("a.toml", text))
