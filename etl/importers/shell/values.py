"""Values of shell variables as pieces of text that know their line, built without copying and bounded in size."""

from collections.abc import Iterable, Iterator

from etl.importers.problems import ImporterError

UNKNOWN = "\x00"  # the output of something that is never run
UNSET = "\x01"  # a variable that no file sets; the caller's environment may
LONGEST = 1_000_000
Piece = tuple[str, int]


class Rope:
    """A text made of (text, line) pieces and other ropes; joining is constant work, reading is linear."""

    __slots__ = ("parts", "size")

    def __init__(self, parts: "Iterable[Piece | Rope]") -> None:
        self.parts = tuple(parts)
        self.size: int = sum(p.size if isinstance(p, Rope) else len(p[0]) + 1 for p in self.parts)
        if self.size > LONGEST:
            raise ImporterError("a shell variable grows past a million characters; the script is not read")

    def pieces(self) -> Iterator[Piece]:
        """The text pieces in order."""
        stack: list[Piece | Rope] = [self]
        while stack:
            top = stack.pop()
            if isinstance(top, Rope):
                stack.extend(reversed(top.parts))
            else:
                yield top

    def __str__(self) -> str:
        return "".join(text for text, _ in self.pieces())

    @property
    def line(self) -> int | None:
        """The line of the first piece that holds text."""
        return next((line for text, line in self.pieces() if text.strip()), None)


Scalar = Rope
Value = Rope | list[Rope] | dict[str, Rope]


def text(value: str, line: int = 0) -> Rope:
    """A rope of one piece."""
    return Rope([(value, line)])


def known(value: str) -> bool:
    """Whether a text holds nothing unknown or unset."""
    return UNKNOWN not in value and UNSET not in value


def split(rope: Rope) -> list[list[Piece]]:
    """The blank-separated fields of a text, each as pieces; an empty first or last field marks blank at that end.

    >>> [["".join(t for t, _ in field)] for field in split(text(" a b"))]
    [[''], ['a'], ['b']]
    """
    fields: list[list[Piece]] = [[]]
    for piece, line in rope.pieces():
        words = piece.split()
        if not words:
            if (piece and fields[-1]) or (piece and len(fields) == 1):
                fields.append([])
            continue
        if piece[0].isspace() and (fields[-1] or len(fields) == 1):
            fields.append([])
        fields[-1].append((words[0], line))
        fields.extend([(word, line)] for word in words[1:])
        if piece[-1].isspace():
            fields.append([])
    return fields
