"""How one scalar is written: plain where that is safe, quoted where needed, folded where long."""

from __future__ import annotations

import re
from functools import lru_cache

from etl.yaml.nodes import scalar

WIDTH = 120
STARTS = frozenset(",[]{}#&*!|>'\"%@`")
# Text under YAML 1.2, something else to older readers: yes/no words, sexagesimals, octals, grouped digits.
DISGUISED = re.compile(
    r"(?:y|n|yes|no|on|off)\Z|[-+]?\d[\d_]*(?::[0-5]?\d)+(?:\.\d*)?\Z|[-+]?[\d._]+(?:[eE][-+]?\d+)?\Z"
    r"|[-+]?0[xXoObB][\da-fA-F_]+\Z|<<\Z|=\Z",
    re.IGNORECASE,
)
ESCAPES = {"\n": "\\n", "\t": "\\t", "\r": "\\r", '"': '\\"', "\\": "\\\\"}


def quote(text: str) -> str:
    """A text in quotes: double ones, or single ones where that saves escapes.

    >>> quote('a: b'), quote('say "x"')
    ('"a: b"', '\\'say "x"\\'')
    """
    if ('"' in text or "\\" in text) and "'" not in text and text.isprintable():
        return f"'{text}'"
    return '"' + "".join(_escaped(char) for char in text) + '"'


def _escaped(char: str) -> str:
    if char in ESCAPES:
        return ESCAPES[char]
    if char.isprintable() or char == "\u3000":
        return char
    code = ord(char)
    return f"\\x{code:02x}" if code < 256 else f"\\u{code:04x}" if code < 65536 else f"\\U{code:08x}"


@lru_cache(maxsize=50_000)
def word(text: str, flow: bool) -> str:
    """A text on one line, quoted only where YAML would read something else.

    Parameters
    ----------
    text : the text
    flow : whether it stands between braces or brackets, where ',' and ':' mean something

    >>> word("paper Table 4", True), word("a, b", True), word("a, b", False), word("2024", False), word("NO", False)
    ('paper Table 4', '"a, b"', 'a, b', '"2024"', '"NO"')
    """
    return text if _plain(text, flow) else quote(text)


def _plain(text: str, flow: bool) -> bool:
    if not text or text != text.strip() or scalar(text, True) is not text:
        return False
    if DISGUISED.match(text) or text[0] in STARTS or text.startswith(("---", "...")):
        return False
    if text[0] in "-?:" and (len(text) == 1 or text[1] == " " or flow):
        return False
    if ": " in text or " #" in text or text.endswith(":") or not text.isprintable():
        return False
    return not (flow and any(char in ",[]{}:" for char in text))


def block(text: str, indent: int, room: int) -> list[str] | None:
    """A long or many-lined text as a block: the header and the lines below it, or None where one line does.

    Parameters
    ----------
    text : the text
    indent : columns before each line
    room : columns that a single line would have

    >>> block("one two", 2, 80)
    >>> block("one\\ntwo", 2, 80)
    ['|-', '  one', '  two']
    """
    lines = text.split("\n")
    tidy = all(line == line.rstrip() and (line.isprintable() or not line) for line in lines)
    if not text.strip() or text[0] in " \n" or not tidy:
        return None
    if len(lines) > 1:
        return _literal(text, indent)
    if len(word(text, False)) <= room or "  " in text or " " not in text:
        return None
    return [">-", *fold(text, indent)]


def _literal(text: str, indent: int) -> list[str] | None:
    body, header = (text[:-1], "|") if text.endswith("\n") else (text, "|-")
    if body.endswith("\n"):
        return None
    return [header, *(" " * indent + line if line else "" for line in body.split("\n"))]


def fold(text: str, indent: int) -> list[str]:
    """Words in lines of at most the line width.

    >>> fold("a b", 2)
    ['  a b']
    """
    lines, line = [], ""
    for one in text.split(" "):
        longer = f"{line} {one}" if line else one
        if line and len(longer) > WIDTH - indent:
            lines.append(line)
            line = one
        else:
            line = longer
    return [" " * indent + line for line in [*lines, line]]


def show_number(value: float) -> str:
    """A number that no author has written yet: whole numbers in full, others in Python's shortest form.

    >>> show_number(128), show_number(0.41), show_number(3.8e25)
    ('128', '0.41', '3.8e25')
    """
    text = repr(value)
    if "e" in text:
        return text.replace("e+", "e")
    return text.removesuffix(".0")
