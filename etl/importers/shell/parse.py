"""Turn the syntax tree of a shell text into the commands that `follow` understands.

Where the grammar gives up (an unfinished `if`, a placeholder), the words around the spot are kept as a command: a
script is a source of flags here, not a program.
"""

import re
from collections.abc import Callable, Iterable
from typing import Any

from etl.importers.problems import ImporterError
from etl.importers.shell import grammar
from etl.importers.shell.grammar import line_counter
from etl.importers.shell.tokens import WORDS, Words
from etl.importers.shell.tree import (
    AndOr,
    ArithCommand,
    Assign,
    Case,
    Count,
    Function,
    Group,
    If,
    Lit,
    Loop,
    Not,
    Pipe,
    Simple,
    Test,
    Word,
)

DEEPEST = 60
_COUNT = re.compile(
    r"for\s*\(\(\s*(?P<name>[A-Za-z_]\w*)\s*=(?P<start>[^;]*);(?P<test>[^;]*);"
    r"\s*(?:(?P=name)\s*(?:\+\+|\+=\s*(?P<by>\d{1,6}))|\+\+\s*(?P=name))\s*"
)
_TEST_PARTS = frozenset({"binary_expression", "unary_expression", "parenthesized_expression", "ternary_expression"})


def parse(text: str, line_of: Callable[[int], int] | None = None) -> list[Any]:
    """The commands of a script.

    >>> parse("A=1")[0].assigns[0].name
    'A'
    """
    return _Statements(text, line_of or line_counter(text)).several(grammar.tree(text).children, 0)


