"""Tables to arrays: units, what is completed, what is refused, and that no row is lost or invented."""

import numpy as np
import pandas as pd
import pytest

from analysis.layout.arrays import read_rows
from analysis.layout.columns import REQUIRED, UNITS, check_columns, in_base_units
from analysis.physics import bubble

from ..rows import ACCELERATORS, LLAMA_8B, read, table


def reason(**change: object) -> str:
    """Why memory of the changed row is unknown."""
    return str(read(dict(change)).memory_reasons[0])


def test_a_full_row_has_no_reason() -> None:
    rows = read()
    assert (rows.memory_reasons.tolist(), rows.time_reasons.tolist()) == ([""], [""])
    assert float(rows.split.micro_batches[0]) == 8


@pytest.mark.parametrize("name", [n for n in REQUIRED if n not in ("id", "accelerator", "global_batch")])
@pytest.mark.parametrize("blank", ["", None])
def test_blank_cells_name_their_field_and_give_no_number(name: str, blank: object) -> None:
    rows = read({name: blank, "dp": "", "head_dim": ""} if name == "accelerators" else {name: blank})
    said = str(rows.memory_reasons[0])
    optional = ("attention_kernel", "zero_stage", "recompute")
    assert (said == "") if name in optional else (f"{name} is not stated" in said)


@pytest.mark.parametrize(
    ("change", "sentence"),
    [
        ({"tp": "eight"}, "tp is not a number: 'eight'"),
        ({"layers": -32}, "layers must be at least 1, found -32"),
        ({"seq_len": 1e30}, "seq_len = 1e+30 is implausibly large"),
        ({"heads": 2.5}, "heads must be a whole number, found 2.5"),
        ({"kv_heads": ""}, "kv_heads is not stated"),
        ({"gated_mlp": "perhaps"}, "gated_mlp is neither true nor false: 'perhaps'"),
        ({"precision": "sixteen"}, "precision is not known: 'sixteen'"),
        ({"attention_kernel": "magic"}, "attention_kernel is not known: 'magic'"),
        ({"recompute": "mixed: see flag"}, "recompute is not known: 'mixed: see flag'"),
        ({"schedule": "magic"}, "schedule is not known: 'magic'"),
        ({"offload": "to the moon"}, "offload is not known: 'to the moon'"),
        ({"accelerators": 16}, "tp*cp*pp*dp is 8 but accelerators is 16"),
        ({"accelerators": 16, "dp": "", "tp": 3}, "dp is not stated"),
        ({"global_batch": 4}, "global_batch is smaller than micro_batch*dp (4)"),
        ({"head_dim": "", "heads": 30}, "head_dim is not stated and hidden 4096 does not divide by heads"),
        ({"fsdp": "hybrid"}, "fsdp_shard is not stated for a hybrid shard"),
        ({"mla": True}, "kv_lora_rank is not stated"),
        ({"experts": 8}, "experts_per_token is not stated"),
    ],
)  # fmt: skip
def test_rows_that_say_too_little_say_why(change: dict[str, object], sentence: str) -> None:
    assert sentence in reason(**change)


@pytest.mark.parametrize(
    "change", [{"precision": "bf16; nf4 base weights"}, {"model_name": "8B LoRA"}, {"adapter": "lora"}]
)
def test_adapters_have_a_memory_and_a_step_time(change: dict[str, object]) -> None:
    rows = read(change)
    assert rows.memory_reasons[0] == ""
    assert rows.time_reasons[0] == ""


def test_nonsense_in_a_cell_is_told_once() -> None:
    assert reason(pp="eight") == "pp is not a number: 'eight'"
    assert reason(vpp="x", pp="") == "vpp is not a number: 'x'; pp is not stated"


def test_sixteen_accelerators_are_needed_for_two_stages_of_eight_experts() -> None:
    moe = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "ep": 8, "etp": 1}
    said = reason(**moe, pp=2, dp=4, global_batch=64)
    assert said == "ep*etp is 8, which does not divide the 4 accelerators of a pipeline stage"


