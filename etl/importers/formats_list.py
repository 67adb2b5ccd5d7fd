"""The formats that can be read, found in the folders of `formats/`, and the choice between them by content.

A format module has `NAME`, `detect(document) -> float` (0 = not mine, 1 = surely mine; decided by content) and
`read(document, companions) -> Reading`. Modules are imported only when a document of their kind is met.
"""

from collections.abc import Callable, Sequence
from contextlib import suppress
from dataclasses import replace
from functools import cache, lru_cache
from importlib import import_module
from pkgutil import iter_modules
from typing import Any

from etl.importers import counting, derive
from etl.importers import formats as rooms
from etl.importers.facts import Reading
from etl.importers.format import Format
from etl.importers.problems import ImporterError
from etl.importers.read.documents import Document, load
from etl.importers.read.trees import repeated

MOST_REPETITIONS = 5
SURE, MARGIN = 0.6, 0.12


@cache
def formats() -> tuple[Format, ...]:
    """Every format that a folder of `formats/` names, in order of folder and row.

    >>> "megatron_sh" in {row.name for row in formats()}
    True
    """
    rows: list[Format] = []
    for folder in sorted(entry.name for entry in iter_modules(rooms.__path__) if entry.ispkg):
        package = f"{rooms.__name__}.{folder}"
        rows += [replace(row, package=package) for row in import_module(package).FORMATS]
    return tuple(rows)


def _modules(document: Document) -> list[Any]:
    return [row.module() for row in formats() if document.kind in row.kinds]


def choose(document: Document) -> tuple[Any, Document]:
    """The format module whose content test scores highest, and the document in the syntax that it reads.

    The syntax that name and look suggest comes first. Raises ImporterError when no format claims the document.
    """
    try:
        best = _best(document)
        problem = _unknown(document)
    except ImporterError as refusal:
        best, problem = None, refusal
    if best is not None:
        return best, document
    for other in document.others():
        with suppress(ImporterError):
            if (best := _best(other)) is not None:
                return best, other
    raise problem


def _unknown(document: Document) -> ImporterError:
    sentence = f"{document.path} is in no known format; `shardbook import --list` shows those that can be read"
    return ImporterError(sentence)


def _best(document: Document) -> Any | None:
    ranked = _ranked(document)
    return ranked[0][1] if ranked else None


@lru_cache(maxsize=4)
def _ranked(document: Document) -> list[tuple[float, Any]]:
    """Modules that claim a document with the score of their content test, the best first."""
    scores = [(module.detect(document), module) for module in _modules(document)]
    return sorted((pair for pair in scores if pair[0] > 0), key=lambda pair: -pair[0])


def _alike(reading: Reading, document: Document) -> None:
    """Say that a document looks like the format of another framework as well, and which one was read."""
    (score, module), *others = _ranked(document) or [(0.0, None)]
    own = {row.name for row in formats() if row.kinds[0] == document.kind}
    near = [m for value, m in others if value >= SURE and score - value <= MARGIN and m.NAME in own]
    framework = getattr(module, "__name__", "").rpartition(".")[0]
    names = [other.NAME for other in near if other.__name__.rpartition(".")[0] != framework]
    if names:
        reading.warn("two-formats", f"read as {reading.format}; it also looks like {', '.join(names)}")


def read_files(paths: Sequence[str], counter: Callable[..., Any] | None = None) -> Reading:
    """Read the first of `paths`, with the others beside it, and return its facts.

    Parameters: `paths`, the config or log first, then its companions; `counter`, the parameter counter of the analysis
    layer (see `counting`), without which totals stay out. Raises ImporterError, one sentence, when the file cannot be
    read or tells nothing.
    """
    documents = [load(path) for path in paths]
    if not documents:
        raise ImporterError("no file was named; pass the path of a config or log")
    return read_documents(documents[0], documents[1:], counter)


def read_documents(
    document: Document, companions: Sequence[Document], counter: Callable[..., Any] | None = None
) -> Reading:
    """The same for documents that are already loaded."""
    given = document
    try:
        module, document = choose(document)
        reading: Reading = module.read(document, list(companions))
        derive.complete(reading)
        counting.count(reading, counter)
        _repetitions(reading, document)
        _alike(reading, document)
    except RecursionError:
        raise ImporterError(f"{document.path} refers to itself or nests too deep; it cannot be read") from None
    if all(fact.origin == "default" for fact in reading.facts.values()):
        if document is not given:
            raise _unknown(given)
        raise ImporterError(
            f"{document.path} looks like {reading.format} but states no fact that can be read without running it"
        )
    return reading


def _repetitions(reading: Reading, document: Document) -> None:
    """Warn of keys that appear twice in one mapping, where the reader of the format has not done so."""
    if document.kind in {"json", "yaml"} and not any(w.startswith("duplicate-key") for w in reading.warnings):
        for key in repeated(document.tree)[:MOST_REPETITIONS]:
            reading.warn("duplicate-key", f"{key} appears more than once; the last one counts")
