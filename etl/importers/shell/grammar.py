"""Parse a shell text with tree-sitter's Bash grammar, within a bounded time; nothing is run."""

import re
import time
from bisect import bisect_right
from collections.abc import Callable
from functools import cache
from typing import Any

from etl.importers.problems import ImporterError

LONGEST_PARSE = 1.0  # [s]; a launch script takes milliseconds, text made to confuse the grammar takes minutes
# The grammar counts bytes, and a NUL ends its text: one plain letter for each other sign keeps offsets equal.
# Not shell, but common in scripts: a placeholder such as <path to data>. It becomes one word.
_PLACEHOLDER = re.compile(r"(?<![<\w])<[A-Za-z_][^<>\n()|&;$`\"']*[^\s<>]>|\(e\.g\.[^()\n]*\)")
# The grammar ends a word at the second $NAME that text follows (a$B/c$D.e), so it gets letters and `tokens` finds the
# names in the literals.
_NAME = re.compile(r"\$(?:[A-Za-z_]\w*|[0-9@*#?])")
_BRACKETS = re.compile(r"\[[\d,]*\](?=\*)")
_OTHER = re.compile(r"[^\t\n\x20-\x7e]")


@cache
def _language() -> Any:
    import tree_sitter  # here, because configs in other syntaxes need no grammar
    import tree_sitter_bash

    return tree_sitter.Language(tree_sitter_bash.language())


def tree(text: str) -> Any:
    """The root node of a text; offsets of nodes are offsets into `text`.

    Raises ImporterError for a text that cannot be parsed in time.

    >>> tree("A=1").children[0].type
    'variable_assignment'
    """
    import tree_sitter

    given = source(text)
    end = time.process_time() + LONGEST_PARSE
    try:
        parsed = tree_sitter.Parser(_language()).parse(
            lambda offset, _: given[offset : offset + 65_536],
            progress_callback=lambda _offset, _failed: time.process_time() > end,
        )
    except ValueError:
        raise ImporterError(f"the script nests in a way that cannot be parsed in {LONGEST_PARSE:g} s") from None
    return parsed.root_node


def source(text: str) -> bytes:
    """The text as the grammar gets it: as long as it is, with plain letters for what would mislead."""
    masked = _PLACEHOLDER.sub(_letters, text) if "<" in text else text
    return _OTHER.sub("x", _BRACKETS.sub(_letters, _NAME.sub(_letters, masked))).encode("ascii")


def _letters(match: re.Match[str]) -> str:
    return "x" * len(match.group())


def line_counter(text: str, first: int = 1) -> Callable[[int], int]:
    """A function from offset to line number.

    >>> line_counter("a\\nb")(2)
    2
    """
    starts = [m.end() for m in re.finditer("\n", text)]
    return lambda offset: first + bisect_right(starts, offset)
