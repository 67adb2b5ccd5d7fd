"""MindFormers YAML: anchors, two vocabularies for the model, a batch that is a product of four keys."""

import re
from math import prod

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, agree, comment_blocks, number, state, state_all, truth, warn_repeated, word

NAME = "mindformers_yaml"

M = "model.model_config."
KEYS: Table = {
    "layers": (M + "num_hidden_layers", M + "num_layers"),
    "hidden": (M + "hidden_size",),
    "heads": (M + "num_attention_heads", M + "num_heads"),
    "kv_heads": (M + "num_key_value_heads", M + "n_kv_heads", M + "multi_query_group_num"),
    "head_dim": (M + "head_dim",),
    "vocab": (M + "vocab_size",),
    "precision": (M + "compute_dtype",),
    "dp": ("parallel_config.data_parallel",),
    "tp": ("parallel_config.model_parallel",),
    "pp": ("parallel_config.pipeline_stage",),
    "cp": ("parallel_config.context_parallel",),
    "ep": ("parallel_config.expert_parallel",),
    "micro_batch": ("runner_config.batch_size",),
    "vpp": ("parallel_config.pp_interleave_num", M + "pp_interleave_num"),
}
MOE: Table = {
    "experts": ("moe_config.expert_num", M + "n_routed_experts", M + "num_experts", "moe_config.n_routed_experts"),
    "experts_per_token": ("moe_config.num_experts_chosen", M + "num_experts_per_tok", "moe_config.num_experts_per_tok"),
    "shared_experts": ("moe_config.shared_expert_num", M + "n_shared_experts"),
    "moe_ffn_hidden": ("moe_config.moe_intermediate_size", M + "moe_intermediate_size"),
}
RANKS = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")
WIDTHS = (M + "intermediate_size",)
UNTIED_TYPES = ("llamaconfig", "deepseekv3config", "deepseekv2config")
_DEVICE_NOTE = re.compile(
    r"device[ _]?num\w*\s*(?:of|is|=|:)?\s*=?\s*(\d{1,6})|(\d{1,6})\s*(?:devices|cards|NPUs)", re.I
)


def detect(document: Document) -> float:
    """`runner_config` beside `parallel_config` and a model under `model.model_config`."""
    marks = (
        "runner_config",
        "parallel_config",
        "model.model_config",
        "train_dataset",
        "runner_wrapper",
        "context.device_target",
    )
    count = sum(find(document.tree, m) is not None for m in marks)
    return 0.0 if count < 3 else min(0.95, 0.2 * count)


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    state_all(reading, tree, KEYS)
    for field in ("tp", "pp", "cp"):
        if find(tree, "parallel_config"):
            reading.default(field, 1, "MindFormers: parallel sizes are 1")
    agree(reading, "seq_len", [find(tree, M + "seq_length"), find(tree, "train_dataset.data_loader.config.seq_length")])
    _experts(reading, tree)
    _model(reading, tree)
    _batch(reading, tree)
    sharded = truth(tree, "parallel.enable_parallel_optimizer")
    if sharded is not None:
        state(reading, "zero_stage", find(tree, "parallel.enable_parallel_optimizer"), int(sharded))
    _recompute(reading, tree)
    _note(reading, document)
    return reading


def _experts(reading: Reading, tree: Map) -> None:
    count = number(tree, *MOE["experts"])
    if not count or count <= 1:
        return
    state_all(reading, tree, MOE)
    if reading.get("moe_ffn_hidden") is None:
        state(reading, "moe_ffn_hidden", find(tree, *WIDTHS))


def _model(reading: Reading, tree: Map) -> None:
    """Widths, tying and attention; a dense width beside experts stays only where the first layers are dense."""
    experts = reading.get("experts")
    dense = number(tree, "moe_config.first_k_dense_replace", M + "first_k_dense_replace")
    reading.architecture["mla"] = bool(number(tree, M + "kv_lora_rank"))
    if not experts or dense:
        state(reading, "ffn_hidden", find(tree, *WIDTHS))
        _default_width(reading, tree)
    untied, tied = find(tree, M + "untie_embeddings_and_output_weights"), find(tree, M + "tie_word_embeddings")
    if tied is not None:
        state(reading, "tied_embeddings", tied)
    elif untied is not None:
        state(reading, "tied_embeddings", untied, not truth(tree, untied.key))
    elif word(tree, M + "type") in UNTIED_TYPES:
        reading.default("tied_embeddings", False, "MindFormers: tie_word_embeddings false")
    attention_defaults(reading, "MindFormers")
    _architecture(reading, tree)


