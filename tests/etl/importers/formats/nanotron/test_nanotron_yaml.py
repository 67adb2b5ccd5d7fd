"""nanotron: every fact of a run in one file, beside an evaluation block with the same words."""

RUN = """
    model:
      dtype: bfloat16
      model_config: {is_llama_config: true, num_hidden_layers: 6, hidden_size: 512, intermediate_size: 1408,
        num_attention_heads: 8, num_key_value_heads: 2, vocab_size: 1000, tie_word_embeddings: true,
        max_position_embeddings: 9000}
    optimizer: {zero_stage: 1}
    parallelism: {dp: 4, tp: 2, pp: 1, recompute_layer: true}
    tokens: {micro_batch_size: 3, batch_accumulation_per_replica: 5, sequence_length: 256, train_steps: 100}
    lighteval: {batch_size: 77, parallelism: {dp: 99, tp: 9, pp: 9}}
    """


def test_the_global_batch_is_micro_batch_times_accumulation_times_dp(facts):
    assert facts("run.yaml", RUN)["global_batch"] == 3 * 5 * 4


def test_the_layout_is_that_of_training_and_not_of_the_evaluation(facts):
    found = facts("run.yaml", RUN)
    assert (found["dp"], found["tp"], found["pp"], found["accelerators"]) == (4, 2, 1, 8)


def test_tokens_follow_from_steps_batch_and_length(facts):
    assert facts("run.yaml", RUN)["tokens"] == 100 * 60 * 256


def test_the_longest_position_is_not_the_training_length(facts):
    assert facts("run.yaml", RUN)["seq_len"] == 256


def test_recomputing_layers_is_full_and_a_silent_file_does_not_recompute(reading):
    assert reading("run.yaml", RUN).facts["recompute"].value == "full"
    silent = reading("run.yaml", RUN.replace(", recompute_layer: true", "")).facts["recompute"]
    assert (silent.value, silent.origin) == ("none", "default")


def test_a_key_given_twice_counts_the_last_time_and_warns(reading):
    text = RUN.replace("optimizer: {zero_stage: 1}", "optimizer: {zero_stage: 1, zero_stage: 0}")
    found = reading("run.yaml", text)
    assert found.get("zero_stage") == 0
    assert any(w.startswith("duplicate-key") for w in found.warnings)


def test_a_stated_fact_names_its_key_and_line(reading):
    fact = reading("run.yaml", RUN).facts["zero_stage"]
    assert (fact.origin, fact.key, fact.line) == ("stated", "optimizer.zero_stage", 7)
