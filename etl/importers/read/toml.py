"""Read TOML with the line of every key."""

import re
import tomllib
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.read.trees import DEEPEST, Map, too_much

MOST_PARTS = 200
_LONG_KEY = re.compile(rf"""(?<![\w."'-])(?:[\w"'-]++[ \t]*+\.[ \t]*+){{{MOST_PARTS}}}""")
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
        if _LONG_KEY.search(text):  # the reader of the standard library takes quadratic time for such a key
            raise ImporterError(f"{name} has a dotted key of more than {MOST_PARTS} parts; no config looks like that")
        data = tomllib.loads(text)
    except (ValueError, RecursionError) as e:
        raise ImporterError(f"{name} is no TOML: {str(e)[:120] or type(e).__name__}") from None
    return wrap_toml(data, text.split("\n"))


_TABLE = re.compile(r"\s*\[+\s*([\w.\-\"' ]+?)\s*\]+\s*(?:#.*)?")
_ASSIGNED = re.compile(r"\s*([\w.\-\"']+)\s*=")
Path = tuple[str, ...]


def wrap_toml(data: dict[str, Any], lines: list[str]) -> Map:
    """A parsed TOML file as a Map with the line of each key that stands at the start of a line."""
    where: dict[Path, int] = {}
    table: Path = ()
    for index, text in enumerate(lines, 1):
        if match := _TABLE.fullmatch(text):
            table = _parts(match.group(1).replace(" ", ""))
            where.setdefault(table, index)
        elif match := _ASSIGNED.match(text):
            where[table + _parts(match.group(1))] = index
    return _wrap(data, where, ())


def _parts(name: str) -> Path:
    """The parts of a dotted key; a name nested deeper than any config is kept whole, as no key leads to it."""
    return tuple(part.strip("\"'") for part in name.split(".")) if name.count(".") <= DEEPEST else (name,)


def _wrap(data: dict[str, Any], where: dict[Path, int], path: Path) -> Map:
    if len(path) > DEEPEST:
        raise ImporterError("the TOML nests too deep; no config looks like that")
    node = Map(where.get(path, 1))
    for key, value in data.items():
        inner = _wrap(value, where, (*path, key)) if isinstance(value, dict) else value
        node.put(key, inner, where.get((*path, key), node.line))
    return node
