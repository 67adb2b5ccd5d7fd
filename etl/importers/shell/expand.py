"""Expand words over known variables: parameters with their operators, arithmetic, pure command substitutions."""

import fnmatch
from typing import Any, Protocol

from etl.importers.shell import arithmetic
from etl.importers.shell.tree import Arith, Lit, Param, Part, Pipe, Simple, Substitution, Word
from etl.importers.shell.values import UNKNOWN, UNSET, Piece, Rope, Value, known, split, text

DEEPEST = 40
LONGEST_BODY = 4_000


class Scope(Protocol):
    """What expansion needs from an interpreter."""

    variables: dict[str, Value]

    def get(self, name: str) -> Value | None:
        """The value of a variable, or None when no file sets it."""

    def aside(self, script: tuple[Any, ...]) -> None:
        """Follow the commands of a substitution, whose variables are its own."""


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
            quoted = isinstance(part, Arith) or part.quoted
            for index, value in enumerate([Rope(self._joined(part))] if _one(part) else self.values(part)):
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
        if isinstance(part, Lit):
            return [text(part.text, line)]
        self.depth += 1
        try:
            if self.depth >= DEEPEST:
                return [text(UNKNOWN, line)]
            return [self._printed(part)] if isinstance(part, Substitution) else self._parameter(part)
        finally:
            self.depth -= 1

    def arithmetic(self, body: Word) -> int | None:
        """The value of the inside of `$((...))`."""
        expanded = str(self.join(body))
        known_text = known(expanded) and len(expanded) <= LONGEST_BODY
        return arithmetic.evaluate(expanded, self._number) if known_text else None

    def _number(self, name: str) -> str | None:
        value = self.scope.get(name)
        return str(value) if isinstance(value, Rope) and known(str(value)) else None

    def _printed(self, part: Substitution) -> Rope:
        """What `$(echo 3 * 4 | bc)`, `$(expr 3 + 4)`, `$(echo word)` and `$(cat <<END ...)` print; else unknown.

        The commands of any other substitution are followed for what they start, such as `$(sbatch --nodes=4 job.sh)`.
        """
        script = part.script[0] if len(part.script) == 1 else None
        calculator = isinstance(script, Pipe) and len(script.body) == 2 and self._called(script.body[1]) == "bc"
        command = script.body[0] if isinstance(script, Pipe) and calculator else script
        name = self._called(command)
        if isinstance(command, Simple) and name == "cat" and len(command.words) == 1 and command.documents:
            return self.join(command.documents[0])
        if isinstance(command, Simple) and name in {"echo", "expr"}:
            words = [piece for word in command.words[1:] for piece in ((" ", part.line), self.join(word))]
            printed = Rope(words[1:])
            if not calculator and name == "echo":
                return printed
            value = arithmetic.evaluate(str(printed).removeprefix("scale=0;"), lambda _: None)
            return text(UNKNOWN if value is None else str(value), part.line)
        if isinstance(command, Simple) is False and self._joins(part.script):
            values = self.values(part.script[1].words[1][1])
            pieces: list[Piece | Rope] = [piece for value in values for piece in ((",", part.line), value)]
            return Rope(pieces[1:])
        self.scope.aside(part.script)
        return text(UNKNOWN, part.line)

    def _joins(self, script: tuple[Any, ...]) -> bool:
        """Whether a script is `IFS=,; echo "${A[*]}"`, which prints an array with commas."""
        if len(script) != 2 or not all(isinstance(node, Simple) for node in script) or len(script[1].words) != 2:
            return False
        assigned = [(a.name, str(self.join(a.value))[:1]) for a in script[0].assigns if isinstance(a.value, tuple)]
        parts = [part for part in script[1].words[1] if not isinstance(part, Lit) or part.text]
        joined = len(script[1].words[1]) == 2 and len(parts) == 1 and _one(parts[0])
        return assigned == [("IFS", ",")] and self._called(script[1]) == "echo" and joined

    def _called(self, node: Any) -> str:
        """The name of a command that is written out."""
        first = node.words[0] if isinstance(node, Simple) and node.words else ()
        return "".join(p.text for p in first if isinstance(p, Lit))

    def _parameter(self, part: Param) -> list[Rope]:
        if part.mark == "!" or not part.name:
            return [text(UNKNOWN, part.line)]
        index = None if part.index is None else str(self.join(part.index)).strip("\"'")
        values = self._stored(part.name, index, part.line)
        if part.mark == "#":
            return [text(str(len(values)) if index else UNKNOWN, part.line)]
        if not part.operator:
            return values
        return self._operate(part, values)

    def _stored(self, name: str, index: str | None, line: int) -> list[Rope]:
        value = self.scope.get(name)
        if value is None:
            return [] if name in {"@", "*"} else [text(UNSET, line)]
        if isinstance(value, Rope):
            return [value]
        if index in {"@", "*"}:
            return list(value.values()) if isinstance(value, dict) else list(value)
        if isinstance(value, dict):
            hits = value.get(index or "0")
            return [text(UNKNOWN, line) if hits is None else hits]
        if name in {"@", "*"}:
            return list(value)
        place = arithmetic.evaluate(index or "0", self._number) if known(index or "0") else None
        return [value[place] if place is not None and -len(value) <= place < len(value) else text(UNKNOWN, line)]

    def _operate(self, part: Param, values: list[Rope]) -> list[Rope]:
        """The operators of `${NAME...}`."""
        stored = " ".join(str(v) for v in values)
        unset = stored == UNSET or not values
        operator, line = part.operator, part.line
        empty = unset or (operator.startswith(":") and stored == "")
        operand = part.operands[0] if part.operands else ()
        if operator in {":-", "-", ":=", "="}:
            if not empty:
                return values
            fallback = self.join(operand)
            if operator.endswith("="):
                self.scope.variables[part.name] = fallback
            return [fallback]
        if operator in {":+", "+"}:
            return [text("", line) if empty else self.join(operand)]
        if operator in {":?", "?"}:
            return values or [text(UNSET, line)]
        if not known(stored) or len(values) != 1:
            return [text(UNKNOWN, line)]
        return [text(self._edited(stored, operator, part.operands), line)]

    def _edited(self, value: str, operator: str, operands: tuple[Word, ...]) -> str:
        """Trimming, replacing, cutting and changing case of a known text."""
        if operator in {"^^", "^"}:
            return value.upper() if operator == "^^" else value[:1].upper() + value[1:]
        if operator in {",,", ","}:
            return value.lower() if operator == ",," else value[:1].lower() + value[1:]
        first, second = (*operands, (), ())[:2]
        if operator == ":":
            return _cut(value, self.arithmetic(first), self.arithmetic(second) if second else None)
        pattern = str(self.join(first))
        if operator in {"/", "//"}:
            change = str(self.join(second))
            times = -1 if operator == "//" else 1
            return value.replace(pattern, change, times) if pattern and known(change) else UNKNOWN
        return _trimmed(value, pattern, operator) if len(value) < 2000 and operator[0] in "#%" else UNKNOWN


def _one(part: Part) -> bool:
    """Whether an expansion is one argument however many values it has: `"$*"` and `"${A[*]}"`."""
    if not isinstance(part, Param) or not part.quoted:
        return False
    index = "".join(p.text for p in part.index or () if isinstance(p, Lit))
    return "*" in {part.name, index}


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
