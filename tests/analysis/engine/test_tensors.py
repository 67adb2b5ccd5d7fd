"""What rows keep and how wide, by their words and their software."""

import numpy as np
import pytest

from analysis.engine.overhead import overhead
from analysis.engine.stack import Stack
from analysis.engine.tensors import policy_of

from ..rows import CONSTANTS, read

GIB = 2.0**30
GPT = {"gated_mlp": False, "tied_embeddings": True, "attention_kernel": "unfused"}
LATENT = {"mla": True, "kv_heads": "", "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64,
          "v_head_dim": 128}  # fmt: skip
PURE = "bf16 pure (weights, grads, Adam states bf16)"
DEEPSPEED = "bf16 (BF16 optimizer, fp32 grad accumulation)"


def policy(**change: object) -> dict[str, float]:
    """Numbers of the policy of the changed row; parts of a layer that are dropped begin with `recompute_`."""
    rows = read(dict(change))
    named = vars(policy_of(rows, Stack.of(rows, CONSTANTS), CONSTANTS))
    named |= {f"recompute_{name}": value for name, value in vars(named.pop("recompute")).items() if name != "every"}
    return {name: float(np.broadcast_to(value, (1,))[0]) for name, value in named.items()}


@pytest.mark.parametrize(
    ("change", "widths"),
    [
        ({}, (2, 4, 4, 8)),  # Megatron-LM, BF16: FP32 gradient buffer forced
        ({"precision": "fp16", "zero_stage": 0}, (2, 2, 4, 8)),  # Megatron-LM, FP16: gradients in FP16
        ({"precision": "fp16", "stack": "megatron-deepspeed"}, (2, 2, 4, 8)),  # DeepSpeed ZeRO-1
        ({"precision": DEEPSPEED}, (2, 6, 4, 8)),  # BF16 gradient and FP32 accumulation side by side
        ({"zero_stage": 3}, (4, 4, 0, 8)),  # FSDP: FP32 shards
        ({"precision": PURE, "zero_stage": 0}, (2, 2, 0, 4)),
        ({"precision": "fp32", "zero_stage": 0}, (4, 4, 0, 8)),
        ({"precision": "FP8"}, (2, 4, 4, 8)),
        (LATENT, (2, 2, 4, 4)),  # the precision-aware optimizer of DeepSeek-V3 recipes
        (LATENT | {"zero_stage": 3}, (4, 4, 0, 8)),
        (LATENT | {"layers": 4}, (2, 4, 4, 8)),  # four layers of width 4096: a test on defaults, not a recipe
        ({"optimizer": "8-bit Adam"}, (2, 4, 4, 2)),
        # LOMO (arXiv:2306.09782), table 1, LLaMA-7B: AdamW 12.55 + 12.55 + 75.31, SGD 25.10 of states, LOMO weights
        ({"accelerators": 1, "dp": 1}, (2, 2, 4, 8)),
        ({"accelerators": 1, "dp": 1, "model_name": "LLaMA-7B SGD"}, (2, 2, 4, 0)),
        ({"accelerators": 1, "dp": 1, "model_name": "LLaMA-7B LOMO"}, (2, 0, 0, 0)),
        ({"gradient_dtype": "bf16", "moment_dtype": "bf16"}, (2, 2, 4, 4)),
        ({"precision": PURE + ", optimizer in backward", "zero_stage": 0}, (2, 0, 0, 4)),
        ({"offload": "optimizer"}, (2, 4, 0, 0)),
        ({"offload": "optimizer", "precision": "fp16", "zero_stage": 2}, (2, 0, 0, 0)),
        ({"offload": "parameters+optimizer", "zero_stage": 3}, (0, 0, 0, 0)),
    ],
)
def test_bytes_per_parameter_of_each_stack(change: dict[str, object], widths: tuple[float, ...]) -> None:
    found = policy(**change)
    assert tuple(found[name] for name in ("weight", "gradient", "master", "moments")) == widths


@pytest.mark.parametrize(
    ("change", "width"),
    [
        ({}, 6),
        (GPT, 10),
        ({"zero_stage": 3}, 14),
        ({"precision": PURE, "zero_stage": 0}, 14),
        ({"precision": PURE, "zero_stage": 0, "recompute": "full"}, 4),
        ({"precision": "fp16", "stack": "megatron-deepspeed"}, 10),
        ({"accelerators": 1, "dp": 1, "global_batch": 8}, 14),
        ({"accelerators": 1, "dp": 1, "global_batch": 8, "attention_kernel": "unfused"}, 10),
        ({"layers": 4}, 10),
        ({"layers": 13}, 10),  # width over depth 315
        ({"layers": 16}, 6),  # 256, the shallowest of published models (StableLM-3B)
        ({"loss": "chunked"}, 4),
        ({"loss": "in_place"}, 2),
        ({"loss": "unfused"}, 10),
        ({"loss": "eager"}, 14),
    ],
)
def test_bytes_per_logit_of_each_stack(change: dict[str, object], width: float) -> None:
    assert policy(**change)["logit_bytes"] == width


