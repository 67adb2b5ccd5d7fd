"""Dictionaries and lists that remember the line of every key: what the JSON, YAML and TOML readers return.

The readers are iterative and bounded (characters, nodes, depth), so a nested, huge or self-multiplying file is a
sentence, not a crash. Text that YAML 1.1 takes for a string (`1e-6`, `5e12`) stays text: `fields.coerce` turns it into
a number by field.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from etl.importers.problems import ImporterError

LARGEST_TREE = 2 * 1024 * 1024
MOST_NODES = 100_000
DEEPEST = 100


class Map(dict[str, Any]):
    """A mapping with `lines` (key -> line), `line` (its own) and `twice` (keys that stood more than once)."""

    __slots__ = ("line", "lines", "merged", "twice")

    def __init__(self, line: int = 1) -> None:
        super().__init__()
        self.line = line
        self.lines: dict[str, int] = {}
        self.twice: list[str] = []
        self.merged: set[str] = set()

    def put(self, key: str, value: Any, line: int) -> None:
        """Set a key; the last one wins, and a repetition is remembered."""
        if key in self and key not in self.merged:
            self.twice.append(key)
        self[key] = value
        self.lines[key] = line


class Seq(list[Any]):
    """A list that knows its line and the line of each element."""

    def __init__(self, line: int = 1) -> None:
        super().__init__()
        self.line = line
        self.lines: list[int] = []


@dataclass(frozen=True, slots=True)
class Found:
    """A value of a tree with the dotted path that leads to it and its line."""

    value: Any
    key: str
    line: int | None


def find(tree: Any, *paths: str) -> Found | None:
    """The first of the dotted `paths` that leads to a value other than null.

    >>> tree = Map()
    >>> tree.put("layers", 12, 7)
    >>> find(tree, "n_layer", "layers")
    Found(value=12, key='layers', line=7)
    """
    for path in paths:
        node, line = tree, getattr(tree, "line", None)
        for part in path.split("."):
            if isinstance(node, dict) and part in node:
                line = node.lines.get(part, line) if isinstance(node, Map) else line
                node = node[part]
            elif isinstance(node, list) and part.isdigit() and int(part) < len(node):
                line = node.lines[int(part)] if isinstance(node, Seq) else line
                node = node[int(part)]
            else:
                break
        else:
            if node is not None:
                return Found(node, path, line)
    return None


def walk(tree: Any, prefix: str = "") -> Iterator[tuple[str, Map]]:
    """Every mapping of a tree with its dotted path, outermost first (each one once, also when aliases share it)."""
    stack, seen = [(prefix, tree)], set()
    while stack:
        path, node = stack.pop()
        if not isinstance(node, dict | list) or id(node) in seen:
            continue
        seen.add(id(node))
        if isinstance(node, Map):
            yield path, node
        items = node.items() if isinstance(node, dict) else enumerate(node)
        stack.extend((f"{path}.{k}" if path else str(k), v) for k, v in items if isinstance(v, dict | list))


def repeated(tree: Any) -> list[str]:
    """Dotted paths of the keys that stand twice in one mapping."""
    return [f"{path}.{key}".lstrip(".") for path, node in walk(tree) for key in node.twice]


def too_much(name: str, what: str) -> ImporterError:
    return ImporterError(f"{name} {what}; no config looks like that, so it is not read")
