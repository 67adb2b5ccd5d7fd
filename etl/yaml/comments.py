"""Comments in YAML text, which the parser drops without a word."""

from __future__ import annotations

import re

from etl.yaml.nodes import Place
from etl.yaml.reader import Doc

HASH = re.compile(r"(?:^|(?<=[ ]))#.*$", re.MULTILINE)


def comments(doc: Doc) -> list[tuple[Place, str]]:
    """Every comment of a document with its place.

    Parameters
    ----------
    doc : a document that was read

    >>> from etl.yaml.reader import parse
    >>> comments(parse(b"a: 'x # y' # z\\n", "x.yaml"))
    [((1, 12), '# z')]
    """
    if "#" not in doc.text or doc.root is None:
        return []
    hits: list[tuple[Place, str]] = []
    end = 0
    for match in HASH.finditer(doc.text):
        if match.start() < end:
            continue
        hit = _scalar_at(doc, match.start())
        # A comment may follow on the line on which a text with '#' in it ends.
        if hit is None:
            hits.append((_place(doc.text, match.start()), match[0]))
        else:
            later = HASH.search(doc.text, hit, match.end()) if hit < match.end() else None
            if later and _scalar_at(doc, later.start()) is None:
                hits.append((_place(doc.text, later.start()), later[0]))
                end = later.end()
    return hits


def _place(text: str, offset: int) -> Place:
    return text.count("\n", 0, offset) + 1, offset - text.rfind("\n", 0, offset)


def _scalar_at(doc: Doc, offset: int) -> int | None:
    """Where the scalar ends that holds an offset, or None when none does."""
    for start, end, style in doc.spans:
        if start <= offset < end:
            return end if style not in {"|", ">"} or _in_block(doc.text, start, offset) else None
    return None


def _in_block(text: str, start: int, offset: int) -> bool:
    """Whether an offset is content of the block scalar that starts at `start`, not a comment in or after it."""
    first = text.find("\n", start) + 1
    if offset < first:
        return False
    content = re.compile(r"^( *)[^ \n]", re.MULTILINE).search(text, first)
    column = offset - (text.rfind("\n", 0, offset) + 1)
    return content is not None and column >= len(content[1])
