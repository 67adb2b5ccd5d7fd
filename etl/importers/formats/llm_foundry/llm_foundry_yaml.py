"""llm-foundry YAML: OmegaConf variables, durations in batches, MPT defaults."""

from etl.importers import fields
from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import (
    Table,
    agree,
    duration,
    number,
    remark_devices,
    state,
    state_all,
    truth,
    warn_repeated,
    word,
)

NAME = "llm_foundry_yaml"

RUN: Table = {
    "global_batch": ("global_train_batch_size", "parameters.global_train_batch_size"),
    "micro_batch": ("device_train_microbatch_size",),
    "precision": ("precision",),
}
# field -> keys of an MPT model written out; a `hf_causal_lm` is only a hub name.
MPT: Table = {
    "layers": ("model.n_layers", "model.n_layer"),
    "hidden": ("model.d_model",),
    "heads": ("model.n_heads",),
    "vocab": ("model.vocab_size",),
    "kv_heads": ("model.attn_config.kv_n_heads",),
    "tied_embeddings": ("model.tie_word_embeddings",),
    "experts": ("model.ffn_config.moe_num_experts",),
    "experts_per_token": ("model.ffn_config.moe_top_k",),
}
SHARDING = {"full_shard": 3, "hybrid_shard": 3, "_hybrid_shard_zero2": 2, "shard_grad_op": 2, "no_shard": 0}
NORMS = ("", "layernorm", "rmsnorm")
DURATIONS = ("max_duration", "parameters.max_duration")


def detect(document: Document) -> float:
    """Composer's `max_duration` beside a train loader and a model with a name."""
    tree = document.tree
    marks = (
        "max_duration",
        "train_loader",
        "model.name",
        "fsdp_config",
        "global_train_batch_size",
        "variables",
        "tokenizer.kwargs",
        "device_train_microbatch_size",
        "algorithms",
        "console_log_interval",
    )
    if find(tree, "trainer", "parallelism"):
        return 0.0
    count = sum(find(tree, m) is not None for m in marks)
    return 0.0 if count < 3 else min(0.95, 0.25 + 0.15 * count)


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    state_all(reading, tree, RUN)
    warn_repeated(reading, tree)
    agree(
        reading,
        "seq_len",
        [find(tree, "max_seq_len"), find(tree, "model.max_seq_len"), find(tree, "train_loader.dataset.max_seq_len")],
    )
    if word(tree, "model.name") in {"mpt_causal_lm", "mosaic_gpt"}:
        state_all(reading, tree, MPT)
        _width(reading, tree)
        reading.default("tied_embeddings", True, "MPT: tie_word_embeddings true")
        _grouping(reading, tree)
        attention_defaults(reading, "MPT")
        _architecture(reading, tree)
    _sharding(reading, tree)
    length = find(tree, *DURATIONS)
    end = duration(length.value) if length else None
    if length and end:
        reading.state("train_steps" if end[0] == "steps" else "tokens", end[1], length.key, length.line)
    remark_devices(reading, document)
    return reading


def _grouping(reading: Reading, tree: Map) -> None:
    if word(tree, "model.attn_config.attn_type") == "multiquery_attention":
        state(reading, "kv_heads", find(tree, "model.attn_config.attn_type"), 1)


def _width(reading: Reading, tree: Map) -> None:
    """ffn_config.ffn_hidden_size, or expansion_ratio * d_model (ratio 4 when absent)."""
    stated, hidden = find(tree, "model.ffn_config.ffn_hidden_size"), reading.get("hidden")
    field = "moe_ffn_hidden" if (reading.get("experts") or 0) > 1 else "ffn_hidden"
    ratio = number(tree, "model.expansion_ratio", "model.mlp_ratio")
    if stated is not None:
        state(reading, field, stated)
    elif hidden and ratio is not None:
        state(reading, field, find(tree, "model.expansion_ratio", "model.mlp_ratio"), fields.number(ratio * hidden))
    elif hidden:
        reading.default(field, 4 * hidden, "MPT: expansion_ratio 4")


def _sharding(reading: Reading, tree: Map) -> None:
    """Stage and recomputation stand in `fsdp_config`; Composer shards fully unless configured otherwise."""
    config = find(tree, "fsdp_config", "parallelism_config.fsdp")
    if config is None or not isinstance(config.value, Map):
        return
    strategy, recompute = find(config.value, "sharding_strategy"), truth(config.value, "activation_checkpointing")
    if strategy is not None:
        state(reading, "zero_stage", strategy, SHARDING.get(str(strategy.value).lower(), "unknown"))
    elif len(config.value):
        reading.default("zero_stage", 3, "Composer: sharding_strategy FULL_SHARD")
    if recompute is not None:
        state(reading, "recompute", find(config.value, "activation_checkpointing"), "full" if recompute else "none")
    elif len(config.value):
        reading.default("recompute", "none", "Composer: activation_checkpointing false")


def _architecture(reading: Reading, tree: Map) -> None:
    """MPT: biases and learned positions unless switched off, two-matrix FFN."""
    kind, norm = word(tree, "model.ffn_config.ffn_type"), word(tree, "model.norm_type")
    normed = truth(tree, "model.attn_config.qk_ln", "model.attn_config.qk_gn")
    if kind not in {"", "mptmlp", "mptglu"} or normed or norm.removeprefix("low_precision_") not in NORMS:
        return
    bias = 0 if truth(tree, "model.no_bias") else 1
    elsewhere = truth(tree, "model.attn_config.alibi", "model.alibi") or truth(tree, "model.attn_config.rope")
    learned = truth(tree, "model.learned_pos_emb") is not False and not elsewhere
    positions = number(tree, "model.max_seq_len", "max_seq_len") or 2048
    reading.architecture.update(
        complete=True, gated_mlp=kind == "mptglu", learned_positions=positions if learned else 0
    )
    reading.architecture.update(qkv_bias=bias, attention_output_bias=bias, mlp_bias=bias)
    reading.architecture["norm_vectors"] = 1 if "rms" in norm else 1 + bias
