"""Architectures of published models, a few numbers each, with the public config they were read from."""

from typing import Any

Facts = dict[str, Any]

GATED: Facts = {"gated_mlp": True, "tied_embeddings": False}
PLAIN: Facts = {"gated_mlp": False, "tied_embeddings": True}
BIASED: Facts = {"qkv_bias": True, "attention_output_bias": True, "mlp_bias": True, "norm_vectors": 2}

# huggingface.co/meta-llama/Llama-2-7b-hf config.json
LLAMA_2_7B = GATED | {"layers": 32, "hidden": 4096, "ffn_hidden": 11008, "heads": 32, "vocab": 32000}
# huggingface.co/meta-llama/Llama-3.1-8B, -70B, -405B config.json
LLAMA_3_8B = GATED | {"layers": 32, "hidden": 4096, "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "vocab": 128256}
LLAMA_3_70B = GATED | {"layers": 80, "hidden": 8192, "ffn_hidden": 28672, "heads": 64, "kv_heads": 8, "vocab": 128256}
LLAMA_3_405B = GATED | {
    "layers": 126, "hidden": 16384, "ffn_hidden": 53248, "heads": 128, "kv_heads": 8, "vocab": 128256,
}  # fmt: skip
# huggingface.co/Qwen/Qwen1.5-72B config.json; biases on query, key and value (modeling_qwen2.py)
QWEN_1_5_72B = GATED | {
    "layers": 80, "hidden": 8192, "ffn_hidden": 24576, "heads": 64, "vocab": 152064, "qkv_bias": True,
}  # fmt: skip
# huggingface.co/Qwen/Qwen3-4B config.json
QWEN_3_4B = {
    "layers": 36, "hidden": 2560, "ffn_hidden": 9728, "heads": 32, "kv_heads": 8, "head_dim": 128, "vocab": 151936,
    "gated_mlp": True, "tied_embeddings": True, "qk_norm": "head",
}  # fmt: skip
# huggingface.co/mistralai/Mixtral-8x7B-v0.1 config.json
MIXTRAL = GATED | {
    "layers": 32, "hidden": 4096, "heads": 32, "kv_heads": 8, "moe_ffn_hidden": 14336, "experts": 8,
    "experts_per_token": 2, "vocab": 32000,
}  # fmt: skip
# huggingface.co/Qwen/Qwen3-30B-A3B and Qwen3-235B-A22B config.json
QWEN_3_30B = GATED | {
    "layers": 48, "hidden": 2048, "heads": 32, "kv_heads": 4, "head_dim": 128, "moe_ffn_hidden": 768, "experts": 128,
    "experts_per_token": 8, "vocab": 151936, "qk_norm": "head",
}  # fmt: skip
QWEN_3_235B = GATED | {
    "layers": 94, "hidden": 4096, "heads": 64, "kv_heads": 4, "head_dim": 128, "moe_ffn_hidden": 1536, "experts": 128,
    "experts_per_token": 8, "vocab": 151936, "qk_norm": "head",
}  # fmt: skip
# huggingface.co/Qwen/Qwen1.5-MoE-A2.7B and Qwen2-57B-A14B config.json
QWEN_1_5_MOE = GATED | {
    "layers": 24, "hidden": 2048, "heads": 16, "experts": 60, "experts_per_token": 4, "moe_ffn_hidden": 1408,
    "shared_ffn_hidden": 5632, "shared_expert_gate": True, "qkv_bias": True, "vocab": 151936,
}  # fmt: skip
QWEN_2_57B = GATED | {
    "layers": 28, "hidden": 3584, "heads": 28, "kv_heads": 4, "experts": 64, "experts_per_token": 8,
    "moe_ffn_hidden": 2560, "shared_ffn_hidden": 20480, "shared_expert_gate": True, "qkv_bias": True, "vocab": 151936,
}  # fmt: skip
LATENT = GATED | {"mla": True, "kv_lora_rank": 512, "qk_nope_head_dim": 128, "qk_rope_head_dim": 64, "v_head_dim": 128}
# huggingface.co/deepseek-ai/DeepSeek-V2-Lite and DeepSeek-V3 config.json
DEEPSEEK_V2_LITE = LATENT | {
    "layers": 27, "hidden": 2048, "ffn_hidden": 10944, "heads": 16, "moe_ffn_hidden": 1408, "experts": 64,
    "experts_per_token": 6, "shared_ffn_hidden": 2816, "dense_layers": 1, "vocab": 102400,
}  # fmt: skip
DEEPSEEK_V3 = LATENT | {
    "layers": 61, "hidden": 7168, "ffn_hidden": 18432, "heads": 128, "q_lora_rank": 1536, "moe_ffn_hidden": 2048,
    "experts": 256, "experts_per_token": 8, "shared_ffn_hidden": 2048, "dense_layers": 3, "router_bias": True,
    "mtp_layers": 1, "mtp_own_embedding": True, "vocab": 129280,
}  # fmt: skip
# huggingface.co/openai/gpt-oss-120b config.json and model.py of the release
GPT_OSS_120B = GATED | {
    "layers": 36, "hidden": 2880, "heads": 64, "kv_heads": 8, "head_dim": 64, "moe_ffn_hidden": 2880, "experts": 128,
    "experts_per_token": 4, "vocab": 201088, "qkv_bias": True, "attention_output_bias": True, "expert_bias": True,
    "router_bias": True, "attention_sinks": True, "sliding_window": 128, "sliding_window_layers": 18,
}  # fmt: skip
# huggingface.co/bigscience/bloom config.json
BLOOM = PLAIN | BIASED | {
    "layers": 70, "hidden": 14336, "ffn_hidden": 57344, "heads": 112, "vocab": 250880, "embedding_norm": True,
}  # fmt: skip
# huggingface.co/allenai/OLMoE-1B-7B-0924 config.json
OLMOE = GATED | {
    "layers": 16, "hidden": 2048, "heads": 16, "moe_ffn_hidden": 1024, "experts": 64, "experts_per_token": 8,
    "vocab": 50304, "qk_norm": "projection",
}  # fmt: skip
# github.com/karpathy/llama2.c, stories42M
STORIES_42M = {
    "layers": 8, "hidden": 512, "ffn_hidden": 1376, "heads": 8, "vocab": 32000, "gated_mlp": True,
    "tied_embeddings": True,
}  # fmt: skip


def gpt(layers: int, hidden: int, heads: int, vocab: int = 51200, **facts: Any) -> Facts:
    """A GPT as in Narayanan et al. 2021: plain MLP of 4h, multi-head attention, tied embeddings."""
    return (
        PLAIN | {"layers": layers, "hidden": hidden, "ffn_hidden": 4 * hidden, "heads": heads, "vocab": vocab} | facts
    )


# Korthikanti et al. 2022 (arXiv:2205.05198), table 3
GPT_22B, GPT_175B = gpt(48, 6144, 64), gpt(96, 12288, 96)
GPT_530B, GPT_1T = gpt(105, 20480, 128), gpt(128, 25600, 160)
