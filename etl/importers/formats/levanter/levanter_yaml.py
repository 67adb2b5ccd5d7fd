"""Levanter YAML: batches in sequences, precision inside a policy string, sharding by named axes."""

import re

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Found, Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated, word

NAME = "levanter_yaml"

MODEL: Table = {
    "layers": ("model.num_layers",),
    "hidden": ("model.hidden_dim",),
    "heads": ("model.num_heads",),
    "kv_heads": ("model.num_kv_heads",),
    "head_dim": ("model.head_dim",),
    "ffn_hidden": ("model.intermediate_dim",),
    "tied_embeddings": ("model.tie_word_embeddings",),
    "experts": ("model.n_routed_experts", "model.num_experts"),
    "experts_per_token": ("model.num_experts_per_tok",),
    "shared_experts": ("model.n_shared_experts",),
    "moe_ffn_hidden": ("model.moe_intermediate_dim",),
}
RUN: Table = {
    "seq_len": ("train_seq_len", "model.seq_len", "model.max_seq_len"),
    "global_batch": ("trainer.train_batch_size",),
    "micro_batch": ("trainer.per_device_parallelism",),
    "train_steps": ("trainer.num_train_steps",),
    "tp": ("trainer.model_axis_size",),
}
FAMILIES_4H = frozenset({"gpt2", "backpack"})


def detect(document: Document) -> float:
    """A trainer with Levanter's batch, steps or policy, beside a model by type or hidden_dim."""
    tree = document.tree
    marks = (
        "trainer.train_batch_size",
        "trainer.num_train_steps",
        "trainer.mp",
        "trainer.fsdp_axis",
        "trainer.tracker",
        "trainer.wandb",
        "trainer.axis_resources",
        "model.hidden_dim",
        "model.type",
    )
    count = sum(find(tree, m) is not None for m in marks)
    return 0.0 if count < 2 or find(tree, "trainer.devices") else min(0.95, 0.3 + 0.15 * count)


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; what `!include` names is data and not needed."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    state_all(reading, tree, RUN)
    if isinstance(find(tree, "trainer.train_batch_size") and tree["trainer"]["train_batch_size"], list):
        reading.extra["ramp"] = True
    if not truth(tree, "use_hf_model_config"):
        state_all(reading, tree, MODEL)
        _model(reading, tree)
    _policy(reading, tree)
    _sharding(reading, tree)
    recompute = truth(tree, "model.gradient_checkpointing")
    if recompute is not None:
        state(reading, "recompute", find(tree, "model.gradient_checkpointing"), "full" if recompute else "none")
    return reading


def _model(reading: Reading, tree: Map) -> None:
    """GPT-2 blocks have an FFN of 4h; a Llama block has 32 groups unless it says so: only written ones count."""
    kind, hidden, heads = word(tree, "model.type"), reading.get("hidden"), reading.get("heads")
    if (reading.get("experts") or 0) > 1 and reading.get("moe_ffn_hidden") is None:
        state(reading, "moe_ffn_hidden", find(tree, "model.intermediate_dim"))
        reading.drop("ffn_hidden")
    if kind in FAMILIES_4H and hidden:
        scale = number(tree, "model.mlp_scale")
        if scale:
            state(reading, "ffn_hidden", find(tree, "model.mlp_scale"), int(scale * hidden))
        reading.default("ffn_hidden", 4 * hidden, "Levanter: mlp_scale 4")
        attention_defaults(reading, "Levanter")
    elif reading.get("kv_heads") or heads == 32:
        attention_defaults(reading, "Levanter")
    elif hidden and heads and hidden % heads == 0:
        reading.default("head_dim", hidden // heads, "Levanter: head_dim = hidden_dim / num_heads")


def _policy(reading: Reading, tree: Map) -> None:
    """`p=f32,c=bfloat16`: c is the type of the computation; one word alone is the type of everything."""
    place = find(tree, "trainer.mp")
    if place is None:
        return
    match = re.search(r"(?:^|,)\s*(?:c|compute)\s*=\s*(\w+)", str(place.value)[:200])
    state(reading, "precision", place, match.group(1) if match else str(place.value)[:40])


def _sharding(reading: Reading, tree: Map) -> None:
    """An FSDP axis, or parameters laid over the data axis, is full sharding."""
    place: Found | None = find(tree, "trainer.fsdp_axis")
    resources = find(tree, "trainer.parameter_axis_resources")
    if place is None and resources is not None and isinstance(resources.value, Map):
        place = next((find(tree, f"{resources.key}.{k}") for k, v in resources.value.items() if _data_axis(v)), None)
    if place is not None:
        state(reading, "zero_stage", place, 3)


def _data_axis(value: object) -> bool:
    return value == "data" or (isinstance(value, list) and "data" in value)
