"""ArcticTraining: DeepSpeed's settings inside."""


def test_the_stage_is_that_of_the_deepspeed_block(facts):
    found = facts(
        "a.yml",
        """\
        type: sft
        micro_batch_size: 2
        gradient_accumulation_steps: 4
        model: {name_or_path: Some/Model, dtype: bf16}
        data: {sources: [x], max_length: 256}
        deepspeed: {zero_optimization: {stage: 2}}
        """,
    )
    assert [found[n] for n in ("zero_stage", "micro_batch", "seq_len", "precision")] == [2, 2, 256, "bf16"]
