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
    """`$NAME` or `${...}`: the sign before the name (# or !), the name, its index, and an operator with operands."""

    name: str
    line: int
    quoted: bool = False
    mark: str = ""
    index: "Word | None" = None
    operator: str = ""
    operands: "tuple[Word, ...]" = ()


@dataclass(frozen=True, slots=True)
class Arith:
    """`$((...))`: the expression, with the expansions in it."""

    body: "Word"
    line: int


@dataclass(frozen=True, slots=True)
class Substitution:
    """`$(...)`, backticks or `<(...)`: its value is unknown apart from a few pure functions."""

    script: tuple[Any, ...]
    line: int
    quoted: bool = False


Part = Lit | Param | Arith | Substitution
Word = tuple[Part, ...]


@dataclass(frozen=True, slots=True)
class Assign:
    """`NAME=word`, `NAME+=word`, `NAME[i]=word` or `NAME=( words )`."""

    name: str
    index: Word | None
    append: bool
    value: Word | list[Word]
    line: int


@dataclass(slots=True)
class Simple:
    """A command with its words and here-documents; `assigns` change the shell, `env` only what the command sees."""

    line: int
    assigns: list[Assign] = field(default_factory=list)
    env: list[Assign] = field(default_factory=list)
    words: list[Word] = field(default_factory=list)
    documents: list[Word] = field(default_factory=list)


@dataclass(frozen=True, slots=True)
class Test:
    """`[ ... ]` or `[[ ... ]]`: its words, operators among them as literals."""

    words: list[Word]


@dataclass(frozen=True, slots=True)
class ArithCommand:
    """`(( ... ))`."""

    body: Word


@dataclass(frozen=True, slots=True)
class Not:
    """`! command`."""

    body: list[Any]


@dataclass(frozen=True, slots=True)
class AndOr:
    """Commands joined by && or ||, from left to right."""

    first: Any
    rest: list[tuple[str, Any]]


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
class Count:
    """`for ((NAME=start; condition; step)); do ...; done`: expressions with the expansions in them."""

    name: str
    start: Word
    condition: Word
    step: int
    body: list[Any]


@dataclass(frozen=True, slots=True)
class Case:
    """`case word in pattern) body ;; esac`."""

    word: Word
    branches: list[tuple[list[Word], list[Any]]]


@dataclass(frozen=True, slots=True)
class Group:
    """`{ ...; }`, or `( ... )` (apart), which leaves the variables of the shell as they are."""

    body: list[Any]
    apart: bool = False


@dataclass(frozen=True, slots=True)
class Pipe:
    """Commands joined by |."""

    body: list[Any]


@dataclass(frozen=True, slots=True)
class Function:
    """A function definition."""

    name: str
    body: list[Any]


@dataclass(frozen=True, slots=True)
class Command:
    """A command the script would start: its arguments with their lines; not `certain` when a branch is undecided.

    `env` holds the variables that only this command sees (`NAME=value command`).
    """

    words: list[tuple[str, int]]
    line: int
    certain: bool
    env: dict[str, Any] = field(default_factory=dict)
