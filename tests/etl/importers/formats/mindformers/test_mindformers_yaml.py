"""MindFormers: anchors, a batch of four factors, comments that count devices."""

RUN = """
    runner_config: {epochs: 2, batch_size: 1}
    moe_config: {expert_num: 8, num_experts_chosen: 2}
    train_dataset: {batch_size: 99}
    # default parallel of device num = 8
    parallel_config: {data_parallel: &dp 2, model_parallel: 4, pipeline_stage: 2, expert_parallel: *dp,
      micro_batch_num: 16}
    micro_batch_interleave_num: 1
    recompute_config: {recompute: True, select_recompute: False}
    parallel: {enable_parallel_optimizer: True}
    model:
      model_config: {type: LlamaConfig, seq_length: 128, hidden_size: 256, intermediate_size: 512, num_layers: 4,
        num_heads: 8, n_kv_heads: 2, vocab_size: 100, compute_dtype: float16, param_init_type: float32, top_k: 3}
    """


def test_the_batch_is_a_product_and_not_the_dataset_s(facts):
    found = facts("a.yaml", RUN)
    assert (found["global_batch"], found["micro_batch"]) == (1 * 2 * 16 * 1, 1)


def test_devices_are_the_product_of_the_degrees_and_an_old_comment_warns(reading):
    found = reading("a.yaml", RUN)
    assert (found.get("accelerators"), found.get("ep")) == (16, 2)
    assert any(w.startswith("comment-disagrees") for w in found.warnings)


def test_the_precision_is_that_of_the_computation(facts):
    assert facts("a.yaml", RUN)["precision"] == "fp16"


def test_top_k_of_generation_is_not_that_of_the_router(facts):
    found = facts("a.yaml", RUN)
    assert (found["experts_per_token"], found["moe_ffn_hidden"]) == (2, 512)
    assert "ffn_hidden" not in found


def test_micro_batches_without_a_pipeline_leave_the_batch_open(facts):
    assert "global_batch" not in facts("a.yaml", RUN.replace("pipeline_stage: 2", "pipeline_stage: 1"))


def test_a_width_that_is_not_given_is_two_thirds_of_4h_rounded_up(reading):
    text = RUN.replace("intermediate_size: 512", "multiple_of: 256").replace("expert_num: 8", "expert_num: 1")
    fact = reading("a.yaml", text).facts["ffn_hidden"]
    # int(2 * 1024 / 3) = 682, up to a multiple of 256: 768
    assert (fact.value, fact.origin) == (768, "default")
