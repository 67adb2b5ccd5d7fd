"""LitGPT YAML: a model by name or by its sizes, batches under `train`, devices per node."""

from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import find
from etl.importers.tables import Table, number, state, state_all, warn_repeated

NAME = "litgpt_yaml"
KEYS: Table = {
    "layers": ("model_config.n_layer",),
    "hidden": ("model_config.n_embd",),
    "heads": ("model_config.n_head",),
    "kv_heads": ("model_config.n_query_groups",),
    "head_dim": ("model_config.head_size",),
    "ffn_hidden": ("model_config.intermediate_size",),
    "vocab": ("model_config.vocab_size", "model_config.padded_vocab_size"),
    "tied_embeddings": ("train.tie_embeddings",),
    "micro_batch": ("train.micro_batch_size",),
    "global_batch": ("train.global_batch_size",),
    "seq_len": ("train.max_seq_length",),
    "train_steps": ("train.max_steps",),
    "precision": ("precision",),
}
MARKS = (
    "out_dir",
    "model_name",
    "model_config",
    "checkpoint_dir",
    "precision",
    "devices",
    "num_nodes",
    "tokenizer_dir",
)


def detect(document: Document) -> float:
    """Batches under `train` beside LitGPT's words at the top."""
    tree = document.tree
    batch = find(tree, "train.micro_batch_size", "train.global_batch_size")
    count = sum(mark in tree for mark in MARKS)
    return min(0.95, 0.4 + 0.1 * count) if batch is not None and count >= 3 else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; LitGPT's trainers only split the batch."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    state_all(reading, tree, KEYS)
    state(reading, "tokens", find(tree, "train.max_tokens"))
    if reading.get("tokens"):
        reading.extra["cap"] = True
    each, nodes = number(tree, "devices"), number(tree, "num_nodes")
    if each and each > 0:
        state(reading, "accelerators", find(tree, "devices"), int(each * (nodes or 1)))
    for axis in ("tp", "pp", "cp"):
        reading.default(axis, 1, "LitGPT: its trainers split the batch and shard weights, nothing else")
    return reading
