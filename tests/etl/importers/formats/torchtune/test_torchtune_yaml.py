"""torchtune: components by name, flat settings, the launch command in a comment."""

TEXT = """\
    # tune run --nproc_per_node 4 full_finetune_distributed --config x
    tokenizer: {_component_: torchtune.models.llama3.llama3_tokenizer, max_seq_len: 512}
    batch_size: 2
    gradient_accumulation_steps: 3
    dtype: bf16
    enable_activation_checkpointing: False
    """


def test_devices_of_a_comment_make_weak_facts(reading):
    found = reading("a.yaml", TEXT)
    assert [found.get(n) for n in ("micro_batch", "seq_len", "recompute")] == [2, 512, "none"]
    assert (found.get("global_batch"), found.facts["global_batch"].origin) == (2 * 3 * 4, "comment")
