"""torchtitan TOML: batch per data-parallel rank, sharding degree -1 for "the rest", no architecture."""

from etl.importers.facts import Reading
from etl.importers.formats.torchtitan.torchtitan_keys import DEGREES, SHARD, state_run
from etl.importers.read.documents import Document
from etl.importers.read.trees import find
from etl.importers.tables import remark_devices

NAME = "torchtitan_toml"


def detect(document: Document) -> float:
    """`training.seq_len` beside a parallelism degree or a model flavor."""
    tree = document.tree
    degrees = find(tree, *SHARD, *(k for keys in DEGREES.values() for k in keys))
    marks = (
        find(tree, "training.seq_len"),
        find(tree, "training.steps"),
        find(tree, "model.flavor"),
        find(tree, "activation_checkpoint"),
        degrees,
    )
    count = sum(m is not None for m in marks)
    return 0.0 if count < 2 else 0.4 + 0.1 * count


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file; a device count may stand in a comment at its head."""
    reading = Reading(NAME)
    state_run(reading, document.tree)
    if reading.get("dp") is None:
        remark_devices(reading, document)
    return reading
