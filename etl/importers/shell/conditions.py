"""Decide `[ ... ]` and `[[ ... ]]` over known texts: True, False, or None where machine or caller decides."""

import fnmatch
import operator
import re

from etl.importers.shell.values import UNKNOWN, UNSET, known

_NUMERIC = {
    "-eq": operator.eq,
    "-ne": operator.ne,
    "-lt": operator.lt,
    "-le": operator.le,
    "-gt": operator.gt,
    "-ge": operator.ge,
}
_BINARY = frozenset({"=", "==", "!=", "=~", "<", ">", *_NUMERIC})


def decide(words: list[str]) -> bool | None:
    """The truth of the words of a test (a closing bracket may be among them).

    A variable that no file sets counts as empty for -z and -n, and as undecided in a comparison.

    >>> decide(["fp8", "==", "fp8"]), decide(["-n", "x", "&&", "8", "-gt", "9"]), decide(["-f", "x"])
    (True, False, None)
    """
    if words and words[-1] == "]":
        words = words[:-1]
    return _either(words, 0)


def matches(subject: str, pattern: str) -> bool:
    """Whether a text matches a shell pattern."""
    return len(pattern) < 500 and len(subject) < 5000 and fnmatch.fnmatchcase(subject, pattern)


def _either(words: list[str], depth: int) -> bool | None:
    parts = _cut(words, {"||", "-o"})
    truths = [_both(part, depth) for part in parts]
    return True if True in truths else None if None in truths else False


def _both(words: list[str], depth: int) -> bool | None:
    truths = [_single(part, depth) for part in _cut(words, {"&&", "-a"})]
    return False if False in truths else None if None in truths else True


def _cut(words: list[str], signs: set[str]) -> list[list[str]]:
    """Split at operators that stand outside parentheses."""
    parts: list[list[str]] = [[]]
    level = 0
    for word in words:
        level += (word in {"(", "\\("}) - (word in {")", "\\)"})
        if word in signs and level == 0:
            parts.append([])
        else:
            parts[-1].append(word)
    return parts


def _single(words: list[str], depth: int) -> bool | None:
    if depth > 20 or not words:
        return None if depth > 20 else False
    if words[0] == "!":
        inner = _single(words[1:], depth + 1)
        return None if inner is None else not inner
    if words[0] in {"(", "\\("} and words[-1] in {")", "\\)"}:
        return _either(words[1:-1], depth + 1)
    if len(words) == 3 and words[1] in _BINARY:
        return _compare(*words)
    if len(words) == 2 and words[0] in {"-z", "-n"}:
        full = _full(words[1])
        return full if full is None or words[0] == "-n" else not full
    if len(words) == 1:
        return words[0] in {"-n"} or _full(words[0]) if words[0] != "-z" else True
    return None


def _full(text: str) -> bool | None:
    """Whether a text is not empty; unset counts as empty, unknown as undecided."""
    rest = text.replace(UNSET, "")
    return True if rest.replace(UNKNOWN, "") else None if UNKNOWN in rest else False


def _compare(left: str, sign: str, right: str) -> bool | None:
    if not known(left) or not known(right):
        return None
    if sign in _NUMERIC:
        if not (re.fullmatch(r"\s*-?\d{1,18}\s*", left) and re.fullmatch(r"\s*-?\d{1,18}\s*", right)):
            return None
        return bool(_NUMERIC[sign](int(left), int(right)))
    if sign in {"=", "==", "!="}:
        return matches(left, right) is (sign != "!=")
    return None
