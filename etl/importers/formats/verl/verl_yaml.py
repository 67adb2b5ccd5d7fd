"""verl YAML: the trainer's settings, whole or as an excerpt."""

from etl.importers.facts import Reading
from etl.importers.formats.verl.verl_keys import state_run
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map
from etl.importers.tables import warn_repeated

NAME = "verl_yaml"


def detect(document: Document) -> float:
    """An `actor_rollout_ref` mapping."""
    return 0.97 if isinstance(document.tree.get("actor_rollout_ref"), Map) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading, tree = Reading(NAME), resolve(document.tree).tree
    warn_repeated(reading, document.tree)
    state_run(reading, tree, megatron=False, whole="defaults" in tree or "hydra" in tree)
    return reading
