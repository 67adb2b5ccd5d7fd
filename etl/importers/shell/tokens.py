"""Words of a parsed shell text: literals with their lines, and expansions as they are written; nothing is expanded."""

import re
from collections.abc import Callable, Iterator
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.shell.tree import Arith, Lit, Param, Part, Substitution, Word

DEEPEST = 60
EXPANSIONS = frozenset(
    {"simple_expansion", "expansion", "arithmetic_expansion", "command_substitution", "process_substitution", "string",
     "raw_string", "ansi_c_string", "translated_string"}
)  # fmt: skip
WORDS = EXPANSIONS | {
    "word", "number", "concatenation", "command_name", "brace_expression", "extglob_pattern", "regex", "test_operator",
    "variable_name", "special_variable_name",
}  # fmt: skip
_BEFORE = re.compile(r"(?:\s|\\\n)*")
_PIECE = re.compile(r"\\.|\$(?:[A-Za-z_]\w*|[0-9@*#?])|[^\\$\n]+|.", re.S)


class Words:
    """Makes words of nodes; `script` turns the statements of a substitution into commands."""

    def __init__(self, text: str, line_of: Callable[[int], int], script: Callable[[Any, int], list[Any]]) -> None:
        self.text, self.line_of, self.script = text, line_of, script

    def word(self, node: Any, depth: int) -> Word:
        """The parts of one word."""
        if depth > DEEPEST:
            raise ImporterError("a word of the script nests deeper than in any launch script; it is not read")
        if node.type in EXPANSIONS:
            return tuple(self._expansion(node, False, depth + 1))
        return self.between(node, node.start_byte, node.end_byte, False, depth)

    def between(self, node: Any, start: int, end: int, quoted: bool, depth: int) -> Word:
        """The text from `start` to `end`, with the expansions that lie in it below `node`.

        The grammar leaves blanks and line ends out of its tokens, so literals are what lies between expansions.
        """
        parts: list[Part] = []
        for inner in self._expansions(node, start, end):
            begin = self._begin(inner)
            parts += self._literal(self.text[start:begin], start, quoted)
            parts += self._expansion(inner, quoted, depth + 1)
            start = inner.end_byte
        parts += self._literal(self.text[start:end], start, quoted)
        return tuple(parts)

    def _begin(self, node: Any) -> int:
        """Where an expansion really begins: a token may take the blanks and continued lines before it along."""
        match = _BEFORE.match(self.text, node.start_byte, node.end_byte)
        return match.end() if match else node.start_byte

    @staticmethod
    def _expansions(node: Any, start: int, end: int) -> Iterator[Any]:
        """The outermost expansions within a node, in order of place."""
        stack = list(reversed(node.children))
        while stack:
            top = stack.pop()
            if top.end_byte <= start or top.start_byte >= end:
                continue
            if top.type in EXPANSIONS:
                yield top
            elif top.child_count:
                stack.extend(reversed(top.children))

    def _literal(self, text: str, start: int, quoted: bool) -> Iterator[Part]:
        """Text without its escapes, one piece for each line, with the `$NAME` in it (see `grammar.source`)."""
        piece, at, escaped = "", start, quoted
        for match in _PIECE.finditer(text):
            hits, first = match.group(), start + match.start()
            if hits[0] == "$" and len(hits) > 1:
                if piece:
                    yield Lit(piece, self.line_of(at), escaped)
                yield Param(hits[1:], self.line_of(first), quoted)
            elif hits[0] == "\\" and len(hits) > 1:
                plain = hits[1:] if not quoted or hits[1] in '\n$`"\\' else hits
                piece += "" if plain == "\n" else plain
                escaped = True
            else:
                piece += hits
            if hits[-1] == "\n" and piece:
                yield Lit(piece, self.line_of(at), escaped)
            if hits[-1] == "\n" or (hits[0] == "$" and len(hits) > 1):
                piece, at, escaped = "", start + match.end(), quoted
        if piece:
            yield Lit(piece, self.line_of(at), escaped)

    def _expansion(self, node: Any, quoted: bool, depth: int) -> Iterator[Part]:
        kind, start, end = node.type, node.start_byte, node.end_byte
        if depth > DEEPEST:
            raise ImporterError("an expansion of the script nests deeper than in any launch script; it is not read")
        start = self._begin(node)
        line = self.line_of(start)
        if kind in {"raw_string", "ansi_c_string"}:
            first = start + (2 if kind == "ansi_c_string" else 1)
            yield Lit("", line, True)
            for piece in self.text[first : end - 1].splitlines(keepends=True):
                yield Lit(piece, self.line_of(first), True)
                first += len(piece)
        elif kind == "translated_string":
            yield from self._expansion(node.children[-1], quoted, depth + 1)
        elif kind == "string":
            closed = self.text[end - 1] == '"' and end - 1 > start
            yield Lit("", line, True)
            yield from self.between(node, start + 1, end - closed, True, depth)
        elif kind == "simple_expansion":
            yield Param(self.text[start + 1 : end], line, quoted)
        elif kind == "expansion":
            yield self._parameter(node, line, quoted, depth)
        elif kind == "arithmetic_expansion":
            skip = 3 if self.text.startswith("$((", start) else 2
            yield Arith(self.between(node, start + skip, end - (skip - 1), True, depth), line)
        else:
            yield Substitution(tuple(self.script(node, depth)), line, quoted)

    def _parameter(self, node: Any, line: int, quoted: bool, depth: int) -> Param:
        """`${...}`: what stands before the name, the name with its index, the operator and its operands."""
        mark = operator = name = ""
        index: Word | None = None
        cuts: list[tuple[int, int]] = []
        end = node.end_byte - (self.text[node.end_byte - 1] == "}")
        for place, child in enumerate(node.children):
            if child.type == "subscript":
                name, index = self._subscript(child, depth)
            elif not name and child.type in {"variable_name", "special_variable_name"}:
                name = self.text[child.start_byte : child.end_byte]
            elif node.field_name_for_child(place) == "operator" or not child.is_named:
                sign = self.text[child.start_byte : child.end_byte].strip()
                if not name and sign in {"#", "!"}:
                    mark = sign
                elif name and sign != "}" and (not cuts or sign in {"/", ":"}):
                    operator = operator or sign
                    cuts.append((child.start_byte, child.end_byte))
        ends = [start for start, _ in cuts[1:]] + [end]
        spans = [(after, stop) for (_, after), stop in zip(cuts, ends, strict=False)]
        operands = tuple(self.between(node, after, stop, True, depth) for after, stop in spans)
        return Param(name, line, quoted, mark, index, operator, operands)

    def _subscript(self, node: Any, depth: int) -> tuple[str, Word]:
        inner = node.child_by_field_name("index")
        name = node.child_by_field_name("name")
        word = () if inner is None else self.word(inner, depth + 1)
        return (self.text[name.start_byte : name.end_byte] if name else ""), word

    def subscript(self, node: Any, depth: int) -> tuple[str, Word | None]:
        """Name and index of the left side of an assignment."""
        if node.type == "subscript":
            return self._subscript(node, depth)
        return self.text[node.start_byte : node.end_byte], None
