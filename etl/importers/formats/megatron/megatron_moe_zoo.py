"""Configs of the Megatron MoE model zoo: YAML whose keys are command-line flags, some filled in later by a launcher."""

from typing import Any

from etl.importers.facts import Reading
from etl.importers.formats.megatron.megatron_flags import read_flags
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map
from etl.importers.shell.flags import Flags
from etl.importers.shell.follow import Shell
from etl.importers.shell.values import UNKNOWN

NAME = "megatron_moe_zoo"


def _arguments(tree: Map) -> Map | None:
    found = tree.get("MODEL_ARGS")
    if isinstance(found, Map):
        return found
    return tree if sum(key.startswith("--") for key in tree) >= 3 else None


def detect(document: Document) -> float:
    """A mapping whose keys start with two hyphens."""
    return 0.95 if _arguments(document.tree) is not None else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """Read the flags; `${TP}` and friends only when a companion script sets them."""
    reading = Reading(NAME)
    shell = Shell()
    for script in companions:
        if script.kind == "shell":
            shell.run(script.text)
    known = {name: word for name in shell.variables if (word := shell.word(name)) is not None}
    tree = resolve(document.tree, known, colon_default=True).tree
    arguments = _arguments(tree) or Map()
    words: list[tuple[str, int]] = []
    for key, value in arguments.items():
        if key.startswith("--") and value is not False and value is not None:
            line = arguments.lines.get(key, 1)
            words += [(key, line), *((word, line) for word in _words(value))]
    read_flags(reading, Flags(words))
    return reading


def _words(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, list):
        return [str(v) for v in value]
    text = str(value)
    return [UNKNOWN if "${" in text else text]
