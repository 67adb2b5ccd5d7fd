"""The parser's words for syntax errors, turned into sentences for the person who wrote the line."""

from __future__ import annotations

import re
from typing import Any

from etl.yaml.findings import Finding

# (part of the parser's message, our sentence, the way out); {line} is the offending line, {word} what stands there
SENTENCES = (
    ("mapping values are not allowed", "a value contains a colon and a space", "quote the text: {quoted}"),
    ("did not find expected ',' or ']'", "a '[' is not closed", "add the missing ']' or ',': {line}]"),
    ("did not find expected ',' or '}'", "a '{{' is not closed", "add the missing '}}' or ',': {line}}}"),
    ("text after a quote", "text follows a closing quote", "use the other kind of quotes around it: {quoted}"),
    ("did not find expected key", "this line is indented differently from the lines above it", "align it: {line}"),
    ("did not find expected '-'", "a list ends in the middle", "start the line with '- ' or move it out: {line}"),
    ("unexpected end of stream", "a quoted text is not closed", "add the missing quote: {line}{word}"),
    ("unknown escape", "double quotes contain a backslash", "use single quotes: {single}"),
    ("cannot start any token", "the character {word} cannot start a value", "quote the text: {quoted}"),
    ("could not find expected ':'", "this line has no 'key: value'", "write it as  key: value: {line}"),
    ("another document", "a file holds one record", "put the second record into a file of its own"),
    ("maximum nesting depth", "values are nested too deep", "compare the nesting with another record"),
)


CONFLICT = re.compile(r"^(?:<{7} |={7}$|>{7} )", re.MULTILINE)
# `key:value`, a no-break space after the colon, a full-width colon: the parser sees one word of text.
NO_PAIR = re.compile(r"^(\s*(?:- )?[A-Za-z_]\w*)\s*[:\uff1a]\s*(\S.*)$")


def syntax(path: str, text: str, error: Any) -> Finding:
    """One finding for a syntax error.

    Parameters
    ----------
    path : the file to show
    text : its content
    error : what PyYAML raised, with marks

    Returns
    -------
    code YAM008 with the place, a sentence and, where we know it, the corrected line
    """
    problem = str(error.problem or "")
    mark = _mark(error, problem)
    if "did not find expected key" in problem and _after_quote(text, mark):
        problem = "text after a quote"
    lines = text.split("\n")
    number, col = min(mark.line, len(lines) - 1), mark.column
    while number and not lines[number].strip():
        number, col = number - 1, 0
    line = lines[number]
    known = _merge(path, text) or (_glued(path, lines, number) if "mapping values" in problem else None)
    if known:
        return known
    words = {"line": line.strip(), "word": line[col : col + 1]}
    words |= {"quoted": _quoted(line, '"'), "single": _quoted(line, "'")}
    for part, sentence, tip in SENTENCES:
        if part in problem:
            return Finding(path, number + 1, col + 1, "YAM008", sentence.format(**words), tip.format(**words)[:200])
    tip = f"look at the line: {line.strip()[:150]}"
    return Finding(path, number + 1, col + 1, "YAM008", f"not YAML: {problem}", tip)


def _merge(path: str, text: str) -> Finding | None:
    """Both sides of a merge, left in the file."""
    conflict = CONFLICT.search(text)
    if not conflict:
        return None
    tip = "keep one side and delete the lines with <<<<<<<, ======= and >>>>>>>"
    return Finding(path, text.count("\n", 0, conflict.start()) + 1, 1, "YAM008", "a merge left both versions here", tip)


def _glued(path: str, lines: list[str], number: int) -> Finding | None:
    """A colon without a plain space on the line above, which joins that line to this one."""
    above = next((one for one in range(number - 1, -1, -1) if lines[one].strip()), None)
    pair = NO_PAIR.match(lines[above]) if above is not None and ": " not in lines[above] else None
    if above is None or not pair:
        return None
    tip = f"write a plain colon and a space: {pair[1].strip()}: {pair[2].strip()}"
    return Finding(path, above + 1, 1, "YAM008", "this line has no 'key: value'", tip[:200])


def _after_quote(text: str, mark: Any) -> bool:
    """Whether a place lies behind a quote on its own line: 'Llama's'."""
    before: str = text.split("\n")[min(mark.line, text.count("\n"))][: mark.column]
    return before.rstrip().endswith(("'", '"'))


def _mark(error: Any, problem: str) -> Any:
    """Where the mistake began: an unclosed bracket or quote is shown at its start, not at the end of the file."""
    opened = "expected ','" in problem or "end of stream" in problem or "expected ':'" in problem
    return error.context_mark if opened and error.context_mark is not None else error.problem_mark


def _quoted(line: str, quote: str) -> str:
    """The line with everything after the first colon in quotes."""
    key, colon, value = line.strip().partition(": ")
    inner = value.strip().strip("\"'").replace(quote, "\\" + quote if quote == '"' else "''")
    return f"{key}{colon}{quote}{inner}{quote}" if colon else f"{quote}{key}{quote}"


def without(line: str, pattern: str, before: str) -> str:
    """A tip that shows the line with a part of it left out.

    >>> without("tp: !!int 8", r"!\\S*\\s?", "write: ")
    'write: tp: 8'
    """
    return before + re.sub(pattern, "", line, count=1).strip()[:150]
