"""What a Hugging Face `model_type` implies beyond the keys of its config.json: tying, biases, norms, where experts sit.

One readable table. A family stands here only if its parameter count follows exactly from config keys and these traits;
for any other model the fields are read and nothing is counted.
"""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Family:
    """Traits of one architecture in the words of the parameter counter.

    `tied` is the default when `tie_word_embeddings` is absent (None: not known). `traits` are constants, `switches`
    maps a counter argument to (key, default). `expert_width` says that `intermediate_size` is the width of one expert.
    """

    tied: bool | None = False
    traits: dict[str, Any] = field(default_factory=dict)
    switches: dict[str, tuple[str, bool]] = field(default_factory=dict)
    expert_width: bool = False
    shared_experts: int | None = None


GATED: dict[str, Any] = {"gated_mlp": True}
PLAIN: dict[str, Any] = {"gated_mlp": False, "norm_vectors": 2}
BIASES: dict[str, Any] = {"qkv_bias": True, "attention_output_bias": True, "mlp_bias": True}
HEAD_NORM: dict[str, Any] = {"qk_norm": "head"}
WIDE_NORM: dict[str, Any] = {"qk_norm": "projection"}
QKV_AND_OUTPUT = {"qkv_bias": ("attention_bias", False), "attention_output_bias": ("attention_bias", False)}
LLAMA_SWITCHES = {**QKV_AND_OUTPUT, "mlp_bias": ("mlp_bias", False)}
USE_BIAS = dict.fromkeys(BIASES, ("use_bias", False))

LLAMA = Family(traits=GATED, switches=LLAMA_SWITCHES)
PLAIN_GATED = Family(traits=GATED)
QWEN2 = Family(traits={**GATED, "qkv_bias": True})
QWEN2_MOE = Family(traits={**GATED, "qkv_bias": True, "shared_expert_gate": True})
QWEN3 = Family(traits={**GATED, **HEAD_NORM}, switches=QKV_AND_OUTPUT)
DEEPSEEK = Family(traits=GATED)
OLMO2 = Family(traits={**GATED, **WIDE_NORM}, switches=QKV_AND_OUTPUT)
GEMMA = Family(tied=True, traits=GATED, switches=QKV_AND_OUTPUT)
GEMMA2 = Family(tied=True, traits={**GATED, "norms_per_layer": 4}, switches=QKV_AND_OUTPUT)
GEMMA3 = Family(tied=True, traits={**GATED, **HEAD_NORM, "norms_per_layer": 4}, switches=QKV_AND_OUTPUT)
GLM4_MOE = Family(traits={**GATED, "router_bias": True}, switches={"qkv_bias": ("attention_bias", False)})
ERNIE = Family(tied=True, traits=GATED, switches=USE_BIAS)
GPTJ = Family(
    traits={**PLAIN, "mlp_bias": True, "norms_per_layer": 1, "head_bias": True},
)

