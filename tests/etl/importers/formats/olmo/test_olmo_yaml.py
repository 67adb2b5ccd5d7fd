"""OLMo (first version): widths that count gate and up together, durations with units."""

import pytest

RUN = """
    model:
      d_model: 512
      n_heads: 8
      n_layers: 4
      mlp_ratio: 8
      activation_type: swiglu
      weight_tying: false
      max_sequence_length: 1024
      vocab_size: 1000
      embedding_size: 1024
    scheduler: {t_max: 9e9}
    max_duration: 2e9T
    global_train_batch_size: 64
    device_train_microbatch_size: 2
    precision: amp_bf16
    fsdp: {wrapping_strategy: by_block}
    """


def test_a_gated_ratio_of_8_is_two_matrices_of_4_times_the_width(facts):
    assert facts("a.yaml", RUN)["ffn_hidden"] == 512 * 8 // 2


def test_a_plain_activation_keeps_the_whole_width(facts):
    assert facts("a.yaml", RUN.replace("swiglu", "gelu"))["ffn_hidden"] == 512 * 8


@pytest.mark.parametrize(
    ("duration", "tokens", "steps"),
    [("2e9T", 2_000_000_000, None), ("2ep", None, None), ("500", 500 * 64 * 1024, 500)],
)
def test_tokens_come_from_the_duration_and_never_from_the_horizon(facts, duration, tokens, steps):
    found = facts("a.yaml", RUN.replace("2e9T", duration))
    assert (found.get("tokens"), found.get("train_steps")) == (tokens, steps)


def test_a_stop_before_the_end_of_an_epoch_is_the_end(reading):
    found = reading("a.yaml", RUN.replace("2e9T", "2ep\n    stop_at: 4_000"))
    assert found.get("train_steps") == 4000
    assert any(w.startswith("two-ends") for w in found.warnings)


@pytest.mark.parametrize(("block", "stage"), [("{precision: mixed}", 3), ("{sharding_strategy: SHARD_GRAD_OP}", 2)])
def test_sharding_is_full_unless_named(facts, block, stage):
    assert facts("a.yaml", RUN.replace("{wrapping_strategy: by_block}", block))["zero_stage"] == stage


def test_data_parallel_copies_do_not_shard(facts):
    text = RUN.replace("fsdp: {wrapping_strategy: by_block}", "distributed_strategy: ddp")
    assert facts("a.yaml", text)["zero_stage"] == 0


def test_the_count_uses_the_embedding_rows(reading):
    text = RUN.replace("weight_tying: false", "weight_tying: false\n      include_bias: false\n      rope: true")
    assert reading("a.yaml", text).architecture["rows"] == 1024
