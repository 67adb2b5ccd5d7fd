"""Arguments of the Hugging Face trainer as settings of a tree; several frameworks hand them on."""

import re

from etl.importers.facts import Reading
from etl.importers.formats.deepspeed.deepspeed_json import state_settings
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, word

KEYS: Table = {
    "seq_len": ("cutoff_len", "max_seq_length", "max_seq_len", "model_max_length", "max_length"),
    "micro_batch": ("per_device_train_batch_size",),
    "train_steps": ("max_steps", "max_train_steps"),
    "tp": ("tensor_model_parallel_size",),
    "pp": ("pipeline_model_parallel_size",),
    "vpp": ("virtual_pipeline_model_parallel_size",),
    "cp": ("context_parallel_size",),
    "ep": ("expert_model_parallel_size",),
    "sequence_parallel": ("sequence_parallel",),
}
MARKS = frozenset(
    {"per_device_train_batch_size", "gradient_accumulation_steps", "num_train_epochs", "model_name_or_path",
     "lr_scheduler_type", "gradient_checkpointing", "warmup_ratio", "logging_steps", "save_strategy", "deepspeed",
     "learning_rate"}
)  # fmt: skip
SHARDING = {"full_shard": 3, "shard_grad_op": 2, "no_shard": 0, "hybrid_shard": 3, "hybrid_shard_zero2": 2}
_STAGE = re.compile(r"(?:zero|stage|z)[-_]?([0-3])(?![0-9])", re.I)


def state_run(reading: Reading, tree: Map, companions: list[Document]) -> None:
    """Length, batch, steps, precision, sharding and recomputation of one process group.

    The number of processes stands with the launcher, so devices and dp are not known here.
    """
    state_all(reading, tree, KEYS)
    for key, meaning in (("fp8", "fp8"), ("bf16", "bf16"), ("pure_bf16", "bf16"), ("fp16", "fp16")):
        if truth(tree, key):
            state(reading, "precision", find(tree, key), meaning)
            break
    _sharding(reading, tree, companions)
    if not truth(tree, "packing"):
        reading.extra["cap"] = True  # a sample is at most the stated length, so no token count follows
    if number(tree, "gradient_accumulation_steps"):
        reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps")
    recompute = truth(tree, "gradient_checkpointing")
    granularity = word(tree, "recompute_granularity")
    if granularity in {"full", "selective"}:
        state(reading, "recompute", find(tree, "recompute_granularity"))
    elif recompute is not None:
        state(reading, "recompute", find(tree, "gradient_checkpointing"), "full" if recompute else "none")


def _sharding(reading: Reading, tree: Map, companions: list[Document]) -> None:
    """A DeepSpeed file beside, else the stage in its name (a comment); FSDP words; Megatron's optimizer."""
    for other in companions:
        if other.kind == "json":
            state_settings(reading, other.tree)
    words = word(tree, "fsdp").split()
    stage = next((SHARDING[w] for w in words if w in SHARDING), None)
    if stage is not None:
        state(reading, "zero_stage", find(tree, "fsdp"), stage)
    elif truth(tree, "use_distributed_optimizer"):
        state(reading, "zero_stage", find(tree, "use_distributed_optimizer"), 1)
    place = find(tree, "deepspeed", "deepspeed_config", "deepspeed_config_file")
    if place is not None and isinstance(place.value, str):
        named = _STAGE.search(place.value.rpartition("/")[2])
        if named:
            reading.remark("zero_stage", int(named.group(1)), place.key, place.line)