def _default_width(reading: Reading, tree: Map) -> None:
    """A Llama block without a width: two thirds of 4h up to a multiple of `multiple_of`."""
    hidden, multiple = reading.get("hidden"), number(tree, M + "multiple_of")
    if word(tree, M + "type") != "llamaconfig" or not hidden or not multiple or find(tree, M + "ffn_dim_multiplier"):
        return
    width = -(-int(2 * 4 * hidden / 3) // int(multiple)) * int(multiple)
    reading.default("ffn_hidden", width, "MindFormers: 8h/3 up to multiple_of")


def _architecture(reading: Reading, tree: Map) -> None:
    """A Llama block, or Qwen3 with a norm per head on queries and keys."""
    if word(tree, M + "type") == "deepseekv3config" and reading.architecture["mla"]:
        _latent(reading, tree)
        return
    kind = f"{word(tree, M + 'type')} {word(tree, M + 'model_type')}"
    known = "llamaconfig" in kind or "qwen3" in kind.split()
    odd = truth(tree, M + "qkv_has_bias") or truth(tree, M + "attention_bias") or truth(tree, M + "add_bias_linear")
    if not known or odd or reading.architecture.get("mla") or reading.get("tied_embeddings") is None:
        return
    if (
        reading.get("shared_experts")
        or number(tree, "moe_config.first_k_dense_replace")
        or not (reading.get("ffn_hidden") or reading.get("moe_ffn_hidden"))
    ):
        return
    norm = "head" if truth(tree, M + "qk_layernorm") or "qwen3" in kind else "none"
    reading.architecture.update(complete=True, gated_mlp=True, qk_norm=norm)


def _latent(reading: Reading, tree: Map) -> None:
    """DeepSeek-V3: latent attention, dense layers first, a bias per router that is balanced by biases."""
    ranks = {r: number(tree, M + r) for r in RANKS}
    if all(ranks.values()) and reading.get("moe_ffn_hidden"):
        dense = number(tree, "moe_config.first_k_dense_replace") or 0
        biased = bool(truth(tree, "moe_config.balance_via_topk_bias"))
        reading.architecture.update(ranks, complete=True, gated_mlp=True, dense_layers=dense, router_bias=biased)


def _batch(reading: Reading, tree: Map) -> None:
    """batch_size * dp * micro_batch_num * interleave; without a pipeline a number of micro batches leaves it open."""
    parts = [number(tree, k) for k in ("runner_config.batch_size", "parallel_config.data_parallel")]
    pieces = number(tree, "parallel_config.micro_batch_num") or 1
    repeat = (number(tree, "micro_batch_interleave_num") or 1) * (
        number(tree, "runner_config.gradient_accumulation_steps") or 1
    )
    if reading.get("pp") == 1 and pieces != 1:
        return
    if all(p and p > 0 for p in parts):
        state(
            reading,
            "global_batch",
            find(tree, "runner_config.batch_size"),
            int(prod(p for p in parts if p) * pieces * repeat),
        )


def _recompute(reading: Reading, tree: Map) -> None:
    whole, some = find(tree, "recompute_config.recompute"), find(tree, "recompute_config.select_recompute")
    if whole is not None and truth(tree, whole.key):
        state(reading, "recompute", whole, "full")
    elif some is not None and (truth(tree, some.key) or isinstance(some.value, list)):
        state(reading, "recompute", some, "selective")
    elif whole is not None and truth(tree, whole.key) is False:
        state(reading, "recompute", whole, "none")


def _note(reading: Reading, document: Document) -> None:
    """A comment above `parallel_config` that names another number of devices than the product."""
    ways = [reading.get(f) for f in ("dp", "tp", "pp", "cp")]
    at = document.tree.lines.get("parallel_config", 0)
    if not all(ways):
        return
    product = prod(w for w in ways if w)
    for line, text in comment_blocks(document):
        match = _DEVICE_NOTE.search(text)
        if match and line < at <= line + text.count("\n") + 6:
            named_devices = int(match.group(1) or match.group(2))
            if named_devices != product:
                reading.warn(
                    "comment-disagrees",
                    f"the comment on line {line} says {named_devices} devices, the degrees multiply to {product}",
                )
