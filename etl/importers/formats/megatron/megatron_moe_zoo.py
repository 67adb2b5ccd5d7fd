"""Configs of the Megatron MoE model zoo: YAML whose keys are command-line flags, some filled in later by a launcher."""

import re
from typing import Any

from etl.importers.facts import Reading
from etl.importers.formats.megatron.megatron_flags import CORE, CORE_PARALLEL, read_flags
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.read.trees import Map
from etl.importers.shell.flags import Flags
from etl.importers.shell.follow import Shell
from etl.importers.shell.tree import Command
from etl.importers.shell.values import UNKNOWN

NAME = "megatron_moe_zoo"
STARTING = CORE | CORE_PARALLEL | {"recompute-granularity", "train-iters"}
_VARIABLE = re.compile(r"\$\{(\w+)")


def _arguments(tree: Map) -> Map | None:
    hits = tree.get("MODEL_ARGS")
    if isinstance(hits, Map):
        return hits
    return tree if sum(key.startswith("--") for key in tree) >= 3 else None


def detect(document: Document) -> float:
    """A mapping whose keys start with two hyphens."""
    return 0.95 if _arguments(document.tree) is not None else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """Read the flags; `${TP}` and friends only when a companion script sets them, for the first run it starts."""
    reading = Reading(NAME)
    shell = Shell()
    for script in companions:
        if script.kind == "shell":
            shell.run(script.text)
    known = {name: word for name in shell.variables if (word := shell.word(name)) is not None}
    wanted = set(_VARIABLE.findall(document.text))
    started = [c for c in shell.commands if wanted & c.env.keys() or _starts(c)]
    runs = {(tuple(sorted((k, str(v)) for k, v in c.env.items())), tuple(w for w, _ in c.words)) for c in started}
    if len(runs) > 1:
        reading.warn("several-runs", f"the script starts {len(runs)} runs; the first is reported")
    known |= {name: str(value) for name, value in (started[0].env if started else {}).items()}
    tree = resolve(document.tree, known, colon_default=True).tree
    read_flags(reading, Flags(_words_of(_arguments(tree) or Map()) + _call_line(started)))
    return reading


def _words_of(arguments: Map) -> list[tuple[str, int]]:
    words: list[tuple[str, int]] = []
    for key, value in arguments.items():
        if key.startswith("--") and value is not False and value is not None:
            line = arguments.lines.get(key, 1)
            words += [(key, line), *((word, line) for word in _words(value))]
    return words


def _call_line(started: list[Command]) -> list[tuple[str, int]]:
    """Flags on the line that calls the launcher; they come last and so they count."""
    extra = started[0].words[1:] if started else []
    first = next((i for i, (word, _) in enumerate(extra) if word.startswith("--")), len(extra))
    return [(word, 0) for word, _ in extra[first:]]


def _starts(command: Command) -> bool:
    """Whether a command starts another script with Megatron's flags."""
    return bool(Flags(command.words).certain() & STARTING) and command.words[0][0] in {"bash", "sh", "srun", "sbatch"}


def _words(value: Any) -> list[str]:
    if value is True:
        return []
    if isinstance(value, list):
        return [str(v) for v in value]
    text = str(value)
    return [UNKNOWN if "${" in text else text]
