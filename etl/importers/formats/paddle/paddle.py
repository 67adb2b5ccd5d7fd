"""PaddleNLP and ERNIE training arguments, JSON or YAML: degrees of parallelism, batches, a hub name."""

import re

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find, walk
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated, word

NAME = "paddle"

KEYS: Table = {
    "seq_len": ("max_seq_length", "max_seq_len"),
    "micro_batch": ("per_device_train_batch_size", "batch_size"),
    "global_batch": ("global_batch_size",),
    "tp": ("tensor_parallel_degree", "tensor_model_parallel_size"),
    "pp": ("pipeline_parallel_degree", "pipeline_model_parallel_size"),
    "vpp": ("virtual_pp_degree", "virtual_pipeline_model_parallel_size"),
    "cp": ("context_parallel_degree", "context_parallel_size"),
    "ep": ("expert_parallel_degree", "expert_model_parallel_size"),
    "train_steps": ("max_steps",),
    "layers": ("num_hidden_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "kv_heads": ("num_key_value_heads",),
    "ffn_hidden": ("intermediate_size",),
    "vocab": ("vocab_size",),
}
MODEL_KEYS = frozenset(
    {"num_hidden_layers", "hidden_size", "num_attention_heads", "num_key_value_heads", "intermediate_size",
     "vocab_size", "remove_tail_layer"}
)  # fmt: skip
GRANULARITY = {"full": "full", "full_attn": "selective", "core_attn": "selective"}
MARKS = (
    "per_device_train_batch_size",
    "tensor_parallel_degree",
    "pipeline_parallel_degree",
    "sharding",
    "sharding_parallel_degree",
    "unified_checkpoint",
    "model_name_or_path",
    "recompute",
    "max_steps",
    "virtual_pp_degree",
    "use_flash_attention",
    "fuse_attention_qkv",
    "amp_master_grad",
    "fuse_rope",
    "pipeline_parallel_config",
    "tensor_model_parallel_size",
)
PADDLE_ONLY = (
    "tensor_parallel_degree",
    "pipeline_parallel_degree",
    "sharding_parallel_degree",
    "unified_checkpoint",
    "virtual_pp_degree",
    "amp_master_grad",
    "pipeline_parallel_config",
    "tensor_parallel_config",
)


def detect(document: Document) -> float:
    """Paddle's degrees or checkpoint names, at the top or one level below."""
    tree = _flat(document.tree)
    if not any(k in tree for k in PADDLE_ONLY) or "data_parallel_shard_degree" in tree:
        return 0.0
    return min(0.9, 0.15 * sum(m in tree for m in MARKS))


def _flat(root: Map) -> Map:
    """Settings of the top and of nested `*_args` groups as one mapping; `model_config` stays apart."""
    tree = Map(root.line)
    for _, node in [n for n in walk(root) if n[0] == "" or n[0].endswith("_args")]:
        for key, value in node.items():
            if key not in tree:
                tree.put(key, value, node.lines.get(key, node.line))
    return tree


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file; the model's own config beside it gives the architecture."""
    reading, tree = Reading(NAME), _flat(document.tree)
    for other in companions:
        beside = _flat(other.tree) if other.kind in {"json", "yaml"} else Map()
        for key in MODEL_KEYS & beside.keys() - tree.keys():
            tree.put(key, beside[key], beside.lines.get(key, beside.line))
    warn_repeated(reading, document.tree)
    state_all(reading, tree, KEYS)
    tail, layers = fields.whole(tree.get("remove_tail_layer")), reading.get("layers") or 0
    if tail and tail < layers:
        state(reading, "layers", find(tree, "num_hidden_layers"), layers - tail)
    reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps")
    _sharding(reading, tree)
    _precision(reading, tree)
    _recompute(reading, tree)
    return reading


def _sharding(reading: Reading, tree: Map) -> None:
    """`stage2` is a stage; dp = sharding * data degrees where both are known."""
    stage = re.search(r"stage([123])", word(tree, "sharding"))
    if stage:
        state(reading, "zero_stage", find(tree, "sharding"), int(stage.group(1)))
    shard = number(tree, "sharding_parallel_degree", "sharding_parallel_size")
    data = number(tree, "data_parallel_degree", "data_parallel_size")
    if shard and data and shard > 0 and data > 0:
        state(reading, "dp", find(tree, "sharding_parallel_degree", "sharding_parallel_size"), int(shard * data))


def _precision(reading: Reading, tree: Map) -> None:
    """A switch, or the name of a compute type; fp8 switches may hide in `model_config`."""
    hidden = find(tree, "model_config.fp8", "model_config.use_fp8", "model_config.fp8_mlp", "use_fp8")
    if hidden is not None and truth(tree, hidden.key):
        state(reading, "precision", hidden, "fp8")
    elif word(tree, "compute_type") in {"fp8", "bf16", "fp16"}:
        state(reading, "precision", find(tree, "compute_type"))
    else:
        for key in ("bf16", "fp16"):
            if truth(tree, key):
                state(reading, "precision", find(tree, key), key)
                return


def _recompute(reading: Reading, tree: Map) -> None:
    """The switch decides; the granularity only says which kind."""
    switch = truth(tree, "recompute")
    if switch is False:
        state(reading, "recompute", find(tree, "recompute"), "none")
    elif switch:
        kind = word(tree, "recompute_granularity") or "full"
        state(reading, "recompute", find(tree, "recompute"), GRANULARITY.get(kind, "unknown"))
