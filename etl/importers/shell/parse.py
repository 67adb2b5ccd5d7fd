"""Parse the part of the shell language that launch scripts use. Parsing never executes or expands anything.

The parser is lenient: what it cannot follow it skips, one character at a time, because a script is a source of flags
here, not a program. Every piece of text keeps the line it stood on.
"""

import re
from collections.abc import Callable
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.shell.nodes import (
    AndOr,
    ArithCommand,
    Case,
    Function,
    Group,
    If,
    Lit,
    Loop,
    Simple,
    Test,
    Word,
)  # fmt: skip
from etl.importers.shell.quotes import line_counter
from etl.importers.shell.words import Words

DEEPEST = 60
_RESERVED = re.compile(r"(?:if|then|elif|else|fi|for|select|while|until|do|done|case|esac|function|[{}])(?=[\s;()]|$)")
_DECLARING = frozenset({"export", "local", "declare", "readonly", "typeset"})


def parse(text: str, line_of: Callable[[int], int] | None = None) -> list[Any]:
    """The commands of a script.

    >>> parse("A=1")[0].assigns[0].name
    'A'
    """
    return Parser(Words(text, line_of or line_counter(text))).script(frozenset(), 0)


class Parser:
    """Recursive descent over commands; words are read by `words.Words`."""

    def __init__(self, words: Words) -> None:
        self.w = words

    def script(self, ends: frozenset[str], depth: int) -> list[Any]:
        """Commands up to one of the reserved words or signs in `ends`, or the end of the text."""
        if depth > DEEPEST:
            raise ImporterError("the script nests deeper than any launch script; it is not read")
        found: list[Any] = []
        while True:
            self.w.blank(newlines=True)
            if self.w.done() or self.w.peek(ends):
                return found
            before = self.w.at
            node = self.list_item(depth)
            if node is not None:
                found.append(node)
            if self.w.at == before:
                self.w.at += 1

    def list_item(self, depth: int) -> Any:
        """One command with what follows it after &&, || and |."""
        left = self.command(depth)
        while True:
            self.w.blank()
            operator = self.w.operator()
            if operator is None:
                return left
            self.w.blank(newlines=True)
            right = self.command(depth)
            left = Group([left, right]) if operator in {"|", "|&"} else AndOr(left, operator, right)

    def command(self, depth: int) -> Any:
        """A compound or simple command."""
        match = _RESERVED.match(self.w.text, self.w.at)
        word = match.group() if match else None
        parts = {"if": self.if_, "for": self.for_, "select": self.for_, "while": self.while_, "until": self.while_}
        if word in parts:
            self.w.at += len(word or "")
            return self.while_(depth, word == "until") if word in {"while", "until"} else parts[word or ""](depth)
        if word == "case":
            return self.case(depth)
        if word == "{":
            self.w.at += 1
            return self.until(frozenset({"}"}), depth)
        if self.w.starts("[["):
            return Test(self.w.test_words())
        if self.w.starts("(("):
            return ArithCommand(self.w.balanced(2, "(", ")")[:-1])
        if self.w.starts("("):
            self.w.at += 1
            return self.until(frozenset({")"}), depth)
        return self.function(depth) or self.simple()

    def until(self, ends: frozenset[str], depth: int) -> Group:
        """A group up to its closing sign."""
        body = self.script(ends, depth + 1)
        self.w.skip(ends)
        return Group(body)

    def if_(self, depth: int) -> If:
        """`if ...; then ...; elif ...; else ...; fi`, after the `if`."""
        branches: list[tuple[list[Any] | None, list[Any]]] = []
        word: str | None = "if"
        while word in {"if", "elif"}:
            condition = self.script(frozenset({"then", "fi"}), depth + 1)
            self.w.skip(frozenset({"then"}))
            body = self.script(frozenset({"elif", "else", "fi"}), depth + 1)
            branches.append((condition, body))
            word = self.w.skip(frozenset({"elif", "else", "fi"}))
        if word == "else":
            branches.append((None, self.script(frozenset({"fi"}), depth + 1)))
            self.w.skip(frozenset({"fi"}))
        return If(branches)

    def for_(self, depth: int) -> Loop:
        """`for NAME in words; do ...; done`, after the `for`."""
        self.w.blank()
        if self.w.starts("(("):
            self.w.balanced(2, "(", ")")
            return Loop(None, [], [], self.body(depth))
        name, words = self.w.plain(), []
        self.w.blank(newlines=True)
        if self.w.skip(frozenset({"in"})):
            words = self.w.line_of_words()
        return Loop(name, words, [], self.body(depth))

    def while_(self, depth: int, until: bool = False) -> Loop:
        """`while ...; do ...; done`, after the `while`."""
        condition = self.script(frozenset({"do"}), depth + 1)
        return Loop(None, [], condition, self.body(depth), until)

    def body(self, depth: int) -> list[Any]:
        """`do ...; done`."""
        self.w.blank(newlines=True)
        self.w.skip(frozenset({"do"}))
        body = self.script(frozenset({"done"}), depth + 1)
        self.w.skip(frozenset({"done"}))
        return body

    def case(self, depth: int) -> Case:
        """`case word in pattern) body ;; esac`."""
        self.w.at += len("case")
        self.w.blank()
        subject = self.w.word() or ()
        self.w.blank(newlines=True)
        self.w.skip(frozenset({"in"}))
        branches: list[tuple[list[Word], list[Any]]] = []
        while True:
            self.w.blank(newlines=True)
            if self.w.done() or self.w.skip(frozenset({"esac"})):
                return Case(subject, branches)
            patterns = self.w.patterns()
            body = self.script(frozenset({";;", "esac"}), depth + 1)
            branches.append((patterns, body))
            self.w.skip(frozenset({";;"}))

    def function(self, depth: int) -> Function | None:
        """`name() { ... }` or `function name { ... }`."""
        match = re.compile(r"(?:function\s+([\w.-]+)\s*(?:\(\s*\))?|([\w.-]+)\s*\(\s*\))\s*(?=[{(])").match(
            self.w.text, self.w.at
        )
        if match is None:
            return None
        self.w.at = match.end() + 1
        ends = frozenset({"}" if self.w.text[match.end()] == "{" else ")"})
        return Function(match.group(1) or match.group(2), self.until(ends, depth).body)

    def simple(self) -> Simple | None:
        """Assignments, words, redirections and here-documents of one command."""
        command = Simple(self.w.line())
        declaring = False
        while True:
            self.w.blank()
            if self.w.redirection(command.documents):
                continue
            if (not command.words or declaring) and (assign := self.w.assignment()):
                command.assigns.append(assign)
                continue
            word = self.w.word()
            if word is None:
                break
            command.words.append(word)
            if len(command.words) == 1 and len(word) == 1 and isinstance(word[0], Lit):
                declaring = word[0].text in _DECLARING
        return command if command.words or command.assigns or command.documents else None
