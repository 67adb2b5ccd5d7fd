"""Resolve `${...}` in a tree the way OmegaConf does, without environment, code or unbounded recursion.

Known: `${a.b}`, `${a[0]}`, relative `${.x}` and `${..x}`, nested `${a.${b}}`, text around an interpolation, `oc.env`,
`oc.decode`, `oc.select` and the arithmetic of `resolvers`. What cannot be resolved stays as written; `fields.coerce`
takes such text for unknown.
"""

from collections.abc import Mapping
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.read.resolvers import CALL, RESOLVERS
from etl.importers.read.trees import Map, Seq
from etl.importers.read.yaml import scalar

DEEPEST_REFERENCE = 40
MOST_REFERENCES = 20_000
LONGEST_TEXT = 100_000
Path = tuple[str, ...]


class _UnknownError(Exception):
    """An interpolation whose value the file does not hold."""


def resolve(root: Map, env: Mapping[str, Any] | None = None, colon_default: bool = False) -> "Resolved":
    """The tree with its interpolations replaced by values.

    Parameters: `env`, values for `oc.env` that companions state (the machine's own environment is never read);
    `colon_default`, read `${X:4}` as "variable X, else 4" (Primus). Raises ImporterError for a reference that leads to
    itself.

    >>> from etl.importers.read.yaml import read_yaml
    >>> tree = read_yaml("a: {h: 8, f: '${multiply:4, ${.h}}'}\\nb: ${a.f}\\nc: ${nowhere}", "f.yaml")
    >>> resolve(tree).tree
    {'a': {'h': 8, 'f': 32}, 'b': 32, 'c': '${nowhere}'}
    """
    resolver = _Resolver(root, env or {}, colon_default)
    return Resolved(resolver.node(root, (), 0), resolver.assumed)


class Resolved:
    """A resolved tree; `assumed` holds the dotted paths whose value is the default of an unset variable."""

    def __init__(self, tree: Map, assumed: set[str]) -> None:
        self.tree = tree
        self.assumed = assumed