def test_plain_selective_is_operator_level_where_weights_are_sharded() -> None:
    megatron, sharded = policy(recompute="selective"), policy(recompute="selective", zero_stage=3)
    assert (megatron["recompute_core"], megatron["recompute_operator"]) == (1, 0)
    assert (sharded["recompute_core"], sharded["recompute_operator"]) == (0, 1)


def test_an_unfused_core_is_dropped_by_selective_recompute_in_any_stack() -> None:
    old = policy(recompute="selective", zero_stage=3, attention_kernel="unfused")
    assert (old["recompute_core"], old["recompute_operator"]) == (1, 0)


@pytest.mark.parametrize(
    ("text", "field"),
    [
        ("full", "recompute_layer"),
        ("selective (mlp)", "recompute_mlp"),
        ("selective (mla_up_proj)", "recompute_qkv"),
        ("selective (moe)", "recompute_experts"),
        ("selective (moe_act)", "recompute_expert_activation"),
        ("selective (shared_experts)", "recompute_shared_expert"),
        ("selective (layernorm)", "recompute_norm"),
        ("selective (core_attn)", "recompute_core"),
        ("selective (op)", "recompute_operator"),
    ],
)
def test_recompute_words_reach_their_share(text: str, field: str) -> None:
    assert {n for n, v in policy(recompute=text).items() if n.startswith("recompute") and v} == {field}


def test_some_layers_of_each_stage_are_a_share() -> None:
    assert policy(recompute="full (4 layers)")["recompute_layer"] == 4 / 32
    assert policy(recompute="full (4 layers)", pp=8, dp=1, global_batch=8)["recompute_layer"] == 1


def test_checkpoints_on_the_host() -> None:
    assert policy(recompute="full+offload")["offloaded_activations"] == 1


@pytest.mark.parametrize(("precision", "width"), [("bf16", 2), ("FP8", 1), ("MXFP8", 33 / 32), ("NVFP4", 9 / 16)])
def test_saved_inputs_are_quantised_with_the_products(precision: str, width: float) -> None:
    assert policy(precision=precision)["linear_input"] == width
    assert policy(precision=precision, zero_stage=3)["linear_input"] == 2  # torchao saves the 16-bit input


def test_old_gpt_stacks_have_dropout_and_scores() -> None:
    old, new = policy(**GPT), policy(gated_mlp=False)
    assert (old["dropout"], old["unfused_attention"]) == (1, 1)
    assert (new["dropout"], new["unfused_attention"]) == (0, 0)
    assert policy(attention_kernel="unfused")["dropout"] == 0


def test_deepspeed_keeps_stage_outputs_and_native_stacks_make_gradients_late() -> None:
    assert policy(precision="fp16", stack="megatron-deepspeed")["stage_output"] == 1
    assert policy()["stage_output"] == 0
    assert [policy(**c)["late_gradients"] for c in ({}, {"zero_stage": 3}, {"precision": PURE})] == [0, 1, 1]
    assert policy(accelerators=1, dp=1, global_batch=8)["late_gradients"] == 1
    assert policy(zero_stage=3)["separate_gate"] == 1


@pytest.mark.parametrize(
    ("change", "factor", "gib"),
    [
        ({}, 1, 0),
        ({"zero_stage": 3, "stack": "torchtitan"}, 1.05, 0),
        ({"precision": "fp16", "stack": "megatron-deepspeed"}, 1.2, 3.5),
        ({"precision": PURE}, 1, 0),
        ({"memory_kind": "reserved"}, 1.05, 0),
        ({"memory_kind": "nvidia-smi"}, 1.2, 1.5),
        ({"memory_kind": "allocated", "precision": "fp16", "stack": "megatron-deepspeed"}, 1, 2),
        ({"memory_kind": "allocated", "zero_stage": 3}, 1, 0),
    ],
)
def test_what_a_stack_reports_beside_its_tensors(change: dict[str, object], factor: float, gib: float) -> None:
    rows = read(change)
    beyond = overhead(rows, Stack.of(rows, CONSTANTS), CONSTANTS)
    shown = (1 + float(beyond.persistent[0]), 1 + float(beyond.passing[0]), float(beyond.beside[0]) / GIB)
    assert shown == pytest.approx((factor, factor, gib))


def test_every_row_belongs_to_one_stack() -> None:
    rows = read(
        {},
        {"zero_stage": 3},
        {"precision": "fp16", "stack": "megatron-deepspeed"},
        {"precision": PURE},
        {"zero_stage": ""},
    )
    stack = Stack.of(rows, CONSTANTS)
    held = np.stack([stack.pure, stack.sharded, stack.deepspeed, stack.megatron])
    assert held.sum(axis=0).tolist() == [1] * 5
