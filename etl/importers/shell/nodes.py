"""The tree of a shell script: words with their lines, and the commands made of them."""

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Lit:
    """Literal text on one line."""

    text: str
    line: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Param:
    """`$NAME` or `${...}`: the text between the braces."""

    body: str
    line: int
    quoted: bool = False


@dataclass(frozen=True, slots=True)
class Arith:
    """`$((...))`."""

    body: str
    line: int


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)`, backticks or `<(...)`: never run; its value is unknown apart from a few pure functions."""

    body: str
    line: int


Part = Lit | Param | Arith | Substitution
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`NAME=word`, `NAME+=word`, `NAME[i]=word` or `NAME=( words )`."""

    name: str
    index: str | None
    append: bool
    value: Word | list[Word]
    line: int


@dataclass(slots=True)
class Simple:
    """A command with its assignments, words and here-documents."""

    line: int
    assigns: list[Assign] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    documents: list[Word] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Test:
    """`[[ ... ]]`: its words, operators among them as literals."""

    words: list[Word]


@dataclass(frozen=True, slots=True)
class ArithCommand:
    """`(( ... ))`."""

    body: str


@dataclass(frozen=True, slots=True)
class AndOr:
    """Two commands joined by && or ||."""

    left: Any
    operator: str
    right: Any


@dataclass(frozen=True, slots=True)
class If:
    """Branches of (condition, body); the condition of `else` is None."""

    branches: list[tuple[list[Any] | None, list[Any]]]


@dataclass(frozen=True, slots=True)
class Loop:
    """`for NAME in words` (name set) or `while`/`until` (condition set)."""

    name: str | None
    words: list[Word]
    condition: list[Any]
    body: list[Any]
    until: bool = False


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern) body ;; esac`."""

    word: Word
    branches: list[tuple[list[Word], list[Any]]]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ...; }` or `( ... )`."""

    body: list[Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition."""

    name: str
    body: list[Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A command the script would start: its arguments with their lines; not `certain` when a branch is undecided."""

    words: list[tuple[str, int]]
    line: int
    certain: bool
