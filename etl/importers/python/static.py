"""Read Python configuration files without running them.

Only the syntax tree is looked at. Literals, names, simple arithmetic, dictionaries, straight-line
assignments and functions of the same file are followed; everything else is unknown. A call of something
that is not in the file becomes a :class:`Node`: its name and its arguments, never its effect.
"""

from __future__ import annotations

import ast
import operator
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from math import isfinite
from typing import Any

MAX_PATH = 12
MAX_NESTING = 80
MAX_BITS = 256


@dataclass(frozen=True)
class Unknown:
    """A value that only running the file would give."""


@dataclass(frozen=True)
class Symbol:
    """A dotted name from elsewhere, such as ``torch.bfloat16``."""

    name: str

    @property
    def last(self) -> str:
        """The part after the last dot."""
        return self.name.rsplit(".", 1)[-1]


@dataclass(frozen=True)
class Val:
    """A value, the line that decided it, and whether it only stands in for something unknown (``x or 4096``)."""

    value: Any
    line: int
    fallback: bool = False

    @property
    def known(self) -> bool:
        """True for anything but Unknown."""
        return not isinstance(self.value, Unknown)


@dataclass
class Node:
    """A call or a dictionary: its dotted name, positional arguments, and fields by keyword or assignment."""

    name: str
    line: int
    args: tuple[Val, ...] = ()
    fields: dict[str, Val] = field(default_factory=dict)

    @property
    def last(self) -> str:
        """The part of the name after the last dot."""
        return self.name.rsplit(".", 1)[-1]

    def get(self, *path: str) -> Val | None:
        """Follow fields by name; None where one is missing."""
        here: Val | None = None
        node: Any = self
        for key in path:
            here = node.fields.get(key) if isinstance(node, Node) else None
            if here is None:
                return None
            node = here.value
        return here

    def walk(
        self, path: tuple[str, ...] = (), seen: frozenset[int] = frozenset()
    ) -> Iterator[tuple[tuple[str, ...], Val]]:
        """Every field below this node, as (path, value), outer ones first."""
        if id(self) in seen or len(path) > MAX_PATH:
            return
        for key, val in self.fields.items():
            yield (*path, key), val
        for key, val in self.fields.items():
            if isinstance(val.value, Node):
                yield from val.value.walk((*path, key), seen | {id(self)})


BINARY: dict[type[ast.operator], Callable[[Any, Any], Any]] = {
    ast.Add: operator.add,
    ast.Sub: operator.sub,
    ast.Mult: operator.mul,
    ast.Div: operator.truediv,
    ast.FloorDiv: operator.floordiv,
    ast.Mod: operator.mod,
    ast.Pow: operator.pow,
}
COMPARE: dict[type[ast.cmpop], Callable[[Any, Any], Any]] = {
    ast.Eq: operator.eq,
    ast.NotEq: operator.ne,
    ast.Lt: operator.lt,
    ast.LtE: operator.le,
    ast.Gt: operator.gt,
    ast.GtE: operator.ge,
    ast.Is: operator.is_,
    ast.IsNot: operator.is_not,
}
BUILTINS: dict[str, Callable[..., Any]] = {
    "int": int,
    "float": float,
    "max": max,
    "min": min,
    "round": round,
    "abs": abs,
}


def is_number(value: object) -> bool:
    """True for int and finite float, not for bool."""
    return (isinstance(value, int) and not isinstance(value, bool)) or (isinstance(value, float) and isfinite(value))


def small(value: object) -> bool:
    """True for numbers whose arithmetic stays cheap."""
    return is_number(value) and (not isinstance(value, int) or value.bit_length() <= MAX_BITS)


def arithmetic(op: ast.operator, left: object, right: object) -> Any:
    """``left op right`` for numbers of a sane size; Unknown otherwise."""
    action = BINARY.get(type(op))
    if action is None or not (small(left) and small(right)):
        return Unknown()
    if isinstance(op, ast.Pow) and (not isinstance(right, int) or not 0 <= right <= 64):
        return Unknown()
    try:
        return action(left, right)
    except (ArithmeticError, ValueError, TypeError):
        return Unknown()


def depth(tree: ast.AST) -> int:
    """Levels of the syntax tree, counted without recursion."""
    level, deepest = [tree], 0
    while level and deepest <= MAX_NESTING:
        level = [child for node in level for child in ast.iter_child_nodes(node)]
        deepest += 1
    return deepest


def dotted(node: ast.expr) -> str | None:
    """``a.b.c`` of a chain of attributes, None for anything else."""
    parts: list[str] = []
    while isinstance(node, ast.Attribute):
        parts.append(node.attr)
        node = node.value
    if not isinstance(node, ast.Name):
        return None
    return ".".join([node.id, *reversed(parts)])


def numeric(val: Val | None) -> int | float | None:
    """The number a value is, or None."""
    return val.value if val is not None and is_number(val.value) else None


def text_of(val: Val | None) -> str:
    """What a value says as one word: a string, a symbol, or the name and first text argument of a call."""
    value = None if val is None else val.value
    if isinstance(value, Symbol):
        return value.last
    if isinstance(value, Node):
        first = value.args[0].value if value.args else ""
        return f"{value.last} {first if isinstance(first, str) else ''}".strip()
    return value if isinstance(value, str) else ""


def builtin(name: str, args: list[Val]) -> Any:
    """`int`, `float`, `max`, `min`, `round` or `abs` of numbers; Unknown where it has no value."""
    try:
        return BUILTINS[name](*(a.value for a in args))
    except (ArithmeticError, ValueError, TypeError):
        return Unknown()
