"""Read JSON in one pass with the line of every key; no recursion, no limit of Python's own reader to trip over."""

import re
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.read.trees import DEEPEST, LARGEST_TREE, MOST_NODES, Map, Seq, too_much

LONGEST_NUMBER = 400
_TOKEN = re.compile(
    r'"((?:[^"\\\n]|\\.)*)"|([{}\[\],:])|(-?\d[\d.eE+\-]*)|(-?Infinity|NaN|true|false|null)|(\n)|[ \t]+|(.)', re.S
)
_ESCAPE = re.compile(r"\\(u[0-9a-fA-F]{4}|.)", re.S)
_ESCAPED = {"n": "\n", "t": "\t", "r": "\r", "b": "\b", "f": "\f"}
_WORDS = {
    "true": True,
    "false": False,
    "null": None,
    "Infinity": float("inf"),
    "-Infinity": float("-inf"),
    "NaN": float("nan"),
}


def read_json(text: str, name: str) -> Map:
    """The object at the root of a JSON text; `Infinity`, blank lines and CRLF are allowed.

    >>> tree = read_json('\\n{"a": {"b": [1, 2.5]},\\n "c": "x"}', "f.json")
    >>> tree["a"]["b"], tree.lines["c"]
    ([1, 2.5], 3)
    """
    if len(text) > LARGEST_TREE:
        raise too_much(name, f"holds {len(text)} characters of JSON")
    root = _JsonReader(name).read(text)
    if not isinstance(root, Map):
        raise ImporterError(f"{name} holds a JSON {type(root).__name__}, not an object of settings")
    return root


class _JsonReader:
    """An iterative JSON reader: one pass over the tokens with a stack of open containers."""

    def __init__(self, name: str) -> None:
        self.name = name
        self.line = 1
        self.stack: list[tuple[Map | Seq, str | None, int]] = []
        self.key: str | None = None
        self.key_line = 1
        self.want = "value"
        self.root: Any = None
        self.nodes = 0

    def read(self, text: str) -> Any:
        done = False
        for match in _TOKEN.finditer(text):
            group = match.lastindex
            if group is None:
                continue
            if group == 5:
                self.line += 1
            elif done or group == 6:
                raise self._bad(match.group())
            else:
                self._take(group, match.group(group))
                done = self.want == "value" and not self.stack and self.nodes > 0
        if not done:
            raise ImporterError(f"{self.name}:{self.line} ends in the middle of its JSON")
        return self.root

    def _bad(self, hits: str) -> ImporterError:
        return ImporterError(f"{self.name}:{self.line} is no JSON: found {hits[:20]!r} where it cannot stand")

    def _take(self, group: int, sign: str) -> None:
        if group == 2 and sign in "}]":
            self._close(sign)
        elif group == 2 and sign in ",:":
            if self.want != sign:
                raise self._bad(sign)
            self.want = "value" if sign == ":" or isinstance(self.stack[-1][0], Seq) else "key"
        elif self.want in {"key", "key or }"}:
            if group != 1:
                raise self._bad(sign)
            self.key, self.key_line, self.want = _unescape(sign), self.line, ":"
        elif self.want in {"value", "value or ]"}:
            self._value(group, sign)
        else:
            raise self._bad(sign)

    def _value(self, group: int, sign: str) -> None:
        self.nodes += 1
        if self.nodes > MOST_NODES or len(self.stack) >= DEEPEST:
            raise too_much(self.name, f"holds more than {MOST_NODES} values or nests deeper than {DEEPEST}")
        if group == 2:
            container: Map | Seq = Map(self.line) if sign == "{" else Seq(self.line)
            self.stack.append((container, self.key, self.key_line))
            self.want = "key or }" if sign == "{" else "value or ]"
            return
        self._put(_unescape(sign) if group == 1 else _WORDS[sign] if group == 4 else self._number(sign))

    def _number(self, sign: str) -> int | float:
        if len(sign) > LONGEST_NUMBER:
            raise ImporterError(f"{self.name}:{self.line} holds a number of {len(sign)} digits; no config has one")
        try:
            return int(sign) if sign.lstrip("-").isdigit() else float(sign)
        except ValueError:
            raise self._bad(sign) from None

    def _close(self, sign: str) -> None:
        allowed = {",", "key or }"} if sign == "}" else {",", "value or ]"}
        if not self.stack or self.want not in allowed or isinstance(self.stack[-1][0], Map) != (sign == "}"):
            raise self._bad(sign)
        container, self.key, self.key_line = self.stack.pop()
        self._put(container)

    def _put(self, value: Any) -> None:
        if not self.stack:
            self.root, self.want = value, "value"
            return
        parent = self.stack[-1][0]
        if isinstance(parent, Map):
            parent.put(self.key or "", value, self.key_line)
        else:
            parent.append(value)
            parent.lines.append(self.line)
        self.want = ","


def _unescape(text: str) -> str:
    def one(match: re.Match[str]) -> str:
        code = match.group(1)
        return chr(int(code[1:], 16)) if code[0] == "u" and len(code) == 5 else _ESCAPED.get(code, code)

    return _ESCAPE.sub(one, text) if "\\" in text else text