def test_expert_tensor_ranks_count_among_the_ranks_of_a_stage() -> None:
    moe = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "tp": 4, "dp": 2, "sequence_parallel": True}
    assert reason(**moe, ep=4, etp=2) == ""
    assert "ep*etp is 16, which does not divide the 8 accelerators" in reason(**moe, ep=4, etp=4)


def test_a_grok_row_whose_dp_leaves_out_its_experts_is_refused() -> None:
    assert reason(accelerators=8, tp=4, dp=1) == "tp*cp*pp*dp is 4 but accelerators is 8"


def test_dp_follows_only_when_the_ranks_divide() -> None:
    rows = read({"dp": "", "tp": 2, "sequence_parallel": True}, {"dp": "", "tp": 3, "sequence_parallel": True})
    assert float(rows.split.dp[0]) == 4
    assert np.isnan(rows.split.dp[1])


def test_memory_without_a_pipeline_does_not_need_the_global_batch() -> None:
    rows = read({"global_batch": ""}, {"global_batch": "", "pp": 2, "dp": 4})
    assert rows.memory_reasons.tolist() == ["", "global_batch is not stated"]
    assert rows.time_reasons.tolist() == ["global_batch is not stated"] * 2


def test_an_unknown_accelerator_gives_no_chip_and_keeps_memory() -> None:
    rows = read({"accelerator": "nvidia/h9000"}, {"accelerator": None})
    assert rows.time_reasons.tolist() == ["accelerator is not known: 'nvidia/h9000'", "accelerator is not stated"]
    assert np.isnan(rows.chip["card"]).all()
    assert rows.memory_reasons.tolist() == ["", ""]


def test_figures_nobody_published_stay_unknown() -> None:
    rows = read({"accelerator": "nvidia/a100-sxm-80gb"})
    assert np.isnan(rows.chip["hbm_bandwidth"][0])
    assert float(rows.chip["bf16"][0]) == 312e12


def test_units_become_base_units() -> None:
    chip = in_base_units(ACCELERATORS).loc["nvidia/h100-sxm-80gb"]
    assert chip["card"] == 79.65 * 2**30
    assert chip["hbm_bandwidth"] == 3.35e12
    assert chip["scale_out"] == 50e9
    assert (chip["bf16"], chip["int8"], chip["tdp"], chip["scale_up_domain"]) == (989.5e12, 1979e12, 700, 8)


def test_memory_printed_in_gib_and_in_gb_is_one_quantity() -> None:
    # 32 GiB of a TPU v4 (Cloud TPU documentation) are 34.36e9 bytes; 80 GB are 80e9.
    sheet = pd.DataFrame({"id": ["tpu", "gpu"], "hbm_gb": [np.nan, 80], "hbm_gib": [32, np.nan]})
    assert in_base_units(sheet)["card"].tolist() == [32 * 1024**3, 80e9]


def test_longer_suffixes_are_tried_before_their_ends() -> None:
    names = list(UNITS)
    assert all(names.index(a) < names.index(b) for a in names for b in names if a != b and a.endswith(b))


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({}, bubble.Schedule.ONE_F_ONE_B),
        ({"vpp": 4}, bubble.Schedule.INTERLEAVED),
        ({"schedule": "1f1b", "vpp": 2}, bubble.Schedule.INTERLEAVED),
        ({"schedule": "1f1b"}, bubble.Schedule.ONE_F_ONE_B),
        ({"schedule": "zb1p"}, bubble.Schedule.ZB_1P),
        ({"schedule": "zb-2p"}, bubble.Schedule.ZB_2P),
        ({"schedule": "zbv"}, bubble.Schedule.ZB_V),
        ({"schedule": "interleaved", "vpp": 2}, bubble.Schedule.INTERLEAVED),
        ({"schedule": "dualpipe"}, bubble.Schedule.DUALPIPE),
        ({"schedule": "gpipe"}, bubble.Schedule.GPIPE),
    ],
)
def test_schedules_by_name_and_by_what_follows_from_vpp(change: dict[str, object], code: float) -> None:
    assert float(read(change).split.schedule[0]) == code