class _Statements:
    """Converts statements; words are made by `words.Words`."""

    def __init__(self, text: str, line_of: Callable[[int], int]) -> None:
        self.text, self.line_of = text, line_of
        self.words = Words(text, line_of, lambda node, depth: self.several(node.children, depth))
        self.kinds: dict[str, Callable[[Any, int], Any]] = {
            "command": self.command, "declaration_command": self.command, "unset_command": self.command,
            "variable_assignment": self.assignments, "variable_assignments": self.assignments,
            "redirected_statement": self.redirected, "test_command": self.test, "list": self.list_,
            "pipeline": lambda n, d: Pipe(self.several(n.children, d)),
            "negated_command": lambda n, d: Not(self.several(n.children[1:], d)),
            "if_statement": self.if_, "for_statement": self.for_, "while_statement": self.while_,
            "c_style_for_statement": self.count,
            "case_statement": self.case, "function_definition": self.function,
            "compound_statement": self.compound, "subshell": lambda n, d: Group(self.several(n.children, d), True),
            "do_group": lambda n, d: Group(self.several(n.children, d)),
            "ERROR": lambda n, d: Group(self.several(n.children, d)),
            "elif_clause": lambda n, d: Group(self.several(n.children, d)),
            "else_clause": lambda n, d: Group(self.several(n.children, d)),
        }  # fmt: skip

    def several(self, nodes: Iterable[Any], depth: int) -> list[Any]:
        """The commands of a run of nodes; words without a command around them make one for each line."""
        if depth > DEEPEST:
            raise ImporterError("the script nests deeper than any launch script; it is not read")
        made: list[Any] = []
        loose: Simple | None = None
        row = -1
        for node in nodes:
            kind = node.type
            if kind in self.kinds:
                made.append(self.kinds[kind](node, depth + 1))
                loose = None
            elif kind in WORDS:
                if loose is None or node.start_point[0] != row:
                    loose = Simple(self.line_of(node.start_byte))
                    made.append(loose)
                loose.words.append(self.words.word(node, depth))
                row = node.end_point[0]
            elif kind in {";", "&", "&&", "||", "|", "\n"}:
                loose = None
        return made

    def command(self, node: Any, depth: int) -> Simple:
        """Assignments, words and here-strings of one command."""
        simple = Simple(self.line_of(node.start_byte))
        declaring = node.type != "command"
        for child in node.children:
            kind = child.type
            if kind == "variable_assignment":
                (simple.assigns if declaring else simple.env).append(self.assign(child, depth))
            elif kind in WORDS:
                simple.words.append(self.words.word(child, depth))
            elif kind == "herestring_redirect":
                simple.documents += [self.words.word(c, depth) for c in child.children if c.type in WORDS]
            elif declaring and not child.is_named:
                simple.words.append((Lit(child.type, simple.line),))
            elif kind == "ERROR":
                simple.words += [self.words.word(c, depth) for c in child.children if c.type in WORDS]
        if simple.env and not simple.words:
            simple.assigns, simple.env = simple.env, []
        return simple

    def assignments(self, node: Any, depth: int) -> Simple:
        """One or several assignments without a command."""
        inner = [node] if node.type == "variable_assignment" else node.named_children
        made = [self.assign(child, depth) for child in inner if child.type == "variable_assignment"]
        return Simple(self.line_of(node.start_byte), assigns=made)

    def assign(self, node: Any, depth: int) -> Assign:
        """`NAME=...`."""
        name, index = self.words.subscript(node.children[0], depth)
        value: Word | list[Word] = ()
        given = node.child_by_field_name("value")
        if given is not None and given.type == "array":
            value = [self.words.word(c, depth) for c in _flat(given) if c.type in WORDS]
        elif given is not None:
            value = self.words.word(given, depth)
        append = any(child.type == "+=" for child in node.children)
        return Assign(name, index, append, value, self.line_of(node.start_byte))

    def redirected(self, node: Any, depth: int) -> Any:
        """A statement with redirections; a here-document may be followed by further commands on its line."""
        body = node.child_by_field_name("body")
        made = self.several([body], depth) if body is not None else [Simple(self.line_of(node.start_byte))]
        documents, rest = [], []
        for child in node.children:
            if child.type == "heredoc_redirect":
                documents.append(self.document(child, depth))
                rest += [c for c in child.children if c.type in self.kinds]
            elif child.type == "herestring_redirect":
                documents += [self.words.word(c, depth) for c in child.children if c.type in WORDS]
        if documents and made and isinstance(made[0], Simple):
            made[0].documents += documents
        elif documents:
            made.append(Simple(self.line_of(node.start_byte), documents=documents))
        made += self.several(rest, depth)
        return made[0] if len(made) == 1 else Group(made)

    def document(self, node: Any, depth: int) -> Word:
        """The text of a here-document, with its expansions unless its end word is quoted."""
        start = next((c for c in node.children if c.type == "heredoc_start"), None)
        body = next((c for c in node.children if c.type == "heredoc_body"), None)
        if body is None or start is None:
            return ()
        mark = self.text[start.start_byte : start.end_byte]
        first = body.start_byte
        if any(sign in mark for sign in "'\"\\"):
            lines = self.text[first : body.end_byte].splitlines(keepends=True)
            return tuple(Lit(line, self.line_of(first) + i, True) for i, line in enumerate(lines))
        return self.words.between(body, first, body.end_byte, True, depth)

    def test(self, node: Any, depth: int) -> Any:
        """`[ ... ]` and `[[ ... ]]` as flat words: their operators are ranked by `conditions`."""
        if self.text.startswith("((", node.start_byte):
            return ArithCommand(self.words.between(node, node.start_byte + 2, node.end_byte - 2, True, depth))
        words: list[Word] = []
        stack = list(reversed(node.children[1:-1]))
        while stack:
            top = stack.pop()
            if top.type in _TEST_PARTS or top.type == "ERROR":
                stack.extend(reversed(top.children))
            elif top.type in WORDS:
                words.append(self.words.word(top, depth))
            elif not top.is_named and top.end_byte > top.start_byte:
                words.append((Lit(top.type.strip(), self.line_of(top.start_byte)),))
        return Test(words)

    def list_(self, node: Any, depth: int) -> Any:
        """`a && b || c`, however long."""
        rest: list[tuple[str, Any]] = []
        while node.type == "list" and node.child_count >= 3:
            rest += [(node.children[1].type, right) for right in self.several(node.children[2:], depth)[:1]]
            node = node.children[0]
        first = self.several([node], depth)
        return AndOr(first[0], rest[::-1]) if first else Group([right for _, right in rest])

    def if_(self, node: Any, depth: int) -> If:
        """`if ...; then ...; elif ...; else ...; fi`."""
        own = [c for c in node.children if c.type not in {"elif_clause", "else_clause"}]
        branches: list[tuple[list[Any] | None, list[Any]]] = [self.branch(own, depth)]
        for child in node.children:
            if child.type == "elif_clause":
                branches.append(self.branch(child.children, depth))
            elif child.type == "else_clause":
                branches.append((None, self.several(child.children, depth)))
        return If(branches)

    def branch(self, nodes: list[Any], depth: int) -> tuple[list[Any], list[Any]]:
        """Condition and body, parted by `then`."""
        cut = next((i for i, c in enumerate(nodes) if c.type == "then"), len(nodes))
        return self.several(nodes[:cut], depth), self.several(nodes[cut:], depth)

    def for_(self, node: Any, depth: int) -> Loop:
        """`for NAME in words; do ...; done`."""
        name = node.child_by_field_name("variable")
        words = [self.words.word(c, depth) for c in node.children_by_field_name("value") if c.type in WORDS]
        text = "" if name is None else self.text[name.start_byte : name.end_byte]
        return Loop(text, words, [], self.body(node, depth))

    def count(self, node: Any, depth: int) -> Any:
        """`for ((i=0; i<N; i++))`; any other form is a loop of unknown length."""
        end = next((c.start_byte for c in node.children if c.type == "))"), node.start_byte)
        hits = _COUNT.fullmatch(self.text, node.start_byte, end)
        if hits is None:
            return Loop(None, [], [], self.body(node, depth))
        start, condition = (self.words.between(node, *hits.span(g), True, depth) for g in ("start", "test"))
        step = int(hits.group("by") or 1)
        return Count(hits.group("name"), start, condition, step, self.body(node, depth))

    def while_(self, node: Any, depth: int) -> Loop:
        """`while ...; do ...; done`."""
        conditions = self.several(node.children_by_field_name("condition"), depth)
        return Loop(None, [], conditions, self.body(node, depth), node.children[0].type == "until")

    def body(self, node: Any, depth: int) -> list[Any]:
        """The body of a loop or function."""
        inner = node.child_by_field_name("body")
        return [] if inner is None else self.several(inner.children, depth)

    def case(self, node: Any, depth: int) -> Case:
        """`case word in pattern) body ;; esac`."""
        value = node.child_by_field_name("value")
        branches = []
        for item in node.children:
            if item.type == "case_item":
                patterns = item.children_by_field_name("value")
                cut = next((i for i, c in enumerate(item.children) if c.type == ")"), 0)
                branches.append(
                    ([self.words.word(p, depth) for p in patterns], self.several(item.children[cut + 1 :], depth))
                )
        return Case(() if value is None else self.words.word(value, depth), branches)

    def function(self, node: Any, depth: int) -> Function:
        """`name() { ... }` or `function name { ... }`."""
        name = node.child_by_field_name("name")
        return Function(self.text[name.start_byte : name.end_byte] if name else "", self.body(node, depth))

    def compound(self, node: Any, depth: int) -> Any:
        """`{ ...; }` or `(( ... ))`."""
        if self.text.startswith("((", node.start_byte):
            return ArithCommand(self.words.between(node, node.start_byte + 2, node.end_byte - 2, True, depth))
        return Group(self.several(node.children, depth))


def _flat(array: Any) -> Iterable[Any]:
    """The elements of an array, also those inside a part that the grammar does not follow."""
    for child in array.children:
        if child.type == "ERROR":
            yield from child.children
        else:
            yield child
