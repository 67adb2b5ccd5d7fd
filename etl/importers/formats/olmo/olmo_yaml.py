"""OLMo (first version) YAML: batches in sequences, FFN widths that count gate and up together."""

from etl.importers import fields
from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, duration, number, state, state_all, truth, warn_repeated, word

NAME = "olmo_yaml"

KEYS: Table = {
    "layers": ("model.n_layers",),
    "hidden": ("model.d_model",),
    "heads": ("model.n_heads",),
    "kv_heads": ("model.n_kv_heads",),
    "vocab": ("model.vocab_size",),
    "tied_embeddings": ("model.weight_tying",),
    "experts": ("model.moe_num_experts",),
    "experts_per_token": ("model.moe_top_k",),
    "seq_len": ("model.max_sequence_length",),
    "global_batch": ("global_train_batch_size",),
    "micro_batch": ("device_train_microbatch_size",),
    "precision": ("precision",),
}
SHARDING = {"full_shard": 3, "hybrid_shard": 3, "_hybrid_shard_zero2": 2, "shard_grad_op": 2, "no_shard": 0}


def detect(document: Document) -> float:
    """OLMo names `model.d_model` beside `device_train_microbatch_size` or `max_sequence_length` at the top."""
    tree = document.tree
    if not find(tree, "model.d_model") or find(
        tree, "variables", "model.expansion_ratio", "model.attn_config", "train_loader"
    ):
        return 0.0
    marks = (
        "model.weight_tying",
        "model.activation_type",
        "model.block_type",
        "model.mlp_ratio",
        "device_train_microbatch_size",
        "fsdp",
    )
    return min(0.95, 0.3 * sum(find(tree, m) is not None for m in marks))


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; most of its length is data paths."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    state_all(reading, tree, KEYS)
    warn_repeated(reading, tree)
    if truth(tree, "model.multi_query_attention"):
        state(reading, "kv_heads", find(tree, "model.multi_query_attention"), 1)
    reading.default("tied_embeddings", True, "OLMo: weight_tying true") if reading.get("layers") else None
    _width(reading, tree)
    _sharding(reading, tree)
    recompute = word(tree, "activation_checkpointing")
    if recompute in {"whole_layer", "true"}:
        state(reading, "recompute", find(tree, "activation_checkpointing"), "full")
    elif recompute in {"", "false", "none"}:
        reading.default("recompute", "none", "OLMo: no activation_checkpointing")
    _end(reading, tree)
    attention_defaults(reading, "OLMo")
    _architecture(reading, tree)
    return reading


def _end(reading: Reading, tree: Map) -> None:
    """`max_duration`, unless `stop_at` (steps) comes before it or it counts epochs."""
    length, stop = find(tree, "max_duration"), find(tree, "stop_at")
    end, steps = duration(length.value) if length else None, number(tree, "stop_at")
    per_step = (reading.get("global_batch") or 0) * (reading.get("seq_len") or 0)
    if stop is not None and steps:
        if length is not None:
            reading.warn("two-ends", "max_duration and stop_at are both set; the earlier one is reported")
        last = None if end is None else end[1] if end[0] == "steps" else end[1] / per_step if per_step else 0
        if last is None or steps < last:
            state(reading, "train_steps", stop)
            return
    if length and end:
        reading.state("train_steps" if end[0] == "steps" else "tokens", end[1], length.key, length.line)


def _gated(tree: Map) -> bool:
    """OLMo's activation is swiglu unless another one is named."""
    return word(tree, "model.activation_type") in {"", "swiglu"}


def _width(reading: Reading, tree: Map) -> None:
    """`mlp_hidden_size`, or d_model * mlp_ratio, counts gate and up of a gated FFN together."""
    hidden, place = reading.get("hidden"), find(tree, "model.mlp_hidden_size")
    total = number(tree, "model.mlp_hidden_size")
    if total is None and hidden:
        place, ratio = find(tree, "model.mlp_ratio"), number(tree, "model.mlp_ratio")
        total = hidden * (4 if ratio is None else ratio)
    if not total or not hidden:
        return
    width = fields.number(total / 2 if _gated(tree) else total)
    field = "moe_ffn_hidden" if (reading.get("experts") or 0) > 1 else "ffn_hidden"
    if place is not None:
        state(reading, field, place, width)
    else:
        reading.default(field, width, "OLMo: mlp_ratio 4")


def _sharding(reading: Reading, tree: Map) -> None:
    """A `fsdp` block without a strategy shards fully; `distributed_strategy: ddp` does not shard."""
    strategy = find(tree, "fsdp.sharding_strategy")
    if word(tree, "distributed_strategy") in {"ddp", "single"}:
        state(reading, "zero_stage", find(tree, "distributed_strategy"), 0)
    elif strategy is not None:
        state(reading, "zero_stage", strategy, SHARDING.get(str(strategy.value).lower(), "unknown"))
    elif isinstance(tree.get("fsdp"), Map):
        reading.default("zero_stage", 3, "OLMo: sharding_strategy FULL_SHARD")


def _architecture(reading: Reading, tree: Map) -> None:
    """What the parameter count needs: embedding rows as padded, norms with or without weights, no biases."""
    rows, kind = number(tree, "model.embedding_size"), word(tree, "model.layer_norm_type")
    biased = truth(tree, "model.include_bias") is not False
    if reading.get("experts") or biased or truth(tree, "model.rope") is not True or not reading.get("ffn_hidden"):
        return
    if kind not in {"", "default", "low_precision", "rms"} or word(tree, "model.block_type") not in {
        "",
        "sequential",
        "llama",
    }:
        return
    affine = truth(tree, "model.layer_norm_with_affine")
    bias = kind != "rms" and truth(tree, "model.bias_for_layer_norm") is True
    weights = 0 if affine is False else 2 if bias else 1
    reading.architecture.update(complete=True, gated_mlp=_gated(tree), norm_vectors=weights, rows=rows)
    if truth(tree, "model.attention_layer_norm"):
        with_weights = truth(tree, "model.attention_layer_norm_with_affine") is not False
        reading.architecture["qk_norm"] = "projection" if with_weights else "none"
