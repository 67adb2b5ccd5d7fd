"""Hand a Hugging Face architecture to the parameter counter, and the parts it has beyond a plain decoder.

Sources: the modelling code of the transformers library (4.5x), one class per family; every rule is checked against a
published total.
"""

from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import number, truth, whole
from etl.importers.formats.huggingface.hf_families import FAMILIES
from etl.importers.read.trees import Map, find

ALWAYS_BALANCED = frozenset({"deepseek_v3", "deepseek_v32", "kimi_k2", "glm4_moe_lite", "glm_moe_dsa", "ernie4_5_moe"})
POSITIONS = {"gpt2": ("n_positions", 0), "gpt_bigcode": ("n_positions", 0), "gpt_neo": ("max_position_embeddings", 0)}


def describe(reading: Reading, text: Map, family: str) -> None:
    """Fill `reading.architecture` for the counter; it is marked complete only where the count is exact."""
    arch = reading.architecture
    unmodelled = _not_modelled(text, family)
    if unmodelled:
        arch["not_modelled"] = unmodelled
    if isinstance(text.get("hybrid_override_pattern"), str) and family == "nemotron_h":
        arch["total"], arch["active"] = _nemotron_h(reading, text)
        return
    if family in {"nemotron-nas", "deci"} and arch.get("blocks"):
        arch["total"] = _nemotron_nas(reading, arch["blocks"])
        return
    known = FAMILIES.get(family)
    if known is None or arch.get("shared_unclear"):
        return
    arch.update(known.traits)
    for name, (key, default) in known.switches.items():
        arch[name] = bool(truth(text.get(key, default)))
    arch["complete"] = _place_experts(reading) and _quirks(arch, reading, text, family)


STATE_SPACE = ("mamba", "jamba", "bamba", "zamba", "falcon_h1", "nemotron_h", "granitemoehybrid", "rwkv", "plamo2")


def _not_modelled(text: Map, family: str) -> str | None:
    """Layers that no architecture field describes; None where there are none."""
    kinds = text.get("layer_types")
    if family.startswith(STATE_SPACE) or "mamba" in family:
        return "state-space layers"
    if family != "qwen3_next" and isinstance(kinds, list) and "linear_attention" in kinds:
        return "linear attention"
    if family.startswith("minimax") and "attn_type_list" in text:
        return "lightning attention"
    return None


def _place_experts(reading: Reading) -> bool:
    """Express the list of MoE layers as the counter's two numbers; False when they cannot say it."""
    arch = reading.architecture
    if not (reading.get("experts") or 0) > 1:
        return True
    marks = arch.get("moe_pattern")
    if not marks or True not in marks:
        return False
    for step in range(1, 9):
        for dense in {0, marks.index(True), max(0, marks.index(True) + 1 - step)}:
            if [i >= dense and (i - dense + 1) % step == 0 for i in range(len(marks))] == marks:
                arch["dense_layers"], arch["moe_layer_step"] = dense, step
                return True
    return False


def _quirks(arch: dict[str, Any], reading: Reading, text: Map, family: str) -> bool:
    """Family rules that no table holds; returns whether the description is still exact."""
    arch["more"] = 0
    rules = {"falcon": _falcon, "mpt": _mpt, "opt": _opt, "qwen3_next": _qwen3_next, "gpt_neox": _neox}
    if family in rules and not rules[family](arch, reading, text):
        return False
    if family in POSITIONS:
        key, extra = POSITIONS[family]
        arch["learned_positions"] = (whole(text.get(key)) or 0) + extra
    if family in {"cohere", "cohere2"} and truth(text.get("use_qk_norm", False)):
        arch["qk_norm"] = "projection"
    if family == "glm4_moe" and truth(text.get("use_qk_norm", False)):
        arch["qk_norm"] = "head"
    if family == "phi" and truth(text.get("qk_layernorm", False)):
        return False
    if family == "minimax_m2" and not truth(text.get("use_qk_norm", True)):
        arch["qk_norm"] = "none"
    _router(arch, text, family)
    _indexer(arch, text)
    _chunks(arch, reading, text, family)
    plain = "indexer_types" not in text and "num_attention_heads_per_layer" not in text
    return plain and (family == "qwen3_next" or "linear_attention" not in (text.get("layer_types") or []))


