"""ArcticTraining YAML: a kind of training, a batch per device, DeepSpeed's settings inside."""

from etl.importers.facts import Reading
from etl.importers.formats.deepspeed.deepspeed_json import state_settings
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, warn_repeated

NAME = "arctic_yaml"
KEYS: Table = {
    "micro_batch": ("micro_batch_size",),
    "seq_len": ("data.max_length",),
    "train_steps": ("exit_iteration", "train_iters"),
    "precision": ("model.dtype",),
    "ep": ("expert_parallel_size",),
}
MARKS = (
    "type",
    "micro_batch_size",
    "deepspeed",
    "data",
    "model",
    "checkpoint",
    "gradient_accumulation_steps",
    "logger",
)


def detect(document: Document) -> float:
    """`model.name_or_path` beside a micro-batch and `data.sources` or DeepSpeed's settings."""
    tree = document.tree
    own = find(tree, "model.name_or_path") is not None and isinstance(tree.get("data"), Map)
    count = sum(mark in tree for mark in MARKS)
    return min(0.95, 0.35 + 0.1 * count) if own and count >= 3 and "type" in tree else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    if isinstance(tree.get("deepspeed"), Map):
        state_settings(reading, tree["deepspeed"])
    state_all(reading, tree, KEYS)
    if number(tree, "gradient_accumulation_steps"):
        reading.extra["accumulation"] = number(tree, "gradient_accumulation_steps")
    ulysses = number(tree, "sequence_parallel_size")
    if ulysses and ulysses > 1:
        reading.extra["any_devices"] = True  # Ulysses splits the sequence inside data parallelism
    saved = truth(tree, "model.disable_activation_checkpoint")
    if saved is not None:
        state(reading, "recompute", find(tree, "model.disable_activation_checkpoint"), "none" if saved else "full")
    return reading
