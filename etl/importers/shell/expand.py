"""Expand words over known variables: parameters with their operators, arithmetic, pure command substitutions."""

import fnmatch
import re
from typing import Protocol

from etl.importers.shell import arithmetic
from etl.importers.shell.nodes import Arith, Lit, Param, Part, Substitution, Word
from etl.importers.shell.quotes import line_counter
from etl.importers.shell.values import UNKNOWN, UNSET, Piece, Rope, Value, known, split, text
from etl.importers.shell.words import Words

DEEPEST = 40
LONGEST_BODY = 4_000
_BODY = re.compile(r"([#!]?)([A-Za-z_]\w*|[0-9]+|[@*#?$!-])(\[[^\]]*\])?(.*)", re.S)
_OPERATOR = re.compile(r"(:?[-=+?]|##?|%%?|//?|\^\^?|,,?|:)(.*)", re.S)
_PURE = re.compile(r"\s*(?:echo|expr)\s+\"?(?:scale=0;)?([^|;&`$<>]*?)\s*(?:\|\s*bc\s*)?$")


class Scope(Protocol):
    """What expansion needs from an interpreter."""

    variables: dict[str, Value]

    def get(self, name: str) -> Value | None:
        """The value of a variable, or None when no file sets it."""


class Expander:
    """Expands words in a scope."""

    def __init__(self, scope: Scope) -> None:
        self.scope = scope
        self.depth = 0

    def join(self, word: Word) -> Rope:
        """A word as one text, as in an assignment or a quoted string: nothing is split."""
        return Rope(piece for part in word for piece in self._joined(part))

    def _joined(self, part: Part) -> list[Piece | Rope]:
        if isinstance(part, Lit):
            return [(part.text, part.line)]
        values = self.values(part)
        pieces: list[Piece | Rope] = []
        for index, value in enumerate(values):
            pieces += [(" ", part.line), value] if index else [value]
        return pieces

    def fields(self, word: Word) -> list[Rope]:
        """A word as the arguments it makes: unquoted expansions split at blanks, `"${A[@]}"` gives one per element."""
        done: list[list[Piece | Rope]] = []
        current: list[Piece | Rope] = []
        started = False
        for part in word:
            if isinstance(part, Lit):
                current.append((part.text, part.line))
                started = started or part.quoted or bool(part.text)
                continue
            quoted = isinstance(part, Param) and part.quoted
            for index, value in enumerate(self.values(part)):
                if index and (started or current):
                    done.append(current)
                    current = []
                if quoted:
                    current.append(value)
                    started = True
                else:
                    chunks = split(value)
                    for place, chunk in enumerate(chunks):
                        if place and (current or started):
                            done.append(current)
                            current, started = [], False
                        current += chunk
        return [Rope(pieces) for pieces in [*done, current] if pieces or (started and pieces is current)]

    def values(self, part: Part) -> list[Rope]:
        """The texts one expansion stands for."""
        line = part.line
        if isinstance(part, Arith):
            value = self.arithmetic(part.body)
            return [text(UNKNOWN if value is None else str(value), line)]
        if isinstance(part, Substitution):
            return [text(self._pure(part.body), line)]
        if isinstance(part, Lit):
            return [text(part.text, line)]
        self.depth += 1
        try:
            return self._parameter(part) if self.depth < DEEPEST else [text(UNKNOWN, line)]
        finally:
            self.depth -= 1

    def arithmetic(self, body: str) -> int | None:
        """The value of the inside of `$((...))`."""
        if len(body) > LONGEST_BODY:
            return None
        expanded = str(self.inner(body, 0))
        return arithmetic.evaluate(expanded, self._number) if known(expanded) else None

    def _number(self, name: str) -> str | None:
        value = self.scope.get(name)
        return str(value) if isinstance(value, Rope) and known(str(value)) else None

    def inner(self, body: str, line: int) -> Rope:
        """Text inside an operator or arithmetic, with its own expansions."""
        words = Words(body, line_counter(body, line))
        parts: list[Part] = []
        while not words.done():
            word = words.word()
            if word is not None:
                parts += word
            else:
                parts.append(Lit(words.text[words.at], line))
                words.at += 1
        return self.join(tuple(parts))

    def _pure(self, body: str) -> str:
        """`$(echo 3 * 4 | bc)`, `$(expr 3 + 4)` and `$(echo word)`; everything else stays unknown."""
        expanded = str(self.inner(body, 0)) if "$" in body and "`" not in body and "$(" not in body else body
        match = _PURE.fullmatch(expanded) if known(expanded) else None
        if match is None:
            return UNKNOWN
        inside = match.group(1).replace("\\*", "*").strip("\"' ")
        value = arithmetic.evaluate(inside, lambda _: None)
        computed = "bc" in expanded or expanded.lstrip().startswith("expr")
        return str(value) if computed and value is not None else UNKNOWN if computed else inside

    def _parameter(self, part: Param) -> list[Rope]:
        match = _BODY.fullmatch(part.body) if len(part.body) <= LONGEST_BODY else None
        if match is None:
            return [text(UNKNOWN, part.line)]
        mark, name, index, rest = match.groups()
        if mark == "!" or (mark == "#" and name == ""):
            return [text(UNKNOWN, part.line)]
        values = self._stored(name, index[1:-1] if index else None, part.line)
        if mark == "#":
            return [text(str(len(values)) if index else UNKNOWN, part.line)]
        operator = _OPERATOR.fullmatch(rest) if rest else None
        if operator is None:
            return values if values is not None else [text(UNSET, part.line)]
        return self._operate(name, values, operator.group(1), operator.group(2), part.line)

    def _stored(self, name: str, index: str | None, line: int) -> list[Rope]:
        value = self.scope.get(name)
        if value is None:
            return [] if name in {"@", "*"} else [text(UNSET, line)]
        if isinstance(value, Rope):
            return [value]
        if index in {"@", "*"}:
            return list(value.values()) if isinstance(value, dict) else list(value)
        if isinstance(value, dict):
            found = value.get(str(self.inner(index or "0", line)).strip("\"'"))
            return [text(UNKNOWN, line) if found is None else found]
        place = self.arithmetic(index or "0")
        return [value[place] if place is not None and -len(value) <= place < len(value) else text(UNKNOWN, line)]

    def _operate(self, name: str, values: list[Rope], operator: str, operand: str, line: int) -> list[Rope]:
        """The operators of `${NAME...}`."""
        stored = " ".join(str(v) for v in values)
        unset = stored == UNSET or not values
        empty = unset or (operator.startswith(":") and stored == "")
        if operator in {":-", "-", ":=", "="}:
            if not empty:
                return values
            fallback = self.inner(operand, line)
            if operator.endswith("="):
                self.scope.variables[name] = fallback
            return [fallback]
        if operator in {":+", "+"}:
            return [text("" if empty else str(self.inner(operand, line)), line)]
        if operator in {":?", "?"}:
            return values or [text(UNSET, line)]
        if not known(stored) or len(values) != 1:
            return [text(UNKNOWN, line)]
        return [text(self._edited(stored, operator, operand), line)]

    def _edited(self, value: str, operator: str, operand: str) -> str:
        """Trimming, replacing, cutting and changing case of a known text."""
        if operator in {"^^", "^"}:
            return value.upper() if operator == "^^" else value[:1].upper() + value[1:]
        if operator in {",,", ","}:
            return value.lower() if operator == ",," else value[:1].lower() + value[1:]
        if operator == ":":
            start, _, length = operand.partition(":")
            return _cut(value, self.arithmetic(start), self.arithmetic(length) if length else None)
        pattern = str(self.inner(operand.partition("/")[0] if operator.startswith("/") else operand, 0))
        if operator.startswith("/"):
            change = str(self.inner(operand.partition("/")[2], 0))
            return (
                value.replace(pattern, change, -1 if operator == "//" else 1) if pattern and known(change) else UNKNOWN
            )
        return _trimmed(value, pattern, operator) if len(value) < 2000 else UNKNOWN


def _cut(value: str, start: int | None, length: int | None) -> str:
    if start is None:
        return UNKNOWN
    return value[start:] if length is None else value[start : start + length] if length >= 0 else value[start:length]


def _trimmed(value: str, pattern: str, operator: str) -> str:
    """`#` and `##` from the front, `%` and `%%` from the back; single signs take the shortest match."""
    ends = range(len(value) + 1)
    if operator[0] == "#":
        cuts = [n for n in ends if fnmatch.fnmatchcase(value[:n], pattern)]
        return value[min(cuts) if operator == "#" else max(cuts) :] if cuts else value
    cuts = [n for n in ends if fnmatch.fnmatchcase(value[n:], pattern)]
    return value[: max(cuts) if operator == "%" else min(cuts)] if cuts else value
