"""Hugging Face config.json: the architecture of a model, never a fact of its training run."""

import re
from typing import Any

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.fields import truth, whole
from etl.importers.formats.huggingface import hf_counts, hf_layers, hf_windows
from etl.importers.formats.huggingface.hf_families import FAMILIES, OMITTED, TIED_ELSEWHERE
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find

NAME = "hf_config"

# Field -> the words model families use for it, in order of preference.
WORDS: dict[str, tuple[str, ...]] = {
    "layers": ("num_hidden_layers", "n_layer", "n_layers", "num_layers", "num_decoder_layers"),
    "hidden": ("hidden_size", "n_embd", "d_model", "model_dim"),
    "heads": ("num_attention_heads", "n_head", "n_heads", "num_heads", "encoder_attention_heads"),
    "kv_heads": ("num_key_value_heads", "num_kv_heads", "n_head_kv", "n_kv_heads", "attn_config.kv_n_heads"),
    "head_dim": ("head_dim", "d_kv", "attention_head_dim", "kv_channels"),
    "vocab": ("vocab_size",),
    "experts": (
        "num_experts", "num_local_experts", "n_routed_experts", "moe_num_experts",
        "ffn_config.moe_num_experts", "num_moe_experts",
    ),
    "experts_per_token": (
        "num_experts_per_tok", "num_experts_per_token", "experts_per_token", "top_k_experts", "moe_k", "moe_top_k",
        "ffn_config.moe_top_k", "moe_topk", "num_selected_experts",
    ),
    "moe_ffn_hidden": (
        "moe_intermediate_size", "ffn_config.ffn_hidden_size", "expert_ffn_hidden_size", "moe_ffn_hidden_size",
    ),
}  # fmt: skip
FFN = ("intermediate_size", "n_inner", "ffn_dim", "d_ff", "ffn_hidden_size", "d_inner")
NESTED = (
    "text_config",
    "llm_config",
    "language_config",
    "thinker_config.text_config",
    "language_model",
    "text_model_config",
)
_CLASS = re.compile(r"(?:ForCausalLM|LMHeadModel|ForConditionalGeneration|Model)$")
FOUR_TIMES = frozenset({"gpt2", "gpt_bigcode", "gptj", "codegen", "gpt_neo", "bloom", "falcon", "mpt"})


def detect(document: Document) -> float:
    """A JSON object that names a model type or architecture and has the words of one."""
    root = document.tree
    text = text_model(root)
    width = find(text, *WORDS["hidden"]) is not None
    depth = find(text, *WORDS["layers"]) is not None
    if "model_type" in root or "architectures" in root or "model_type" in text:
        return 0.95 if width or depth else 0.3
    return 0.5 if width and depth else 0.0


def text_model(root: Map) -> Map:
    """The part of a config that describes the language model: nested beside a vision model, or the whole."""
    for path in NESTED:
        hits = find(root, path)
        if hits is not None and isinstance(hits.value, Map) and find(hits.value, *WORDS["hidden"]):
            return hits.value
    return root


def family_of(root: Map, text: Map) -> str:
    """The model type; older files have another word for Falcon's, or only the name of a class."""
    word = str(text.get("model_type") or root.get("model_type") or "")
    classes = text.get("architectures") or root.get("architectures")
    if not word and isinstance(classes, list) and classes:
        name = _CLASS.sub("", str(classes[0])).lower()
        word = next((family for family in FAMILIES if family.replace("_", "") == name), "")
    return "falcon" if word in {"RefinedWeb", "RefinedWebModel"} else word


def read(document: Document, _companions: list[Document]) -> Reading:
    """Read the architecture of the text model."""
    root = document.tree
    text = text_model(root)
    reading = Reading(NAME)
    family = family_of(root, text)
    _state_words(reading, text)
    _latent(reading, text)
    for name, value in OMITTED.get(family, {}).items():
        reading.default(name, value, f"{family} configuration class: {name} = {value}")
    _query_groups(reading, text, family)
    _tying(reading, root, text, family)
    hf_layers.feed_forward(reading, text, family, _ffn_key(reading, text, family))
    if _has_attention(text, family):
        attention_defaults(reading, family or "transformers")
    else:
        reading.drop("heads", "kv_heads", "head_dim")
    hf_counts.describe(reading, text, family)
    hf_windows.describe(reading, text, family)
    return reading


