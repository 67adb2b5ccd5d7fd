"""What the format modules share: tables of keys, two keys for one fact, durations, device counts in comments."""

import re
from collections.abc import Iterable
from typing import Any

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Found, find, repeated

Table = dict[str, tuple[str, ...]]

_CHIPS = r"(?:H100|H200|H800|A100|A800|V100|B200|GB200|MI\d{3}X?|Ascend|TPU|NVIDIA|80GB|40GB|SXM|PCIe)s?"
_DEVICES = re.compile(
    rf"(?<![\w.\-/=])~?(\d{{1,6}})\s*(?:[x×*]\s*)?(?:(?:\d+\s?GB|{_CHIPS})\s*){{0,4}}(?:GPU|NPU|accelerator)s?\b"
    r"(?!\s*(?:per|/|each|a node))",
    re.I,
)
_COMMENT_LINE = re.compile(r"\s*#(.*)")


def state_all(reading: Reading, tree: Any, table: Table) -> None:
    """State every fact of a table `field -> dotted paths` (the first path that holds a value decides)."""
    for field, paths in table.items():
        hits = find(tree, *paths)
        if hits is not None:
            state(reading, field, hits)


def state(reading: Reading, field: str, hits: Found | None, value: Any = None) -> bool:
    """State one fact from a place in a tree, with `value` where it is not the value as written."""
    if hits is None:
        return False
    return reading.state(field, hits.value if value is None else value, hits.key, hits.line)


def number(tree: Any, *paths: str) -> int | float | None:
    """The number at the first of the paths that holds a value; None for one no run can have."""
    hits = find(tree, *paths)
    value = None if hits is None else fields.number(hits.value)
    return value if value is not None and abs(value) <= fields.LARGEST else None


def truth(tree: Any, *paths: str) -> bool | None:
    """The yes or no at the first of the paths that holds a value."""
    hits = find(tree, *paths)
    return None if hits is None else fields.truth(hits.value)


def word(tree: Any, *paths: str) -> str:
    """The text at the first of the paths that holds a value, lower case; empty when there is none."""
    hits = find(tree, *paths)
    return "" if hits is None or isinstance(hits.value, dict | list) else str(hits.value).strip().lower()


def agree(reading: Reading, field: str, places: Iterable[Found | None]) -> None:
    """State a fact several keys may hold; when they disagree, warn and leave it out."""
    known = [(p, v) for p in places if p is not None and (v := fields.coerce(field, p.value)) is not None]
    if not known:
        return
    if len({v for _, v in known}) > 1:
        reading.warn("conflicting-keys", "; ".join(f"{p.key} says {v} (line {p.line})" for p, v in known))
        return
    place, value = known[0]
    reading.state(field, value, place.key, place.line)


def warn_repeated(reading: Reading, tree: Any) -> None:
    """Warn of keys that stand twice in one mapping."""
    for path in repeated(tree)[:20]:
        reading.warn("duplicate-key", f"{path} appears more than once; the last one counts")


def comment_blocks(document: Document) -> list[tuple[int, str]]:
    """Comments that stand on lines of their own, neighbouring lines joined: (first line, text).

    A comment behind a value speaks of that value, often of another run, and is not among them.
    """
    blocks: list[tuple[int, str]] = []
    last = -1
    for index, line in enumerate(document.lines, 1):
        match = _COMMENT_LINE.fullmatch(line)
        if match is None:
            continue
        if last == index - 1 and blocks:
            blocks[-1] = (blocks[-1][0], f"{blocks[-1][1]} {match.group(1).strip()}")
        else:
            blocks.append((index, match.group(1).strip()))
        last = index
    return blocks


def remark_devices(reading: Reading, document: Document) -> None:
    """Take the device count that whole-line comments agree on; nothing when none or several are named."""
    seen: dict[int, int] = {}
    for line, text in comment_blocks(document):
        for match in _DEVICES.finditer(text):
            seen.setdefault(int(match.group(1)), line)
    if len(seen) == 1:
        ((count, line),) = seen.items()
        reading.remark("accelerators", count, "comment", line)


def duration(text: Any) -> tuple[str, int] | None:
    """A length of training as (unit, number): ``2e12T`` tokens, ``63900ba`` or ``5000`` steps; None for epochs, shares.

    >>> duration("2e12T"), duration("63900ba"), duration(1000), duration("2ep"), duration("0.1dur")
    (('tokens', 2000000000000), ('steps', 63900), ('steps', 1000), None, None)
    """
    match = re.fullmatch(r"\s*([\d._]+(?:[eE][+-]?\d{1,3})?)\s*(T|tok|ba|)\s*", str(text)[:60])
    if match is None or isinstance(text, bool):
        return None
    count = fields.whole(match.group(1))
    unit = "tokens" if match.group(2) in {"T", "tok"} else "steps"
    return None if not count else (unit, count)
