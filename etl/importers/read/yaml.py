"""Read YAML from parser events, with lines, repeated keys and the size of aliases; tags are data, never called."""

import re
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.read.trees import DEEPEST, LARGEST_TREE, MOST_NODES, Map, Seq, too_much

_NULLS = frozenset({"", "~", "null", "Null", "NULL"})
_TRUTHS = {
    w: v
    for v, words in ((True, "true yes on"), (False, "false no off"))
    for x in words.split()
    for w in (x, x.title(), x.upper())
}
_INTEGER = re.compile(r"[+-]?\d[\d_]*")
_DECIMAL = re.compile(r"[+-]?(?:\d[\d_]*\.[\d_]*|\.\d+)(?:[eE][+-]?\d{1,3})?")


def scalar(text: str) -> Any:
    """The value of a plain YAML scalar as PyYAML reads it: exponents without dot and sign stay text.

    >>> scalar("10_000"), scalar("True"), scalar("1e-6"), scalar("2.5"), scalar("null")
    (10000, True, '1e-6', 2.5, None)
    """
    if text in _NULLS:
        return None
    if text in _TRUTHS:
        return _TRUTHS[text]
    if len(text) <= 400:
        if _INTEGER.fullmatch(text):
            return int(text.replace("_", ""))
        if _DECIMAL.fullmatch(text):
            return float(text.replace("_", ""))
    return text


def read_yaml(text: str, name: str) -> Map:
    """The mapping at the root of the first YAML document of a text.

    Anchors, aliases, merges and unknown tags (`!include`) are read as data; the tag of a scalar is dropped.

    >>> tree = read_yaml("a: &x 1\\nb: {c: *x, c: 3}", "f.yaml")
    >>> tree["b"]["c"], tree["b"].twice, tree.lines["b"]
    (3, ['c'], 2)
    """
    import yaml  # here, because shell scripts and logs need no YAML

    if len(text) > LARGEST_TREE:
        raise too_much(name, f"holds {len(text)} characters of YAML")
    loader = getattr(yaml, "CSafeLoader", yaml.SafeLoader)
    try:
        root = _YamlReader(name).read(yaml.parse(text.replace("\t", "    "), Loader=loader))
    except yaml.YAMLError as e:
        mark = getattr(e, "problem_mark", None)
        where = f":{mark.line + 1}:{mark.column + 1}" if mark is not None else ""
        raise ImporterError(f"{name}{where} is no YAML: {getattr(e, 'problem', None) or 'it cannot be read'}") from None
    except (RecursionError, MemoryError):
        raise too_much(name, "nests too deep") from None
    if not isinstance(root, Map):
        raise ImporterError(f"{name} holds no mapping of settings; is it a config or a log?")
    return root


class _YamlReader:
    """Builds Map and Seq from parser events with a stack of open containers; aliases share, their size counts."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.stack: list[Any] = []
        self.keys: list[tuple[str, int] | None] = []
        self.anchors: dict[str, tuple[Any, int]] = {}
        self.opened: list[tuple[str | None, int]] = []
        self.nodes = 0
        self.root: Any = None
        self.done = False

    def read(self, events: Any) -> Any:
        for event in events:
            kind = type(event).__name__
            line = event.start_mark.line + 1
            if kind == "ScalarEvent":
                value = scalar(event.value) if event.implicit[0] else event.value
                self._anchor(event.anchor, value, 1)
                self._put(value, line, 1)
            elif kind in {"MappingStartEvent", "SequenceStartEvent"}:
                self._open(Map(line) if kind == "MappingStartEvent" else Seq(line), event.anchor)
            elif kind in {"MappingEndEvent", "SequenceEndEvent"}:
                self._close(line)
            elif kind == "AliasEvent":
                if event.anchor not in self.anchors:
                    raise ImporterError(f"{self.name}:{line} points at *{event.anchor}, which is not set before it")
                value, size = self.anchors[event.anchor]
                self._put(value, line, size)
            if self.done:
                break
        return self.root

    def _anchor(self, anchor: str | None, value: Any, size: int) -> None:
        if anchor:
            self.anchors[anchor] = (value, size)

    def _open(self, container: Map | Seq, anchor: str | None) -> None:
        if len(self.stack) >= DEEPEST:
            raise too_much(self.name, f"nests deeper than {DEEPEST}")
        self.stack.append(container)
        self.keys.append(None)
        self.opened.append((anchor, self.nodes))

    def _close(self, line: int) -> None:
        container = self.stack.pop()
        self.keys.pop()
        anchor, before = self.opened.pop()
        self._anchor(anchor, container, self.nodes - before + 1)
        self._put(container, getattr(container, "line", line), 1)

    def _put(self, value: Any, line: int, size: int) -> None:
        self.nodes += size
        if self.nodes > MOST_NODES:
            raise too_much(self.name, f"holds more than {MOST_NODES} values (aliases counted)")
        if not self.stack:
            self.root, self.done = value, True
            return
        parent = self.stack[-1]
        if isinstance(parent, Seq):
            parent.append(value)
            parent.lines.append(line)
        elif self.keys[-1] is None:
            self.keys[-1] = (value if isinstance(value, str) else _key_text(value), line)
        else:
            (key, key_line), self.keys[-1] = self.keys[-1], None
            _enter(parent, key, value, key_line)


def _key_text(value: Any) -> str:
    return "" if isinstance(value, dict | list) else str(value)


def _enter(parent: Map, key: str, value: Any, line: int) -> None:
    """Put a key, or merge `<<` (what is there already stays)."""
    if key != "<<":
        parent.put(key, value, line)
        return
    for source in value if isinstance(value, Seq) else [value]:
        if isinstance(source, Map):
            for name, inner in source.items():
                if name not in parent:
                    parent.put(name, inner, source.lines.get(name, line))
                    parent.merged.add(name)
