"""Assignments to shell variables, and what is sure about them after a branch that only the run decides."""

import re
from bisect import bisect_right
from collections.abc import Callable

from etl.importers.shell.expand import Expander
from etl.importers.shell.tree import Assign, Word
from etl.importers.shell.values import UNKNOWN, Rope, Value, text

_FLAG = re.compile(r"(?<!\S)--([A-Za-z][\w-]*)")


def assigned(assign: Assign, old: Value | None, expander: Expander) -> Value | None:
    """The value a variable has after an assignment; None when the assignment cannot be followed."""
    if isinstance(assign.value, list):
        return _array(assign.value, old if assign.append else None, expander)
    value = expander.join(assign.value)
    if assign.index is not None:
        return _element(str(expander.join(assign.index)).strip("\"'"), old, value)
    if isinstance(old, list) and not assign.append:
        return [value, *old[1:]] if len(old) > 1 else [value]
    if assign.append and isinstance(old, Rope):
        return Rope([old, value])
    return value


def _array(words: list[Word], old: Value | None, expander: Expander) -> Value:
    """`NAME=( words )`, also with `[key]=value` elements; `old` is what it is appended to."""
    fields = [field for word in words for field in expander.fields(word)]
    if fields and all(str(f).startswith("[") and "]=" in str(f) for f in fields):
        pairs = [(str(f)[1:].partition("]="), f.line or 0) for f in fields]
        table = {key.strip("\"'"): text(value, line) for (key, _, value), line in pairs}
        return {**old, **table} if isinstance(old, dict) else table
    before = old if isinstance(old, list) else [old] if isinstance(old, Rope) else []
    return [*before, *fields]


def _element(key: str, old: Value | None, value: Rope) -> Value | None:
    if isinstance(old, list) and key.isdigit() and len(key) < 5 and int(key) <= len(old):
        return [*old[: int(key)], value, *old[int(key) + 1 :]]
    return {**(old or {}), key: value} if old is None or isinstance(old, dict) else None


def merged(before: Value | None, ends: list[Value | None]) -> Value:
    """What is sure after an undecided branch: an unchanged or equal value, or the part before an extension."""
    first = ends[0]
    if unchanged(ends) and first is not None:
        return first
    if isinstance(before, list) and all(isinstance(e, list) and e[: len(before)] == before for e in ends):
        return [*before, text(UNKNOWN)]
    start = str(before) if isinstance(before, Rope) else ""
    if start and isinstance(before, Rope) and all(isinstance(e, Rope) and str(e).startswith(start) for e in ends):
        return Rope([before, (" " + UNKNOWN, 0)])
    return text(UNKNOWN)


def unchanged(ends: list[Value | None]) -> bool:
    """Whether all branches leave the same value."""
    first = ends[0]
    if all(end is first for end in ends):
        return True
    return isinstance(first, Rope) and all(isinstance(e, Rope) for e in ends) and len({str(e) for e in ends}) == 1


def possible_flags(before: Value | None, ends: list[Value | None]) -> set[str]:
    """Flags that an undecided branch may put into a variable."""
    if unchanged(ends):
        return set()
    return set().union(*(_flags(end) for end in ends)) - _flags(before)


def _flags(value: Value | None) -> set[str]:
    if value is None:
        return set()
    ropes = [value] if isinstance(value, Rope) else value.values() if isinstance(value, dict) else value
    return {name.replace("_", "-") for rope in ropes for name in _FLAG.findall(str(rope))}


def line_table(rope: Rope) -> Callable[[int], int]:
    """From an offset in the text of a rope to the line of the piece there."""
    starts, lines, at = [], [], 0
    for piece, line in rope.pieces():
        starts.append(at)
        lines.append(line)
        at += len(piece)
    return lambda offset: lines[max(0, bisect_right(starts, offset) - 1)] if lines else 1