class _Resolver:
    def __init__(self, root: Map, env: Mapping[str, Any], colon_default: bool) -> None:
        self.root, self.env, self.colon_default = root, env, colon_default
        self.assumed: set[str] = set()
        self.done: dict[Path, Any] = {}
        self.count = 0
        self.fell_back = False

    def node(self, value: Any, path: Path, depth: int) -> Any:
        """A copy of a node with everything below it resolved; shared nodes are bounded by the reader's own count."""
        if isinstance(value, Map):
            copy = Map(value.line)
            copy.lines, copy.twice, copy.merged = value.lines, value.twice, value.merged
            for key, inner in value.items():
                dict.__setitem__(copy, key, self.node(inner, (*path, key), depth))
            return copy
        if isinstance(value, Seq):
            items = Seq(value.line)
            items.lines = value.lines
            items.extend(self.node(inner, (*path, str(i)), depth) for i, inner in enumerate(value))
            return items
        return self._leaf(value, path, depth) if isinstance(value, str) and "${" in value else value

    def _leaf(self, text: str, path: Path, depth: int) -> Any:
        if path in self.done:
            return self.done[path]
        before, self.fell_back = self.fell_back, False
        try:
            value = self._text(text, path, depth)
            if self.fell_back:
                self.assumed.add(".".join(path))
        except _UnknownError:
            value = text
        self.fell_back = before or self.fell_back
        self.done[path] = value
        return value

    def _text(self, text: str, path: Path, depth: int) -> Any:
        """The value of a text: typed when it is one interpolation, joined text otherwise."""
        self._bound(text, depth)
        parts: list[Any] = []
        at = 0
        while (start := text.find("${", at)) >= 0:
            end = _closing(text, start)
            parts += [text[at:start], self._inner(text[start + 2 : end], path, depth + 1)]
            at = end + 1
        parts.append(text[at:])
        filled = [p for p in parts if p != ""]
        if len(filled) == 1:
            return filled[0]
        joined = "".join(map(str, filled))
        self._bound(joined, depth)
        return joined

    def _bound(self, text: str, depth: int) -> None:
        self.count += 1
        if depth > DEEPEST_REFERENCE or self.count > MOST_REFERENCES or len(text) > LONGEST_TEXT:
            raise ImporterError(
                f"the interpolation {text[:40]!r} refers to itself or grows without end; break the loop"
            )

    def _inner(self, inner: str, path: Path, depth: int) -> Any:
        call = CALL.fullmatch(inner.strip())
        if call and self.colon_default and call.group(1) not in RESOLVERS and not call.group(1).startswith("oc."):
            return self._variable(call.group(1), call.group(2), path, depth)
        if call:
            return self._call(call.group(1), call.group(2), path, depth)
        reference = str(self._text(inner.strip(), path, depth))
        if self.colon_default and reference in self.env:
            return self.env[reference]
        return self._reference(reference, path, depth)

    def _call(self, name: str, rest: str, path: Path, depth: int) -> Any:
        arguments = _split(rest)
        if name == "oc.env":
            return self._variable(arguments[0], arguments[1] if len(arguments) > 1 else None, path, depth)
        values = [self._argument(a, path, depth) for a in arguments]
        if name == "oc.decode":
            return scalar(values[0]) if isinstance(values[0], str) else values[0]
        if name == "oc.select":
            return self._select(values, depth)
        try:
            value = RESOLVERS[name](*values) if name in RESOLVERS else None
        except TypeError:
            value = None
        if value is None:
            raise _UnknownError(name)
        return value

    def _select(self, values: list[Any], depth: int) -> Any:
        try:
            return self._reference(str(values[0]), (), depth)
        except _UnknownError:
            if len(values) > 1:
                return values[1]
            raise

    def _variable(self, name: str, fallback: str | None, path: Path, depth: int) -> Any:
        name = str(self._argument(name, path, depth))
        if name in self.env:
            return self.env[name]
        if fallback is None:
            raise _UnknownError(name)
        self.fell_back = True
        return self._argument(fallback, path, depth)

    def _argument(self, text: str, path: Path, depth: int) -> Any:
        text = text.strip()
        if len(text) > 1 and text[0] == text[-1] and text[0] in "'\"":
            return text[1:-1]
        return self._text(text, path, depth) if "${" in text else scalar(text)

    def _reference(self, reference: str, path: Path, depth: int) -> Any:
        target = _target(reference, path)
        node: Any = self.root
        for part in target:
            if isinstance(node, str) and "${" in node:
                raise _UnknownError(reference)
            node = _step(node, part, reference)
        if node is None:
            return None
        self._bound(reference, depth)
        return self.node(node, target, depth)


def _target(reference: str, path: Path) -> Path:
    """The absolute path of a reference seen from the value at `path`: one dot is the value's own mapping."""
    name = reference.lstrip(".")
    up = len(reference) - len(name)
    parts = tuple(p for p in name.replace("[", ".").replace("]", "").split(".") if p)
    return path[: max(0, len(path) - up)] + parts if up else parts


def _step(node: Any, part: str, reference: str) -> Any:
    if isinstance(node, dict) and part in node:
        return node[part]
    if isinstance(node, list) and part.isdigit() and len(part) < 7 and int(part) < len(node):
        return node[int(part)]
    raise _UnknownError(reference)


def _closing(text: str, start: int) -> int:
    """The index of the brace that closes the interpolation opened at `start`."""
    depth, at = 0, start
    while at < len(text):
        if text.startswith("${", at):
            depth += 1
            at += 1
        elif text[at] == "}":
            depth -= 1
            if depth == 0:
                return at
        at += 1
    raise _UnknownError(text)


def _split(text: str) -> list[str]:
    """Arguments separated by commas outside braces and quotes."""
    parts, depth, quote, current = [], 0, "", ""
    for sign in text:
        quote = "" if sign == quote else sign if not quote and sign in "'\"" else quote
        depth += (sign in "{[(") - (sign in "}])")
        if sign == "," and depth == 0 and not quote:
            parts.append(current)
            current = ""
        else:
            current += sign
    return [*parts, current]
