"""What a record's layout becomes before it is computed: what is read, what is filled, what is named."""

from analysis.layout.from_record import layout_row


def test_full_sharding_is_zero_3() -> None:
    # FSDP shards weights, gradients and optimizer (arXiv:2304.11277), which is ZeRO stage 3 (arXiv:1910.02054)
    row, _ = layout_row({"fsdp": True}, {})
    assert row["zero_stage"] == 3
    row, _ = layout_row({"fsdp": True, "fsdp_shard": 8}, {})
    assert (row["zero_stage"], row["fsdp_shard"]) == (3, 8)


def test_kernels_of_2022_are_filled_from_2023_on_and_named() -> None:
    row, filled = layout_row({"tp": 8, "released": "2024-07-23"}, {"layers": 126})
    assert (row["attention_kernel"], row["sequence_parallel"]) == ("flash", True)
    assert filled["sequence_parallel"] is True
    assert filled["attention_kernel"] == "flash"
    row, _ = layout_row({"tp": 8, "released": "2022-04-05"}, {"layers": 118})
    assert "attention_kernel" not in row
    assert "sequence_parallel" not in row


def test_what_is_stated_is_kept() -> None:
    row, filled = layout_row({"tp": 8, "sequence_parallel": False, "released": "2024-07-23"}, {})
    assert row["sequence_parallel"] is False
    assert "sequence_parallel" not in filled
    row, filled = layout_row({"tp": 1, "released": "2024-07-23"}, {})
    assert "sequence_parallel" not in row


def test_interleaving_of_unknown_depth_goes_down_to_single_layers() -> None:
    # Llama 3.1 405B (arXiv:2407.21783): 126 layers on PP 16 are at most eight to a rank, so eight virtual stages.
    row, filled = layout_row({"schedule": "interleaved", "pp": 16}, {"layers": 126})
    assert row["vpp"] == 8
    assert filled["vpp"] == 8
    assert "vpp" not in layout_row({"schedule": "1f1b", "pp": 16}, {"layers": 126})[0]
    assert layout_row({"schedule": "interleaved", "pp": 16, "vpp": 2}, {"layers": 126})[0]["vpp"] == 2


def test_the_framework_says_which_software_it_is_and_in_house_software_is_named() -> None:
    # BLOOM names Megatron-DeepSpeed; Llama 3's report (arXiv:2407.21783) names no framework
    row, filled = layout_row({"tp": 4, "framework": "Megatron-DeepSpeed"}, {})
    assert row["stack"] == "megatron-deepspeed"
    assert "stack" not in filled
    row, filled = layout_row({"tp": 8}, {})
    assert row["stack"] == filled["stack"] == "megatron-core"
    assert "stack" not in layout_row({"tp": 1, "fsdp": True}, {})[0]
