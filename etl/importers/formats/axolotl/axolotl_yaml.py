"""axolotl YAML: a base model by name, degrees that multiply to the devices."""

from math import prod

from etl.importers.facts import Reading
from etl.importers.formats.accelerate.accelerate_yaml import RECOMPUTE, SHARDING, fsdp_stage
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated, word

NAME = "axolotl_yaml"

KEYS: Table = {
    "seq_len": ("sequence_len",),
    "micro_batch": ("micro_batch_size",),
    "train_steps": ("max_steps",),
    "tp": ("tensor_parallel_size",),
    "cp": ("context_parallel_size", "sequence_parallel_degree"),
    "ep": ("expert_parallel_size",),
}


def detect(document: Document) -> float:
    """axolotl writes `base_model`, `sequence_len` and `datasets`."""
    marks = (
        "base_model",
        "sequence_len",
        "micro_batch_size",
        "sample_packing",
        "adapter",
        "datasets",
        "val_set_size",
        "special_tokens",
    )
    count = sum(m in document.tree for m in marks)
    return 0.0 if "base_model" not in document.tree or count < 2 else min(0.95, 0.3 + 0.15 * count)


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    state_all(reading, tree, KEYS)
    _degrees(reading, tree)
    _precision(reading, tree)
    _sharding(reading, tree)
    recompute = word(tree, "gradient_checkpointing")
    if recompute in {"true", "unsloth", "offload", "offload_disk"}:
        state(reading, "recompute", find(tree, "gradient_checkpointing"), "full")
    elif truth(tree, *RECOMPUTE):
        state(reading, "recompute", find(tree, *RECOMPUTE), "full")
    elif recompute == "false":
        state(reading, "recompute", find(tree, "gradient_checkpointing"), "none")
    reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps")
    return reading


def _degrees(reading: Reading, tree: Map) -> None:
    """dp = shard * replicate; times tensor and context degrees it is the number of devices."""
    shard, copies = number(tree, "dp_shard_size"), number(tree, "dp_replicate_size")
    if not shard and not copies:
        return
    place = find(tree, "dp_shard_size", "dp_replicate_size")
    dp = int((shard or 1) * (copies or 1))
    if shard and copies and shard > 1 and copies > 1:
        state(reading, "fsdp_shard", find(tree, "dp_shard_size"))
    state(reading, "dp", place, dp)
    reading.derive("accelerators", prod([dp, reading.get("tp") or 1, reading.get("cp") or 1]), "dp", "tp", "cp")


def _precision(reading: Reading, tree: Map) -> None:
    """How frozen weights are kept (`load_in_4bit`) says nothing about the computation."""
    for key, meaning in (("fp8", "fp8"), ("bf16", "bf16"), ("bfloat16", "bf16"), ("fp16", "fp16"), ("float16", "fp16")):
        if truth(tree, key) or (key == "bf16" and word(tree, key) == "full"):
            state(reading, "precision", find(tree, key), meaning)
            return


def _sharding(reading: Reading, tree: Map) -> None:
    if isinstance(tree.get("fsdp_config"), Map):
        for prefix in ("fsdp_config.fsdp_", "fsdp_config."):
            if "zero_stage" not in reading.facts:
                fsdp_stage(reading, tree, f"{prefix}sharding_strategy", f"{prefix}reshard_after_forward")
    old = find(tree, "fsdp")
    words = [str(w).lower() for w in old.value] if old and isinstance(old.value, list) else word(tree, "fsdp").split()
    if "zero_stage" not in reading.facts:
        state(reading, "zero_stage", old, next((SHARDING[w] for w in words if w in SHARDING), "unknown"))