@pytest.mark.parametrize(("change", "etp"), [({"tp": 4, "dp": 2}, 4), ({"tp": 4, "dp": 2, "etp": 2}, 2)])
def test_experts_follow_tp_unless_stated(change: dict[str, object], etp: float) -> None:
    assert float(read(change | {"sequence_parallel": True}).split.etp[0]) == etp


def test_experts_spread_over_ep_are_whole_matrices() -> None:
    moe = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "ep": 8, "tp": 2, "dp": 4}
    assert float(read(moe | {"sequence_parallel": True}).split.etp[0]) == 1


def test_fsdp_words_mean_a_zero_stage() -> None:
    words = ("full", "hybrid", "shard-grad-op", "", "true", "1", "yes")
    rows = read(*({"fsdp": word, "fsdp_shard": 4 if word == "hybrid" else ""} for word in words))
    assert rows.split.zero_stage.tolist() == [3, 3, 2, 1, 3, 3, 3]
    assert rows.split.shard_ranks.tolist() == [0, 4, 0, 0, 0, 0, 0]


def test_a_word_for_fsdp_that_nobody_knows_is_told_unless_a_stage_is_stated() -> None:
    rows = read({"fsdp": "2", "zero_stage": ""}, {"fsdp": "2", "zero_stage": 2}, {"fsdp": "no", "zero_stage": ""})
    assert "fsdp is not known: '2'; it is one of: full | hybrid | shard-grad-op" in str(rows.memory_reasons[0])
    assert not any("fsdp" in str(reason) for reason in rows.memory_reasons[1:])


def test_missing_columns_are_named_in_one_sentence() -> None:
    with pytest.raises(ValueError, match=r"^the table lacks the columns tp, recompute; a blank cell is fine"):
        check_columns([name for name in REQUIRED if name not in ("tp", "recompute")])
    with pytest.raises(ValueError, match="lacks the column hidden;"):
        read_rows(table().drop(columns="hidden"), ACCELERATORS)


def test_optional_columns_may_be_absent() -> None:
    bare = table()[[*REQUIRED, "kv_heads"]]
    assert read_rows(bare, ACCELERATORS).time_reasons.tolist() == [""]


def test_a_table_of_no_rows_is_a_table_of_no_rows() -> None:
    assert len(read_rows(table().iloc[:0], ACCELERATORS)) == 0


def test_text_and_numbers_read_the_same() -> None:
    text = table().astype(str)
    assert read_rows(text, ACCELERATORS).arch.hidden.tolist() == read().arch.hidden.tolist()
    assert read_rows(text, ACCELERATORS).memory_reasons.tolist() == [""]


def test_one_bad_row_leaves_the_others_alone() -> None:
    rows = read({"id": "a"}, {"id": "b", "tp": "x"}, {"id": "c"})
    assert rows.ids.tolist() == ["a", "b", "c"]
    assert [bool(why) for why in rows.memory_reasons] == [False, True, False]


def test_rows_in_any_index_order_keep_their_place() -> None:
    shuffled = pd.concat([table({"id": "a"}), table({"id": "b", "tp": "x"})]).iloc[::-1]
    assert read_rows(shuffled, ACCELERATORS).ids.tolist() == ["b", "a"]


def test_taking_rows_takes_every_block() -> None:
    part = read({"id": "a"}, {"id": "b", "hidden": 8192}, {"id": "c"}).take(slice(1, 2))
    assert part.ids.tolist() == ["b"]
    assert part.arch.hidden.tolist() == [8192]
    assert {len(part.kernel), len(part.words.dtype), len(part.recompute.layer), len(part.chip["card"])} == {1}


def test_latent_rows_need_no_kv_heads() -> None:
    latent = {"mla": True, "kv_heads": "", "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
              "v_head_dim": 128}  # fmt: skip
    assert reason(**latent) == ""


def test_a_mixture_without_dense_layers_needs_no_dense_width() -> None:
    moe = {"experts": 8, "experts_per_token": 2, "moe_ffn_hidden": 14336, "ffn_hidden": ""}
    assert reason(**moe) == ""
    assert "ffn_hidden is not stated" in reason(**moe, dense_layers=1)
    assert LLAMA_8B["ffn_hidden"] == 14336