def _state_words(reading: Reading, text: Map) -> None:
    for name, words in WORDS.items():
        hits = find(text, *words)
        if hits is None:
            continue
        value = hits.value
        if isinstance(value, list):  # one number per layer or per modality: a fact only when all agree
            value = value[0] if value and all(v == value[0] for v in value) else None
        reading.state(name, value, hits.key, hits.line)


def _latent(reading: Reading, text: Map) -> None:
    """Multi-head latent attention: the head size is not hidden/heads, head_dim may be the rotary part only."""
    if not whole(text.get("kv_lora_rank")):
        return
    reading.architecture["mla"] = True
    for key in ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
        reading.architecture[key] = whole(text.get(key)) or 0
    reading.drop("head_dim", "kv_heads")


def _query_groups(reading: Reading, text: Map, family: str) -> None:
    """Keys that only count under a switch: Falcon's and StarCoder's multi-query flag, ChatGLM's groups."""
    line = text.lines.get
    if truth(text.get("multi_query_attention")) and text.get("multi_query_group_num"):
        reading.state("kv_heads", text["multi_query_group_num"], "multi_query_group_num", line("multi_query_group_num"))
    elif family == "falcon" and not truth(text.get("new_decoder_architecture", "n_head_kv" in text)):
        many = truth(text.get("multi_query", True))
        reading.drop("kv_heads")
        reading.state("kv_heads", 1 if many else reading.get("heads"), "multi_query", line("multi_query"))
    elif family == "gpt_bigcode" and truth(text.get("multi_query", True)):
        reading.state("kv_heads", 1, "multi_query", line("multi_query"))
    elif family == "mpt" and "multiquery" in str(find(text, "attn_config.attn_type")):
        reading.state("kv_heads", 1, "attn_config.attn_type", line("attn_config"))


def _tying(reading: Reading, root: Map, text: Map, family: str) -> None:
    statements = [
        (part, part["tie_word_embeddings"])
        for part in (text, root)
        if truth(part.get("tie_word_embeddings")) is not None
    ]
    if len({truth(value) for _, value in statements}) > 1:
        reading.warn("conflicting-keys", "tie_word_embeddings differs between the text model and the whole")
    elif statements:
        part, value = statements[0]
        reading.state("tied_embeddings", value, "tie_word_embeddings", part.lines.get("tie_word_embeddings"))
    else:
        known = FAMILIES.get(family)
        tied = known.tied if known else TIED_ELSEWHERE.get(family)
        if tied is not None:
            reading.default("tied_embeddings", tied, f"transformers: {family} ties when silent = {tied}")


def _ffn_key(reading: Reading, text: Map, family: str) -> tuple[Any, str | None, int | None]:
    """(width of the dense FFN key, key, line); the key is None when the width is the framework's 4 * hidden."""
    hits = find(text, *FFN)
    hidden = reading.get("hidden") or 0
    if hits is not None and not isinstance(hits.value, Map):
        value = hits.value
        if isinstance(value, list):
            value = value[0] if value and all(v == value[0] for v in value) else None
        return value, hits.key, hits.line
    if family == "mpt":
        return (
            int((text.get("expansion_ratio") or 4) * hidden),
            "expansion_ratio" if "expansion_ratio" in text else None,
            None,
        )
    return (4 * hidden if family in FOUR_TIMES else None), None, None


def _has_attention(text: Map, family: str) -> bool:
    pattern = str(text.get("hybrid_override_pattern") or "*")
    return "*" in pattern and family not in {"mamba", "mamba2", "falcon_mamba", "rwkv"}
