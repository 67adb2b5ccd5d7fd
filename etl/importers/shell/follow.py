"""Follow a launch script statically: assignments, arrays, branches over known values. No command is ever run.

What a branch decides only at run time is unknown afterwards; of several possible values none is taken.
"""

import re
from collections.abc import Callable
from pathlib import PurePosixPath
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.shell import conditions
from etl.importers.shell.expand import Expander
from etl.importers.shell.grammar import line_counter
from etl.importers.shell.parse import parse
from etl.importers.shell.tree import (
    AndOr,
    ArithCommand,
    Assign,
    Case,
    Command,
    Count,
    Function,
    Group,
    If,
    Loop,
    Not,
    Pipe,
    Simple,
    Test,
)
from etl.importers.shell.values import UNKNOWN, UNSET, Rope, Value, known, text
from etl.importers.shell.variables import assigned, line_table, merged, possible_flags

MOST_STEPS = 50_000
LONGEST_SCRIPT = 1024 * 1024
MOST_ROUNDS = 64
MOST_COUNTED = 512
DEEPEST_CALL = 8
_CONTINUED = re.compile(r"\\?\n(?=\s*--?[A-Za-z])")
_VALUE = re.compile(r"^--[\w-]+=(?=\S*\s)")
_FLAG = re.compile(r"(?:^|\s)--[a-z]")
_WRAPPERS = frozenset(
    {"eval", "bash", "sh", "srun", "exec", "mpirun", "time", "nohup", "numactl", "sudo", "ssh", "pdsh"}
)
SILENT = frozenset(
    {"echo", "printf", "export", "local", "declare", "readonly", "typeset", "set", "cd", "read", "exit", "return"}
)


