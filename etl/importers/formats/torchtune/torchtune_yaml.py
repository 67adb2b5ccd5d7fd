"""torchtune YAML: components by dotted name, flat settings of the recipe."""

import re

from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated

NAME = "torchtune_yaml"
KEYS: Table = {
    "micro_batch": ("batch_size",),
    "seq_len": ("tokenizer.max_seq_len",),
    "precision": ("dtype",),
    "tp": ("tensor_parallel_dim",),
    "cp": ("context_parallel_dim",),
}
_LAUNCH = re.compile(r"^#.*\btune run\b.*?--nproc_per_node[ =](\d{1,4})", re.M)


def detect(document: Document) -> float:
    """Components of torchtune by name."""
    named = "_component_: torchtune." in document.text
    return 0.95 if named and ("batch_size" in document.tree or "checkpointer" in document.tree) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; a comment may show the launch command with its processes."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    warn_repeated(reading, document.tree)
    state_all(reading, tree, KEYS)
    reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps")
    saved = truth(tree, "enable_activation_checkpointing")
    if saved is not None:
        state(reading, "recompute", find(tree, "enable_activation_checkpointing"), "full" if saved else "none")
    copies, shard = number(tree, "data_parallel_replicate_dim"), number(tree, "data_parallel_shard_dim")
    if shard and shard > 0:
        place = find(tree, "data_parallel_shard_dim")
        state(reading, "dp", place, int(shard * (copies or 1)))
        if copies and copies > 1:
            state(reading, "fsdp_shard", place)
    reading.default("pp", 1, "torchtune: no pipeline parallelism")
    for axis in ("tp", "cp"):
        reading.default(axis, 1, f"torchtune: {axis} 1")
    launches = {int(m.group(1)): document.text.count("\n", 0, m.start()) + 1 for m in _LAUNCH.finditer(document.text)}
    if len(launches) == 1:
        ((devices, line),) = launches.items()
        reading.remark("accelerators", devices, "comment", line)
    return reading