def _router(arch: dict[str, Any], text: Map, family: str) -> None:
    """One bias per routed expert where the checkpoint balances load without an auxiliary loss."""
    switch = find(text, "use_routing_bias", "moe_use_aux_free")
    if family in ALWAYS_BALANCED or text.get("topk_method") == "noaux_tc" or (switch and truth(switch.value)):
        arch["router_bias"] = True


def _indexer(arch: dict[str, Any], text: Map) -> None:
    """DeepSeek sparse attention, per layer: projections, a norm with bias and head weights (arXiv:2512.02556)."""
    heads, width = whole(text.get("index_n_heads")), whole(text.get("index_head_dim"))
    if heads and width and arch.get("mla"):
        arch.update(index_heads=heads, index_head_dim=width, index_topk=whole(text.get("index_topk")) or 0)


def _chunks(arch: dict[str, Any], reading: Reading, text: Map, family: str) -> None:
    """Llama 4 attends within chunks, except in the layers without rotary positions, every fourth unless listed."""
    size, layers = whole(text.get("attention_chunk_size")), reading.get("layers")
    if family.startswith("llama4") and size and layers:
        listed = text.get("no_rope_layers")
        rotary = sum(map(bool, listed)) if isinstance(listed, list) and listed else layers - layers // 4
        arch.update(attention_chunk=size, attention_chunk_layers=rotary)


def _falcon(arch: dict[str, Any], reading: Reading, text: Map) -> bool:
    """One norm per parallel block, two in the newer decoder with query groups or without the parallel block."""
    newer, parallel = (
        truth(text.get("new_decoder_architecture", "n_head_kv" in text)),
        truth(text.get("parallel_attn", True)),
    )
    norms = whole(text.get("num_ln_in_parallel_attn")) or (2 if newer else 1)
    arch["norms_per_layer"] = norms if parallel else 2
    return reading.get("kv_heads") is not None


def _mpt(arch: dict[str, Any], reading: Reading, text: Map) -> bool:
    biased = not truth(text.get("no_bias", False))
    arch.update(qkv_bias=biased, attention_output_bias=biased, mlp_bias=biased, norm_vectors=2 if biased else 1)
    alibi = find(text, "attn_config.alibi")
    if truth(text.get("learned_pos_emb", True)) and not (alibi and truth(alibi.value)):
        arch["learned_positions"] = whole(text.get("max_seq_len")) or 0
    return bool(reading.get("vocab"))


def _opt(arch: dict[str, Any], reading: Reading, text: Map) -> bool:
    """OPT numbers positions from 2; the 350M model projects its embeddings and is left out."""
    length = whole(text.get("max_position_embeddings"))
    arch["learned_positions"] = (length or 0) + 2
    arch["final_norm"] = bool(truth(text.get("do_layer_norm_before", True)))
    return length is not None and text.get("word_embed_proj_dim", reading.get("hidden")) == reading.get("hidden")


def _neox(arch: dict[str, Any], reading: Reading, text: Map) -> bool:
    return reading.get("vocab") is not None and "linear_attention" not in arch and text.get("hidden_act") != "swiglu"


def _qwen3_next(arch: dict[str, Any], reading: Reading, text: Map) -> bool:
    """Gated delta-rule layers in place of most attention, and an output gate as wide as the queries in the rest."""
    layers = reading.get("layers") or 0
    every, kinds = whole(text.get("full_attention_interval")) or 4, text.get("layer_types")
    full = kinds.count("full_attention") if isinstance(kinds, list) and kinds else layers // every
    keys = [
        whole(text.get(f"linear_{n}")) or 0
        for n in ("num_key_heads", "key_head_dim", "num_value_heads", "value_head_dim")
    ]
    names = ("linear_key_heads", "linear_key_dim", "linear_value_heads", "linear_value_dim")
    arch.update(dict(zip(names, keys, strict=True)), linear_layers=layers - full, attention_gate=True)
    arch["linear_conv"] = whole(text.get("linear_conv_kernel_dim")) or 4
    return all(keys)