class Shell:
    """The state of a script that is followed."""

    def __init__(self, find_source: Callable[[str], str | None] | None = None) -> None:
        self.variables: dict[str, Value] = {}
        self.where: dict[str, int] = {}
        self.commands: list[Command] = []
        self.documents: list[Rope] = []
        self.undecided: set[str] = set()
        self.expander = Expander(self)
        self._functions: dict[str, list[Any]] = {}
        self._find_source = find_source or (lambda _: None)
        self._steps = self._depth = self._doubt = 0

    def get(self, name: str) -> Value | None:
        """The value of a variable, None when no file sets it; a script that is read has no arguments."""
        if name == "#":
            return text("0")
        return self.variables.get(name)

    def word(self, name: str) -> str | None:
        """The known text of a scalar variable, or None."""
        value = self.variables.get(name)
        hits = str(value) if isinstance(value, Rope) else None
        return hits if hits is not None and known(hits) else None

    def run(self, script: str, line_of: Callable[[int], int] | None = None) -> None:
        """Follow a script from its first to its last command.

        Raises ImporterError for one that nests, grows or calls itself without end.
        """
        if len(script) > LONGEST_SCRIPT:
            raise ImporterError(f"the script holds {len(script)} characters; at most {LONGEST_SCRIPT} are followed")
        if self._depth >= DEEPEST_CALL:
            return
        self._depth += 1
        try:
            self._all(parse(script, line_of or line_counter(script)))
        finally:
            self._depth -= 1

    def _all(self, nodes: list[Any]) -> bool | None:
        status: bool | None = True
        for node in nodes:
            status = self._node(node)
        return status

    def _node(self, node: Any) -> bool | None:
        """Follow one node; the truth of a test, True for a command taken to succeed, None when not known."""
        self._steps += 1
        if self._steps > MOST_STEPS:
            raise ImporterError("the script takes more steps than any launch script; it is not read")
        if isinstance(node, Simple):
            return self._simple(node)
        if isinstance(node, Test):
            return conditions.decide(self._test_words(node.words))
        if isinstance(node, ArithCommand):
            value = self.expander.arithmetic(node.body)
            return None if value is None else bool(value)
        if isinstance(node, Pipe):
            return self._all(node.body)
        if isinstance(node, Group):
            return self._apart(node.body) if node.apart else self._all(node.body)
        if isinstance(node, Not):
            truth = self._condition(node.body)
            return None if truth is None else not truth
        if isinstance(node, Function):
            self._functions[node.name] = node.body
        elif isinstance(node, AndOr):
            return self._and_or(node)
        elif isinstance(node, If):
            self._if(node)
        elif isinstance(node, Loop):
            self._loop(node)
        elif isinstance(node, Count):
            self._count(node)
        elif isinstance(node, Case):
            self._case(node)
        return True

    def _test_words(self, words: list[Any]) -> list[str]:
        return [str(self.expander.join(word)) for word in words]

    def aside(self, script: tuple[Any, ...]) -> None:
        """Follow the commands of a substitution: what they start counts, what they assign does not."""
        self._apart(list(script))

    def _apart(self, nodes: list[Any]) -> bool | None:
        before = dict(self.variables)
        if self._depth >= DEEPEST_CALL:
            return None
        self._depth += 1
        truth = self._all(nodes)
        self._depth -= 1
        self.variables = before
        return truth

    def _and_or(self, node: AndOr) -> bool | None:
        truth = self._node(node.first)
        for operator, right in node.rest:
            if truth is None:
                self._branches([[right], []])
            elif truth is (operator == "&&"):
                truth = self._node(right)
        return truth

    def _condition(self, nodes: list[Any]) -> bool | None:
        """The truth of a condition; an ordinary command says nothing about its success before it runs."""
        *before, last = nodes or [None]
        self._all(before)
        if isinstance(last, Simple) and last.words:
            name = str(self.expander.join(last.words[0]))
            if name not in {"[", "test", "true", "false", ":"}:
                return False if name == "getopts" else None
        return self._node(last) if last is not None else None

    def _if(self, node: If) -> None:
        for place, (condition, body) in enumerate(node.branches):
            truth = True if condition is None else self._condition(condition)
            if truth:
                self._all(body)
                return
            if truth is None:
                rest = [inner for _, inner in node.branches[place:]]
                closed = node.branches[-1][0] is None
                self._branches(rest if closed else [*rest, []])
                return

    def _case(self, node: Case) -> None:
        subject = str(self.expander.join(node.word))
        if not known(subject):
            self._branches([*(body for _, body in node.branches), []])
            return
        for patterns, body in node.branches:
            if any(conditions.matches(subject, str(self.expander.join(p))) for p in patterns):
                self._all(body)
                return

    def _loop(self, node: Loop) -> None:
        if node.name is None:
            truth = self._condition(node.condition) if node.condition else None
            if truth is None or truth is not node.until:
                self._branches([node.body, []])
            return
        items = [field for word in node.words for field in self.expander.fields(word)]
        if any(not known(str(item)) for item in items) or len(items) > MOST_ROUNDS:
            self.variables[node.name] = text(UNKNOWN)
            self._branches([node.body, []])
            return
        for item in items:
            self.variables[node.name] = item
            self._all(node.body)

    def _count(self, node: Count) -> None:
        """A counted loop, as long as its bounds are known."""
        value = self.expander.arithmetic(node.start)
        for _ in range(MOST_COUNTED):
            self.variables[node.name] = text(UNKNOWN if value is None else str(value))
            truth = None if value is None else self.expander.arithmetic(node.condition)
            if truth == 0:
                return
            if truth is None or value is None:
                break
            self._all(node.body)
            value += node.step
        self.variables[node.name] = text(UNKNOWN)
        self._branches([node.body, []])

    def _branches(self, bodies: list[list[Any]]) -> None:
        """Follow every branch that may run, each from the same start; keep what all of them leave alike."""
        before, ends = dict(self.variables), []
        self._doubt += 1
        for body in bodies:
            self.variables = dict(before)
            self._all(body)
            ends.append(self.variables)
        self._doubt -= 1
        self.variables = {}
        for name in dict.fromkeys(name for end in ends for name in end):
            values = [end.get(name) for end in ends]
            self.variables[name] = merged(before.get(name), values)
            self.undecided |= possible_flags(before.get(name), values)

    def _assign(self, assign: Assign) -> None:
        self.where[assign.name] = assign.line
        value = assigned(assign, self.variables.get(assign.name), self.expander)
        if value is not None:
            self.variables[assign.name] = value

    def _simple(self, node: Simple) -> bool | None:
        for assign in node.assigns:
            self._assign(assign)
        documents = [self.expander.join(word) for word in node.documents]
        self.documents += documents
        fields = [field for word in node.words for field in self.expander.fields(word)]
        if not fields:
            return True
        words = [(str(field), field.line or node.line) for field in fields]
        name = words[0][0]
        if name in {"[", "test"}:
            return conditions.decide(self._test_words(node.words)[1:])
        if name in {"true", ":", "false"}:
            return name != "false"
        if name == "printf" and len(fields) > 3 and words[1][0] == "-v":  # printf -v NAME "[%s]" "$LIST"
            self.variables[words[2][0]] = _formatted(words[3][0], [str(f) for f in fields[4:]], node.line)
        if name == "read" and documents and len(words) > 1:  # read -r -d '' NAME <<END
            self.variables[words[-1][0]] = documents[0]
        if not node.env:
            self._start(name, fields, words, node.line, {})
            return True
        before = dict(self.variables)
        for assign in node.env:
            self._assign(assign)
        env = {assign.name: self.variables[assign.name] for assign in node.env if assign.name in self.variables}
        self._start(name, fields, words, node.line, env)
        for name in env:
            self.variables.pop(name)
            if name in before:
                self.variables[name] = before[name]
        return True

    def _start(
        self, name: str, fields: list[Rope], words: list[tuple[str, int]], line: int, env: dict[str, Value]
    ) -> None:
        if name in {"source", "."} and len(words) > 1:
            hits = self._find_source(PurePosixPath(words[1][0].replace(UNKNOWN, "").replace(UNSET, "")).name)
            if hits is not None:
                self.run(hits)
        elif name in self._functions and self._depth < DEEPEST_CALL:
            self._call(self._functions[name], fields[1:])
        elif name == "unset":
            for word, _ in words[1:]:
                self.variables.pop(word, None)
        elif name not in SILENT:
            self.commands.append(Command(words, line, not self._doubt, env))
            self._embedded(name, fields[1:])

    def _call(self, body: list[Any], arguments: list[Rope]) -> None:
        saved = {n: self.variables.pop(n) for n in [*map(str, range(1, 10)), "@"] if n in self.variables}
        self.variables |= {str(i): value for i, value in enumerate(arguments[:9], 1)}
        self.variables["@"] = list(arguments)
        self._depth += 1
        self._all(body)
        self._depth -= 1
        for name in [*map(str, range(1, 10)), "@"]:
            self.variables.pop(name, None)
        self.variables |= saved

    def _embedded(self, name: str, arguments: list[Rope]) -> None:
        """Commands inside one argument: `bash -c "..."`, or a launcher that takes the whole command as text."""
        if name == "eval":
            arguments = [Rope(piece for a in arguments for piece in ((" ", a.line or 0), a))]
        for argument in arguments:
            script = _VALUE.sub(lambda m: " " * len(m.group()), str(argument))  # --command="..."
            plain = script.lstrip()[:1] not in {"-", ""}
            if (
                plain
                and len(script.split(None, 1)) > 1
                and (_FLAG.search(script) or "$" in script or name in _WRAPPERS or script != str(argument))
            ):
                # A flag on a new line of a quoted command belongs to that command, with or without a backslash.
                self.run(_CONTINUED.sub(lambda m: " " * len(m.group()), script), line_table(argument))


def _formatted(form: str, values: list[str], line: int) -> Rope:
    """`printf` with %s and %d once for each value; any other form is unknown."""
    if form.count("%") != len(values) or form.count("%s") + form.count("%d") != len(values):
        return text(UNKNOWN, line)
    pieces = re.split(r"%[sd]", form)
    return text("".join(piece + value for piece, value in zip(pieces, [*values, ""], strict=True)), line)
