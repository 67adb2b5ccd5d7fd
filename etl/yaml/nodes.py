"""YAML as a small tree that remembers the place of every key and value and how numbers were written."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass, field
from typing import Any

Path = tuple[str | int, ...]
Place = tuple[int, int]

NUMBER = re.compile(r"-?(?:0|[1-9][0-9]*)(?P<fraction>\.[0-9]+)?(?P<exponent>[eE][-+]?[0-9]+)?\Z")
NOT_FINITE = re.compile(r"[-+]?\.(?:inf|Inf|INF)\Z|\.(?:nan|NaN|NAN)\Z")
NULLS = frozenset({"", "~", "null", "Null", "NULL"})
WORDS: dict[str, bool] = {"true": True, "True": True, "TRUE": True, "false": False, "False": False, "FALSE": False}


@dataclass(slots=True)
class Node:
    """One value: a scalar, a list of nodes or a mapping of keys to nodes.

    `text` and `style` are those of a scalar; `start` and `end` are offsets in the file; `keys` gives where each key
    stands.
    """

    value: Any
    place: Place
    start: int
    end: int
    text: str = ""
    style: str = ""
    keys: dict[str, Place] = field(default_factory=dict)

    @property
    def is_number(self) -> bool:
        """A plain number, so `text` is the way its author wrote it."""
        return isinstance(self.value, int | float) and not isinstance(self.value, bool)


def scalar(text: str, plain: bool) -> Any:
    """Read one scalar by the YAML 1.2 core rules, numbers in JSON's spelling.

    Parameters
    ----------
    text : the scalar as written
    plain : whether it stands without quotes

    Returns
    -------
    int, float, bool, None or str; an infinite float stands for `.inf`, `.nan` and for a number too large to hold

    >>> scalar("1e25", True), scalar("15.6e12", True), scalar("128", True)
    (1e+25, 15600000000000.0, 128)
    >>> scalar("NO", True), scalar("010", True), scalar("16:8", True), scalar("1_000", True), scalar("128", False)
    ('NO', '010', '16:8', '1_000', '128')
    """
    if not plain:
        return text
    if text in WORDS:
        return WORDS[text]
    if text in NULLS:
        return None
    if NOT_FINITE.match(text):
        return math.inf
    return number(text)


def number(text: str) -> int | float | str:
    """The number that a text spells in JSON's way, or the text itself.

    >>> number("1e3"), number("010")
    (1000.0, '010')
    """
    match = NUMBER.match(text)
    if not match:
        return text
    if match["fraction"] or match["exponent"]:
        return float(text)
    # Python refuses to read integers of more than 4300 digits; no count has 40.
    return int(text) if len(text) < 40 else math.inf


def plain(node: Node) -> Any:
    """The tree as plain Python values.

    >>> plain(Node({"tp": Node(8, (1, 5), 4, 5, "8")}, (1, 1), 0, 5))
    {'tp': 8}
    """
    if isinstance(node.value, dict):
        return {key: plain(below) for key, below in node.value.items()}
    if isinstance(node.value, list):
        return [plain(below) for below in node.value]
    return node.value


def find(node: Node, path: Path) -> Node | None:
    """The node at a path, or None."""
    for step in path:
        inner = node.value
        in_map = isinstance(inner, dict) and step in inner
        in_list = isinstance(inner, list) and isinstance(step, int) and 0 <= step < len(inner)
        if not (in_map or in_list):
            return None
        node = inner[step]
    return node


def locate(node: Node, path: Path, key: bool = False) -> Place:
    """Line and column, both from 1, of the value at a path, or of its key.

    A container is shown at its key, and a path that is not there at the nearest place above it.
    """
    place = node.place
    for step in path:
        below = find(node, (step,))
        if below is None:
            break
        at_key = node.keys.get(str(step)) if isinstance(node.value, dict) else None
        inner = key or isinstance(below.value, dict | list)
        place = at_key if at_key and inner else below.place
        node = below
    return place