def _nemotron_h(reading: Reading, text: Map) -> tuple[int | None, int | None]:
    """Mamba-2, attention, squared-ReLU MLP and expert blocks, each behind one norm (arXiv:2504.03624, sec. 2).

    (total, active); None when a width is missing, or where projection biases or latent experts make it another model.
    """
    pattern = str(text["hybrid_override_pattern"])
    hidden, vocab, tied = reading.get("hidden"), reading.get("vocab"), reading.get("tied_embeddings")
    if (
        not hidden
        or not vocab
        or tied is None
        or any(truth(text.get(k)) for k in ("use_bias", "attention_bias", "mlp_bias", "mamba_proj_bias"))
    ):
        return None, None
    sizes = {
        "M": _mamba2(text, hidden),
        "*": _plain_attention(reading, hidden),
        "-": 2 * hidden * (reading.get("ffn_hidden") or 0),
    }
    outside = vocab * hidden * (1 if tied else 2) + hidden
    experts = pattern.count("E") * (_nemotron_experts(reading, text, hidden) or 0)
    blocks = sum(sizes.get(c) or 0 for c in pattern) + hidden * sum(c in "M*-E" for c in pattern)
    if any(not sizes[c] for c in set(pattern) & set(sizes)) or ("E" in pattern and not experts):
        return None, None
    idle = pattern.count("E") * ((reading.get("experts") or 0) - (reading.get("experts_per_token") or 0))
    total = outside + blocks + experts
    return total, total - idle * 2 * hidden * (reading.get("moe_ffn_hidden") or 0) if "E" in pattern else None


def _mamba2(text: Map, hidden: int) -> int | None:
    """Input projection, convolution with bias, A, D and time-step bias per head, gated norm, output projection."""
    heads, size = whole(text.get("mamba_num_heads")), whole(text.get("mamba_head_dim"))
    groups, state, kernel = (
        whole(text.get("n_groups")),
        whole(text.get("ssm_state_size")),
        whole(text.get("conv_kernel")),
    )
    if not (heads and size and groups and state and kernel):
        return None
    inner = heads * size
    convolved = inner + 2 * groups * state
    bias = convolved if truth(text.get("use_conv_bias", True)) else 0
    return hidden * (inner + convolved + heads) + convolved * kernel + bias + 3 * heads + inner + inner * hidden


def _plain_attention(reading: Reading, hidden: int) -> int:
    return 2 * hidden * (reading.get("head_dim") or 0) * ((reading.get("heads") or 0) + (reading.get("kv_heads") or 0))


def _nemotron_experts(reading: Reading, text: Map, hidden: int) -> int | None:
    """Router with its bias, routed and shared two-matrix experts of one block; None for latent experts."""
    experts, width = reading.get("experts"), reading.get("moe_ffn_hidden")
    shared = whole(text.get("moe_shared_expert_intermediate_size"))
    if not experts or not width or shared is None or truth(text.get("moe_latent_size")):
        return None
    shared *= whole(text.get("n_shared_experts")) or 1
    return int(experts * (hidden + 1) + 2 * hidden * (experts * width + shared))


def _nemotron_nas(reading: Reading, blocks: list[Map]) -> int | None:
    """Blocks found by search: each has its own groups and FFN multiple, or neither and no norm (arXiv:2411.19146).

    FFN width = 2/3 * multiple * hidden, up to a multiple of 256.
    """
    hidden, heads, vocab, tied = (reading.get(n) for n in ("hidden", "heads", "vocab", "tied_embeddings"))
    if not hidden or not heads or not vocab or tied is None or len(blocks) != reading.get("layers"):
        return None
    total = vocab * hidden * (1 if tied else 2) + hidden
    for block in blocks:
        attention, ffn = block.get("attention"), block.get("ffn")
        if not isinstance(attention, dict) or not isinstance(ffn, dict):
            return None
        if truth(attention.get("replace_with_linear")) or truth(ffn.get("replace_with_linear")):
            return None
        if not truth(attention.get("no_op")):
            group = whole(attention.get("n_heads_in_group"))
            if not group:
                return None
            total += 2 * hidden * hidden + 2 * hidden * (hidden // heads) * (heads // group) + hidden
        if not truth(ffn.get("no_op")):
            multiple = number(ffn.get("ffn_mult"))
            if not multiple:
                return None
            total += 3 * hidden * (-(-int(2 * multiple * hidden / 3) // 256) * 256) + hidden
    return int(total)
