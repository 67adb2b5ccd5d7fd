"""Settings given as `group.key=value` words of a command (Hydra), as a tree."""

from collections.abc import Iterable
from typing import Any

from etl.importers.read.trees import Map
from etl.importers.read.yaml import scalar
from etl.importers.shell.tree import Command
from etl.importers.shell.values import known

DEEPEST = 12
UNRESOLVED = "${}"


def of_command(command: Command | None, under: Map | None = None) -> Map:
    """The settings of one command on top of those of a file; `+key` adds, `~key` removes.

    >>> from etl.importers.shell.tree import Command
    >>> of_command(Command([("train.py", 1), ("+a.b=3", 1)], 1, True))
    {'a': {'b': 3}}
    """
    tree = _copy(under or Map())
    for word, line in command.words if command else []:
        name, sign, value = word.lstrip("+").partition("=")
        parts = name.split(".")
        if sign and name and not name.startswith("-") and len(parts) <= DEEPEST and all(_plain(p) for p in parts):
            _put(tree, parts, scalar(value.strip("'\"")) if known(value) else UNRESOLVED, line)
    return tree


def chosen(commands: Iterable[Command], program: str) -> Command | None:
    """The first command that is sure to start a program, else the first that may."""
    hits = [c for c in commands if any(program in word for word, _ in c.words)]
    return next((c for c in hits if c.certain), hits[0] if hits else None)


def _plain(part: str) -> bool:
    return part.replace("_", "").replace("-", "").isalnum()


def _put(tree: Map, parts: list[str], value: Any, line: int) -> None:
    for part in parts[:-1]:
        inner = tree.get(part)
        if not isinstance(inner, Map):
            inner = Map(line)
            tree.merged.add(part)
            tree.put(part, inner, line)
        tree = inner
    tree.merged.add(parts[-1])
    tree.put(parts[-1], value, line)


def _copy(tree: Map) -> Map:
    made = Map(tree.line)
    for key, value in tree.items():
        made.put(key, _copy(value) if isinstance(value, Map) else value, tree.lines.get(key, tree.line))
    return made