FAMILIES: dict[str, Family] = {
    "llama": LLAMA,
    "mistral": PLAIN_GATED,
    "ministral": PLAIN_GATED,
    "mixtral": Family(traits=GATED, expert_width=True),
    "qwen2": QWEN2,
    "qwen2_vl": QWEN2,
    "qwen2_vl_text": QWEN2,
    "qwen2_5_vl": QWEN2,
    "qwen2_5_vl_text": QWEN2,
    "mimo": QWEN2,
    "qwen2_moe": QWEN2_MOE,
    "qwen3": QWEN3,
    "qwen3_moe": QWEN3,
    "qwen3_vl": QWEN3,
    "qwen3_vl_text": QWEN3,
    "qwen3_vl_moe": QWEN3,
    "qwen3_vl_moe_text": QWEN3,
    "qwen3_next": Family(traits={**GATED, **HEAD_NORM, "shared_expert_gate": True}, switches=QKV_AND_OUTPUT),
    "deepseek": Family(traits=GATED),
    "deepseek_v2": DEEPSEEK,
    "deepseek_v3": DEEPSEEK,
    "deepseek_v32": DEEPSEEK,
    "kimi_k2": DEEPSEEK,
    "glm_moe_dsa": DEEPSEEK,
    "glm4_moe_lite": DEEPSEEK,
    "glm4_moe": GLM4_MOE,
    "dots1": Family(traits={**GATED, **HEAD_NORM, "router_bias": True}, switches=QKV_AND_OUTPUT),
    "glm": Family(traits=GATED, switches={"qkv_bias": ("attention_bias", False)}),
    "glm4": Family(traits={**GATED, "norms_per_layer": 4}, switches={"qkv_bias": ("attention_bias", False)}),
    "minimax_m2": Family(traits={**GATED, **WIDE_NORM}, expert_width=True),
    "gpt_oss": Family(
        traits={**GATED, "attention_sinks": True, "router_bias": True, "expert_bias": True},
        switches={"qkv_bias": ("attention_bias", True), "attention_output_bias": ("attention_bias", True)},
        expert_width=True,
    ),
    "llama4": Family(traits=GATED, expert_width=True, shared_experts=1),
    "llama4_text": Family(traits=GATED, expert_width=True, shared_experts=1),
    "dbrx": Family(traits=GATED),
    "olmo": Family(traits={**GATED, "norm_vectors": 0}, switches=QKV_AND_OUTPUT),
    "olmo2": OLMO2,
    "olmo3": OLMO2,
    "olmoe": Family(traits={**GATED, **WIDE_NORM}, switches=QKV_AND_OUTPUT, expert_width=True),
    "gemma": GEMMA,
    "gemma2": GEMMA2,
    "gemma3": GEMMA3,
    "gemma3_text": GEMMA3,
    "granite": LLAMA,
    "granitemoe": Family(traits=GATED, switches=QKV_AND_OUTPUT, expert_width=True),
    "smollm3": LLAMA,
    "seed_oss": Family(
        traits=GATED,
        switches={"qkv_bias": ("attention_bias", True), "attention_output_bias": ("attention_out_bias", False)},
    ),
    "internlm2": Family(traits=GATED, switches={"qkv_bias": ("bias", False), "attention_output_bias": ("bias", False)}),
    "baichuan": PLAIN_GATED,
    "exaone4": Family(traits={**GATED, **HEAD_NORM}),
    "phi3": PLAIN_GATED,
    "phi": Family(traits={**PLAIN, **BIASES, "norms_per_layer": 1, "head_bias": True}),
    "cohere": Family(tied=True, traits={**GATED, "norms_per_layer": 1}, switches=QKV_AND_OUTPUT),
    "cohere2": Family(tied=True, traits={**GATED, "norms_per_layer": 1}, switches=QKV_AND_OUTPUT),
    "nemotron": Family(traits=PLAIN, switches=LLAMA_SWITCHES),
    "ernie4_5": ERNIE,
    "ernie4_5_moe": ERNIE,
    "gpt2": Family(tied=True, traits={**PLAIN, **BIASES}),
    "gpt_bigcode": Family(tied=True, traits={**PLAIN, **BIASES}),
    "gpt_neo": Family(tied=True, traits={**PLAIN, "attention_output_bias": True, "mlp_bias": True}),
    "gpt_neox": Family(
        traits={**PLAIN, "mlp_bias": True},
        switches={"qkv_bias": ("attention_bias", True), "attention_output_bias": ("attention_bias", True)},
    ),
    "gptj": GPTJ,
    "codegen": GPTJ,
    "bloom": Family(tied=True, traits={**PLAIN, **BIASES, "embedding_norm": True}),
    "opt": Family(tied=True, traits=PLAIN, switches=dict.fromkeys(BIASES, ("enable_bias", True))),
    "starcoder2": Family(tied=True, traits=PLAIN, switches=dict.fromkeys(BIASES, ("use_bias", True))),
    "falcon": Family(tied=True, traits=PLAIN, switches=dict.fromkeys(BIASES, ("bias", False))),
    "mpt": Family(tied=True, traits={"gated_mlp": False}),
}  # fmt: skip

# Read, not counted: what they imply when silent about tying (None: do not say).
TIED_ELSEWHERE: dict[str, bool] = {
    "t5": True, "mt5": False, "umt5": False, "decoder_only_t5": True, "nemotron_h": False, "nemotron-nas": False,
    "apertus": False, "hunyuan_v1_moe": False, "hunyuan_v1_dense": False, "phimoe": False, "jamba": False,
    "arctic": False,
    "gemma3n_text": True, "gemma4_text": True, "bert": True, "xlm": True, "minimax": False, "minimax_text_01": False,
    "stablelm": False, "internlm": False, "granitemoehybrid": False, "lfm2": True, "mamba": True, "mamba2": False,
}  # fmt: skip

# What the configuration class supplies when a file of this family leaves a key out (transformers 4.5x).
OMITTED: dict[str, dict[str, int]] = {
    "gemma3_text": {"heads": 8, "kv_heads": 4, "head_dim": 256, "vocab": 262208},
    "qwen3": {"head_dim": 128},
    "qwen3_moe": {"head_dim": 128},
    "gemma2": {"head_dim": 256},
    "gemma": {"head_dim": 256},
}
