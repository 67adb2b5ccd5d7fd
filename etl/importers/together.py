"""Which files of a folder are one run: a file and those that it names, and those that they name."""

import re
from collections.abc import Iterator
from contextlib import suppress
from itertools import islice
from pathlib import Path, PurePosixPath

from etl.importers.problems import ImporterError
from etl.importers.read.documents import load

MOST_FILES = 500
MOST_COLLECTED = 20_000
LARGEST = 400_000
_NAMED = re.compile(r"[\w.+-]+\.(?:sh|slurm|sbatch|bash|ya?ml|json|toml|py|conf)\b")

_DEFAULT = re.compile(r"\$\{\w+:-?([^${}]*)\}")  # ${MODEL:llama}.yaml names llama.yaml by default


def visible(folder: str) -> Iterator[str]:
    """Visible regular files below a folder in order of name; links to folders are not followed."""
    files = (file for file in sorted(Path(folder).rglob("*")) if not file.name.startswith(".") and file.is_file())
    yield from (str(file) for file in files)


def runs(folder: str) -> list[list[str]]:
    """The files of a folder as runs: each begins with a file that no other one names, its companions after it.

    A folder of more files than a run has is a collection: each file stands for itself.
    """
    paths = list(islice(visible(folder), MOST_COLLECTED))
    if len(paths) > MOST_FILES:
        return [[path] for path in paths]
    by_name: dict[str, str] = {}
    for path in paths:
        by_name.setdefault(PurePosixPath(path).name, path)
    names = {path: _named(path) & by_name.keys() for path in paths}
    links = {path: {by_name[name] for name in hits} - {path} for path, hits in names.items()}
    named = set().union(*links.values()) if links else set()
    heads = [path for path in paths if path not in named] or paths[:1]
    return [[head, *_behind(head, links)] for head in heads]


def _named(path: str) -> set[str]:
    """Names of files in the text of a file."""
    with suppress(ImporterError):
        return set(_NAMED.findall(_DEFAULT.sub(r"\1", load(path).text[:LARGEST])))
    return set()


def _behind(head: str, links: dict[str, set[str]]) -> list[str]:
    """Everything that a file leads to, nearest first."""
    hits: list[str] = []
    queue = sorted(links[head])
    while queue:
        path = queue.pop(0)
        if path not in hits and path != head:
            hits.append(path)
            queue += sorted(links[path])
    return hits
