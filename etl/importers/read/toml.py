"""Read TOML with the line of every key."""

import re
import tomllib
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.read.trees import DEEPEST, Map, too_much

LARGEST_TOML = 512 * 1024  # the reader of the standard library is slow


def read_toml(text: str, name: str) -> Map:
    """The table at the root of a TOML text.

    >>> tree = read_toml("[training]\\nsteps = 20_000", "f.toml")
    >>> tree["training"]["steps"], tree["training"].lines["steps"]
    (20000, 2)
    """
    if len(text) > LARGEST_TOML:
        raise too_much(name, f"holds {len(text)} characters of TOML")
    try:
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as e:
        raise ImporterError(f"{name} is no TOML: {str(e)[:120] or type(e).__name__}") from None
    return wrap_toml(data, text.split("\n"))


_TABLE = re.compile(r"\s*\[+\s*([\w.\-\"' ]+?)\s*\]+\s*(?:#.*)?")
_ASSIGNED = re.compile(r"\s*([\w.\-\"']+)\s*=")


def wrap_toml(data: dict[str, Any], lines: list[str]) -> Map:
    """A parsed TOML file as a Map with the line of each key that stands at the start of a line."""
    where: dict[str, int] = {}
    table = ""
    for index, text in enumerate(lines, 1):
        if match := _TABLE.fullmatch(text):
            table = match.group(1).replace('"', "").replace(" ", "") + "."
            where.setdefault(table[:-1], index)
        elif match := _ASSIGNED.match(text):
            where[table + match.group(1).strip("\"'")] = index
    return _wrap(data, where, "", 0)


def _wrap(data: dict[str, Any], where: dict[str, int], prefix: str, depth: int) -> Map:
    if depth > DEEPEST:
        raise ImporterError("the TOML nests too deep; no config looks like that")
    node = Map(where.get(prefix.rstrip("."), 1))
    for key, value in data.items():
        path = f"{prefix}{key}"
        inner = _wrap(value, where, f"{path}.", depth + 1) if isinstance(value, dict) else value
        node.put(key, inner, where.get(path, node.line))
    return node
