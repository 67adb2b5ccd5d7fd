"""Strict YAML: bytes in, a tree with places out, and every refusal as a finding with the corrected line."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from pathlib import Path as FilePath
from typing import Any

from etl.yaml import encoding, errors
from etl.yaml.findings import Finding
from etl.yaml.nodes import Node, Path, Place, locate, plain, scalar
from etl.yaml.row_table import RowTable

DEPTH_LIMIT = 12


@dataclass
class Doc:
    """One file: its values, its tree, its text, and what the reader refused. `root` is None when there is no tree.

    `spans` gives where scalars start and end, for texts with a '#' in them; `table` holds rows that stand in a CSV file
    beside it.
    """

    path: str
    text: str = ""
    root: Node | None = None
    findings: list[Finding] = field(default_factory=list)
    spans: list[tuple[int, int, str]] = field(default_factory=list)
    table: RowTable | None = None
    _value: Any = None

    @property
    def value(self) -> Any:
        """Plain Python values; None when the file could not be read."""
        if self._value is None and self.root is not None:
            self._value = plain(self.root)
            if self.table is not None and isinstance(self._value, dict):
                self._value["rows"] = self.table.rows
        return self._value

    @property
    def positions(self) -> dict[Path, Place]:
        """Every path of the document with its line and column."""
        return dict(_positions(self.root, self.root, ())) if self.root else {}

    def locate(self, path: Path, key: bool = False) -> Place:
        """Line and column of the value at a path, or of its key; in the table beside the file for one of its rows."""
        if self.table is not None and path[:1] == ("rows",):
            return self.table.locate(path, key)
        return locate(self.root, path, key) if self.root else (1, 1)

    def file_of(self, path: Path) -> str:
        """Name of the file that `locate` speaks of."""
        return self.table.path if self.table is not None and path[:1] == ("rows",) else self.path

    @cached_property
    def lines(self) -> list[str]:
        """The text line by line, split once."""
        return self.text.split("\n")

    def line(self, number: int) -> str:
        """One line of the file, counted from 1."""
        return self.lines[number - 1] if 0 < number <= len(self.lines) else ""


def _positions(root: Node, node: Node, path: Path) -> Iterator[tuple[Path, Place]]:
    yield path, locate(root, path)
    inner = node.value
    for step in inner if isinstance(inner, dict) else range(len(inner)) if isinstance(inner, list) else ():
        yield from _positions(root, node.value[step], (*path, step))


def read(path: FilePath, name: str | None = None) -> Doc:
    """Read one file.

    Parameters
    ----------
    path : the file
    name : the path to show in findings; default is `path`

    Returns
    -------
    the document; look at `findings` before `value`
    """
    shown = name or path.as_posix()
    content = encoding.fetch(path, shown)
    return Doc(shown, findings=[content]) if isinstance(content, Finding) else parse(content, shown)


def parse(content: bytes, name: str) -> Doc:
    """Read the content of one file.

    Parameters
    ----------
    content : bytes of the file
    name : the path to show in findings

    Returns
    -------
    the document; look at `findings` before `value`

    >>> parse(b"tokens: 1e25\\n", "a.yaml").value
    {'tokens': 1e+25}
    >>> parse(b"a: 1\\na: 2\\n", "a.yaml").findings[0].text()
    "a.yaml:2:1 YAM011 the key 'a' appears twice, first on line 1\\n    keep one of the two lines: a: 1"
    """
    text, findings = encoding.decode(content, name)
    doc = Doc(name, text, None, findings)
    if any(finding.code not in encoding.REPAIRABLE for finding in findings):
        return doc
    builder = _Builder(doc)
    doc.root = builder.build()
    if any(finding.code not in encoding.REPAIRABLE for finding in doc.findings):
        doc.root = None
        # Where the rest is not YAML either, do not report the missing line end as well.
        doc.findings = [finding for finding in doc.findings if finding.code != "YAM019"]
    return doc


class _TooDeepError(Exception):
    """Ends the reading of a file that is nested too deep."""


class _Builder:
    """Turns the parser's events into nodes, refusing what strict YAML does not have."""

    def __init__(self, doc: Doc) -> None:
        self.doc = doc
        self.seen: set[tuple[str, Place]] = set()
        self.hashes = "#" in doc.text

    def build(self) -> Node | None:
        from yaml import MarkedYAMLError, YAMLError

        try:
            return self._document()
        except _TooDeepError:
            return None
        except MarkedYAMLError as error:
            self.doc.findings.append(errors.syntax(self.doc.path, self.doc.text, error))
        except YAMLError:
            self._refuse("YAM008", (1, 1), "the file is not YAML", "compare it with another record")
        return None

    def _document(self) -> Node | None:
        from yaml import parse as events
        from yaml.cyaml import CSafeLoader

        stream = events(self.doc.text, Loader=CSafeLoader)
        root = None
        for event in stream:
            kind = type(event).__name__
            if kind == "DocumentStartEvent":
                self._start(event, root is not None)
            elif not kind.startswith(("Stream", "Document")):
                root = self._node(event, stream, 0)
        if root is None:
            self._refuse("YAM007", (1, 1), "the file contains no record", "shardbook new run ORG/NAME prints a draft")
        return root

    def _start(self, event: Any, second: bool) -> None:
        if event.explicit or second:
            place = (event.start_mark.line + 1, 1)
            tip = "delete that line" if not second else "put the second record into a file of its own"
            self._refuse("YAM014", place, "a file holds one record and no '---' or '%' line", tip)

    def _node(self, event: Any, stream: Iterator[Any], depth: int) -> Node:
        mark = event.start_mark
        place = (mark.line + 1, mark.column + 1)
        self._check(event, place, depth)
        kind = type(event).__name__
        if kind == "MappingStartEvent":
            style = "{" if event.flow_style else ""
            return self._mapping(Node({}, place, mark.index, mark.index, style=style), stream, depth)
        if kind == "SequenceStartEvent":
            style = "[" if event.flow_style else ""
            return self._sequence(Node([], place, mark.index, mark.index, style=style), stream, depth)
        if kind == "AliasEvent":
            return Node(None, place, mark.index, event.end_mark.index)
        if self.hashes:
            self.doc.spans.append((mark.index, event.end_mark.index, event.style or ""))
        value = scalar(event.value, event.implicit[0] and not event.style)
        return Node(value, place, mark.index, event.end_mark.index, event.value, event.style or "")

    def _check(self, event: Any, place: Place, depth: int) -> None:
        """Anchors, aliases, tags and depth."""
        line = self.doc.line(place[0])
        if getattr(event, "anchor", None):
            tip = errors.without(line, rf"[&*]{event.anchor}\s?", "write the value out: ")
            self._refuse("YAM009", place, f"anchors and aliases ({event.anchor!r}) are not used in records", tip)
        if getattr(event, "tag", None):
            tip = errors.without(line, r"!\S*\s?", "write the value without a tag: ")
            self._refuse("YAM010", place, "tags (words that start with '!') are not used in records", tip)
        if depth == DEPTH_LIMIT:
            message = f"values are nested more than {DEPTH_LIMIT} deep"
            self._refuse("YAM013", place, message, "compare the nesting with another record; none needs more than 6")
            raise _TooDeepError

    def _sequence(self, node: Node, stream: Iterator[Any], depth: int) -> Node:
        for event in stream:
            if type(event).__name__ == "SequenceEndEvent":
                node.end = event.end_mark.index
                break
            below = self._node(event, stream, depth + 1)
            self._given(below, "a list item")
            node.value.append(below)
        return node

    def _mapping(self, node: Node, stream: Iterator[Any], depth: int) -> Node:
        for event in stream:
            if type(event).__name__ == "MappingEndEvent":
                node.end = event.end_mark.index
                break
            key = self._key(node, event, stream, depth)
            below = self._node(next(stream), stream, depth + 1)
            self._given(below, repr(key))
            node.value.setdefault(key, below)
        return node

    def _key(self, node: Node, event: Any, stream: Iterator[Any], depth: int) -> str:
        key = self._node(event, stream, depth + 1)
        name = key.text
        if isinstance(key.value, dict | list) or not name:
            self._refuse("YAM016", key.place, "a key is one word of text", "write it as  key: value")
        elif name in node.keys:
            first = node.keys[name][0]
            kept = self.doc.line(first).strip() if first != key.place[0] else name
            message = f"the key {name!r} appears twice, first on line {first}"
            self._refuse("YAM011", key.place, message, f"keep one of the two lines: {kept}")
        else:
            node.keys[name] = key.place
        return name

    def _given(self, below: Node, what: str) -> None:
        """Refuse keys without a value, and infinities."""
        line = self.doc.line(below.place[0]).strip()
        if below.value is None and ("YAM009", below.place) not in self.seen:
            tip = "give the value or delete the line; where the authors chose not to print it, name it in not_disclosed"
            self._refuse("YAM015", below.place, f"{what} has no value", tip)
        elif isinstance(below.value, float) and abs(below.value) == float("inf"):
            message = f"{below.text[:20]!r} is not a finite number"
            tip = f"delete it where the number is not known, or write the number that the source prints: {line[:60]}"
            self._refuse("YAM012", below.place, message, tip.replace(below.text, "<number>") if below.text else tip)

    def _refuse(self, code: str, place: Place, message: str, tip: str) -> None:
        if (code, place) not in self.seen and len(self.seen) < 100:
            self.seen.add((code, place))
            self.doc.findings.append(Finding(self.doc.path, *place, code, message, tip))
