"""One layout in full, against hand arithmetic on GPT-3 175B (TP 8 x PP 8, 96 layers of 12,288) and Llama 3.1 405B."""

import pytest

from analysis.engine.breakdown import break_down, break_down_all, states_gib

GPT_175B = {
    "layers": 96, "hidden": 12288, "ffn_hidden": 49152, "heads": 96, "kv_heads": 96, "vocab": 51200, "gated_mlp": False,
    "tied_embeddings": True,
}  # fmt: skip
LAYOUT = GPT_175B | {
    "id": "x", "accelerator": "nvidia/a100-sxm-80gb", "accelerators": 64, "tp": 8, "cp": 1, "pp": 8, "vpp": 1, "dp": 1,
    "ep": 1, "sequence_parallel": True, "seq_len": 2048, "micro_batch": 1, "global_batch": 64, "precision": "fp16",
    "attention_kernel": "flash", "zero_stage": 0, "recompute": "none", "schedule": "1f1b",
}  # fmt: skip


def traffic(found, name):
    return next(link for link in found.traffic if link.dimension == name)


def test_tensor_parallelism_sends_four_operands_a_layer_and_micro_batch(catalogue):
    # Operand 2sbh = 50,331,648 B; 12 layers x 4 x 64 micro-batches; ring 2 x 7/8. Korthikanti et al. 2022, sec. 4.2.
    sent = traffic(break_down(LAYOUT, catalogue), "tp")
    assert sent.bytes_per_step == pytest.approx(50331648 * 12 * 4 * 64 * 2 * 7 / 8)
    assert sent.placement == "scale-up"


def test_the_pipeline_sends_one_boundary_each_way(catalogue):
    # 2sbh/t = 6,291,456 B per micro-batch and direction. Narayanan et al. 2021, sec. 4.1.
    sent = traffic(break_down(LAYOUT, catalogue), "pp")
    assert sent.bytes_per_step == pytest.approx(6291456 * 2 * 64)
    assert sent.placement == "scale-out"


def test_interleaving_multiplies_the_pipeline_traffic(catalogue):
    # Narayanan et al. 2021, sec. 2.2.2.
    once, thrice = break_down_all([LAYOUT, LAYOUT | {"vpp": 3, "schedule": "interleaved"}], catalogue)
    assert traffic(thrice, "pp").bytes_per_step == 3 * traffic(once, "pp").bytes_per_step


def test_full_recompute_repeats_the_forward_collectives(catalogue):
    # 2 of 4 operands are forward: 6 instead of 4.
    kept, again = break_down_all([LAYOUT, LAYOUT | {"recompute": "full"}], catalogue)
    assert traffic(again, "tp").bytes_per_step == pytest.approx(1.5 * traffic(kept, "tp").bytes_per_step)


def test_tensor_parallelism_beyond_the_box_leaves_the_scale_up_domain(catalogue):
    found = break_down(LAYOUT | {"tp": 16, "pp": 4}, catalogue)
    assert traffic(found, "tp").placement == "scale-out"


def test_parts_of_the_step_add_up_to_the_step(catalogue):
    found = break_down(LAYOUT, catalogue)
    assert sum(found.seconds.values()) == pytest.approx(found.prediction["step_time_s"])


def test_stages_hold_what_the_fullest_one_is_predicted_to(catalogue):
    found = break_down(LAYOUT, catalogue)
    assert found.memory_gib.sum(axis=1).max() == pytest.approx(found.prediction["memory_gib"], rel=1e-6)


def test_states_of_llama_405b_with_zero_1_are_eighteen_gib(catalogue):
    # 405.85e9 / (TP 8 x PP 16) on a middle stage of 8 layers: weights 2 B, FP32 gradients 4 B, 12 B over DP 128.
    # 8 x 3,187,703,808 (one layer) / 8 x (2 + 4 + 12/128) B = 18.09 GiB.
    model = catalogue.models["meta/llama-3.1-405b"]
    row = {k: v for k, v in model.items() if not k.startswith("exact_")} | LAYOUT_405B
    assert states_gib([row | {"gradient_dtype": "fp32"}], catalogue)[0] == pytest.approx(18.09, abs=0.01)


LAYOUT_405B = {
    "id": "x", "accelerator": "nvidia/h100-sxm-80gb", "accelerators": 16384, "tp": 8, "cp": 1, "pp": 16, "vpp": 1,
    "dp": 128, "ep": 1, "sequence_parallel": True, "seq_len": 8192, "micro_batch": 1, "global_batch": 2048,
    "precision": "bf16", "attention_kernel": "flash", "zero_stage": 1, "recompute": "none", "schedule": "1f1b",
    "layers_per_stage": "7,8*14,7",
}  # fmt: skip


def test_what_is_not_known_is_empty_and_says_why(catalogue):
    found = break_down(LAYOUT | {"hidden": None}, catalogue)
    assert found.memory_gib.empty
    assert not found.seconds
    assert "hidden is not stated" in found.missing


def test_many_layouts_are_each_as_alone(catalogue):
    rows = [LAYOUT, LAYOUT | {"pp": 4, "dp": 2}, LAYOUT | {"accelerator": "nvidia/unheard-of"}]
    for row, found in zip(rows, break_down_all(rows, catalogue), strict=True):
        alone = break_down(row, catalogue)
        assert found.seconds == pytest.approx(alone.seconds)
        assert [link.bytes_per_step for link in found.traffic] == [link.bytes_per_step for link in alone.traffic]


def test_fp32_activations_cost_twice_the_traffic_of_bf16(catalogue):
    # an engine that counts two bytes whatever the precision is wrong by half (manuelescobar-dev/LLM-Tools issue 6)
    half, single = break_down_all([LAYOUT | {"precision": name} for name in ("bf16", "fp32")], catalogue)
    for dimension in ("tp", "pp"):
        sent = [traffic(one, dimension).bytes_per_step for one in (half, single)]
        assert sent[1] == pytest.approx(2 * sent[0])


@pytest.mark.parametrize(("layers", "vpp", "idle"), [(32, 2, 1 - 4 / 17.5), (64, 4, 1 - 4 / 16.75)])
def test_one_micro_batch_passes_every_stage_however_it_is_interleaved(catalogue, layers, vpp, idle):
    # 16 stages, 4 micro-batches: 16 + 3/v times one stage, 4 of them work (9rum/flatflow issue 20). The small head and
    # embedding leave the stages nearly equal.
    few = {"accelerators": 16, "tp": 1, "pp": 16, "vpp": vpp, "layers": layers, "global_batch": 4, "vocab": 1000,
           "sequence_parallel": False, "schedule": "interleaved"}  # fmt: skip
    seconds = break_down(LAYOUT | few, catalogue).seconds
    once = ("dp", "optimizer", "fixed", "scale")
    assert seconds["bubble"] / sum(s for name, s in seconds.items() if name not in once) == pytest.approx(
        idle, abs=0.01
    )
