"""YAML or JSON with the arguments of the Hugging Face trainer: TRL, the alignment handbook, open-instruct."""

from etl.importers.facts import Reading
from etl.importers.formats.huggingface_trainer import trainer_keys
from etl.importers.read.documents import Document
from etl.importers.tables import warn_repeated

NAME = "trainer_yaml"


def detect(document: Document) -> float:
    """Several of the trainer's words, the batch per device among them."""
    tree = document.tree
    count = len(trainer_keys.MARKS & tree.keys())
    return min(0.8, 0.3 + 0.1 * count) if "per_device_train_batch_size" in tree and count >= 3 else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading = Reading(NAME)
    warn_repeated(reading, document.tree)
    trainer_keys.state_run(reading, document.tree, companions)
    return reading
