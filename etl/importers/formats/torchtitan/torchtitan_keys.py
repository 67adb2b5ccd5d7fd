"""torchtitan's settings as a tree: shared by its own TOML files and by Primus."""

from etl.importers.facts import Reading
from etl.importers.read.trees import Found, Map, find
from etl.importers.tables import Table, number, state, state_all, truth, word

KEYS: Table = {
    "seq_len": ("training.seq_len",),
    "train_steps": ("training.steps",),
    "micro_batch": ("training.local_batch_size", "training.batch_size"),
    "global_batch": ("training.global_batch_size",),
    "ep": ("parallelism.expert_parallel_degree",),
}
# field -> keys; older files hold them under `training` and `experimental`. Absent means 1.
DEGREES: Table = {
    "tp": ("parallelism.tensor_parallel_degree", "training.tensor_parallel_degree"),
    "pp": (
        "parallelism.pipeline_parallel_degree",
        "experimental.pipeline_parallel_degree",
        "training.pipeline_parallel_degree",
    ),
    "cp": ("parallelism.context_parallel_degree", "experimental.context_parallel_degree"),
}
REPLICATE = ("parallelism.data_parallel_replicate_degree", "training.data_parallel_replicate_degree")
SHARD = (
    "parallelism.data_parallel_shard_degree",
    "training.data_parallel_shard_degree",
    "training.data_parallel_degree",
)
MODES = {"full": "full", "selective": "selective", "none": "none", "memory_budget": "selective"}


def state_run(reading: Reading, tree: Map, whole: bool = True) -> None:
    """Layout, batch, duration, precision, sharding and recomputation; the architecture is a name and a flavor.

    `whole` is False where other files may hold what this tree leaves out; then no default is taken.
    """
    state_all(reading, tree, KEYS | DEGREES)
    _defaults(reading, tree, whole)
    if reading.get("global_batch") is None:
        reading.extra["accumulation"] = 1
    _data_parallel(reading, tree)
    _precision(reading, tree)
    mode = find(tree, "activation_checkpoint.mode")
    if mode is not None:
        state(reading, "recompute", mode, MODES.get(str(mode.value).lower(), "unknown"))
    if not whole:
        reading.drop(*[name for name, fact in reading.facts.items() if fact.origin == "default"])


def _defaults(reading: Reading, tree: Map, whole: bool) -> None:
    if whole:
        for field in DEGREES:
            reading.default(field, 1, "torchtitan: degrees are 1")
        if find(tree, "activation_checkpoint.mode") is None:
            reading.default("recompute", "selective", "torchtitan: activation checkpointing is selective")


def _data_parallel(reading: Reading, tree: Map) -> None:
    """dp = replicate * shard; -1 is the rest of the devices and unknown. Sharding is full unless it is kept or off."""
    replicate, shard = number(tree, *REPLICATE), number(tree, *SHARD)
    copies = 1 if replicate is None else replicate
    if shard is not None and shard > 0 and copies > 0:
        place = find(tree, *SHARD)
        state(reading, "dp", place, int(copies * shard))
        if copies > 1 and shard > 1:
            state(reading, "fsdp_shard", place, int(shard))
    if shard == 1:
        if copies > 1:
            state(reading, "zero_stage", find(tree, *SHARD), 0)
        return
    reshard = find(tree, "parallelism.fsdp_reshard_after_forward")
    stage = {"never": 2, "always": 3}.get(word(tree, "parallelism.fsdp_reshard_after_forward"))
    if stage is not None:
        state(reading, "zero_stage", reshard, stage)
    elif reading.get("pp") == 1 or reshard is None:
        reading.default("zero_stage", 3, "torchtitan: data parallelism shards fully")


def _precision(reading: Reading, tree: Map) -> None:
    """A float8 table does nothing without its converter; the type of FSDP's mixed precision is bf16 unless named."""
    converters = find(tree, "model.converters")
    names = (
        " ".join(map(str, converters.value))
        if converters and isinstance(converters.value, list)
        else word(tree, "model.converters")
    )
    switch = find(tree, "float8.enable_float8_linear", "training.enable_fp8_linear", "float8.enable_fp8_linear")
    named: list[tuple[Found | None, str]] = []
    if "mx" in names:
        named.append((converters, "mxfp8"))
    elif "float8" in names or "fp8" in names:
        named.append((converters, "fp8"))
    elif switch is not None and truth(tree, switch.key):
        named.append((switch, "fp8"))
    if named:
        state(reading, "precision", *named[0])
        return
    parameter = find(tree, "training.mixed_precision_param")
    if not state(reading, "precision", parameter) and find(tree, "training"):
        reading.default("precision", "bf16", "torchtitan: mixed_precision_param bfloat16")
