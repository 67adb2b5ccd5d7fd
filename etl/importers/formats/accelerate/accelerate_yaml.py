"""accelerate YAML: how many processes, how they shard, which precision."""

from etl.importers.facts import Reading
from etl.importers.formats.deepspeed.deepspeed_json import state_settings
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated, word

NAME = "accelerate_yaml"

KEYS: Table = {
    "tp": ("parallelism_config.parallelism_config_tp_size", "megatron_lm_config.megatron_lm_tp_degree"),
    "pp": ("megatron_lm_config.megatron_lm_pp_degree",),
    "cp": ("parallelism_config.parallelism_config_cp_size",),
}
SHARDING = {
    "full_shard": 3,
    "1": 3,
    "shard_grad_op": 2,
    "2": 2,
    "no_shard": 0,
    "3": 0,
    "hybrid_shard": 3,
    "4": 3,
    "hybrid_shard_zero2": 2,
    "5": 2,
}
RECOMPUTE = ("fsdp_config.fsdp_activation_checkpointing", "fsdp_config.activation_checkpointing")
STAGE = "deepspeed_config.zero_stage"


def detect(document: Document) -> float:
    """accelerate writes `compute_environment`, `distributed_type` and the number of machines and processes."""
    marks = (
        "compute_environment",
        "distributed_type",
        "num_processes",
        "num_machines",
        "machine_rank",
        "mixed_precision",
        "main_training_function",
        "downcast_bf16",
    )
    count = sum(m in document.tree for m in marks)
    return 0.0 if count < 3 else min(0.95, 0.2 * count)


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file; the DeepSpeed file it points to is a companion."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    for other in companions:
        if other.kind == "json":
            state_settings(reading, other.tree)
    state_all(reading, tree, KEYS)
    if word(tree, "mixed_precision") != "no":  # then the model keeps the type it was loaded in
        state(reading, "precision", find(tree, "mixed_precision"))
    if not truth(tree, "use_cpu"):
        state(reading, "accelerators", find(tree, "num_processes"))
    if number(tree, STAGE) is not None:
        state(reading, "zero_stage", find(tree, STAGE))
    elif word(tree, "distributed_type") == "fsdp":
        fsdp_stage(reading, tree, "fsdp_config.fsdp_sharding_strategy", "fsdp_config.fsdp_reshard_after_forward")
    if truth(tree, *RECOMPUTE):
        state(reading, "recompute", find(tree, *RECOMPUTE), "full")
    shard, copies = (number(tree, f"parallelism_config.parallelism_config_dp_{n}_size") for n in ("shard", "replicate"))
    if shard and copies and shard > 1 and copies > 1:
        state(reading, "fsdp_shard", find(tree, "parallelism_config.parallelism_config_dp_shard_size"))
    steps = number(tree, "deepspeed_config.gradient_accumulation_steps", "gradient_accumulation_steps")
    reading.extra.setdefault("accumulation", steps)
    return reading


def fsdp_stage(reading: Reading, tree: Map, strategy: str, reshard: str) -> None:
    """FSDP1 names a strategy (or its number), FSDP2 says whether weights are dropped after the forward pass."""
    named, kept = find(tree, strategy), truth(tree, reshard)
    if named is not None:
        state(reading, "zero_stage", named, SHARDING.get(str(named.value).lower(), "unknown"))
    elif kept is not None:
        state(reading, "zero_stage", find(tree, reshard), 3 if kept else 2)
    elif word(tree, reshard) in SHARDING:
        state(reading, "zero_stage", find(tree, reshard), SHARDING[word(tree, reshard)])
