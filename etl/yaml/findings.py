"""A finding: where, which rule, what is wrong and one way out; and how findings are printed."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Iterable
from dataclasses import asdict, dataclass

# What `shardbook fmt` repairs by itself.
REPAIRABLE = frozenset({"YAM002", "YAM003", "YAM019", "FMT001"})


@dataclass(frozen=True, order=True)
class Finding:
    """One thing that a person has to look at.

    >>> print(Finding("data/runs/a/b.yaml", 3, 9, "REF001", "no such model", "did you mean 'a/c'?").text())
    data/runs/a/b.yaml:3:9 REF001 no such model
        did you mean 'a/c'?
    """

    path: str
    line: int
    col: int
    code: str
    message: str
    tip: str = ""
    fields: tuple[str, ...] = ()

    def text(self) -> str:
        """Two lines for a terminal: the sentence, and below it the way out."""
        head = f"{self.path}:{self.line}:{self.col} {self.code} {self.message}"
        return f"{head}\n    {self.tip}" if self.tip else head

    def github(self) -> str:
        """One workflow command that annotates the line of a pull request.

        >>> Finding("a.yaml", 3, 9, "REF001", "no such model").github()
        '::error file=a.yaml,line=3,col=9,title=REF001::no such model'
        """
        body = _escape(f"{self.message}; {self.tip}" if self.tip else self.message)
        return f"::error file={_escape(self.path, ':,')},line={self.line},col={self.col},title={self.code}::{body}"


def _escape(text: str, extra: str = "") -> str:
    for char in "%\r\n" + extra:
        text = text.replace(char, f"%{ord(char):02X}")
    return text


def render(findings: Iterable[Finding], form: str = "text") -> str:
    """Write findings in one of three forms.

    Parameters
    ----------
    findings : what was found, in any order
    form : `text` for people, `json` for programs, `github` for annotations on a pull request

    Returns
    -------
    the text, without a line end; sorted by file, line and column

    Raises
    ------
    ValueError : an unknown form

    >>> render([Finding("b.yaml", 1, 1, "SCH002", "the key 'name' is missing")], "github")
    "::error file=b.yaml,line=1,col=1,title=SCH002::the key 'name' is missing"
    """
    ordered = sorted(findings)
    if form == "json":
        return json.dumps([asdict(finding) for finding in ordered], ensure_ascii=False, indent=2)
    if form not in {"text", "github"}:
        raise ValueError(f"format {form!r} is unknown; use text, json or github")
    return "\n".join(finding.text() if form == "text" else finding.github() for finding in ordered)


def summary(findings: Iterable[Finding], records: int) -> str:
    """The last line of a check: how many records and findings, and whether the formatter helps.

    >>> summary([], 22)
    '22 records, 0 findings'
    >>> summary([Finding("a", 1, 1, "FMT001", "x")], 1)
    '1 record, 1 finding (FMT001 1); shardbook fmt repairs 1'
    """
    codes = Counter(finding.code for finding in findings)
    total = sum(codes.values())
    line = f"{records} record{'' if records == 1 else 's'}, {total} finding{'' if total == 1 else 's'}"
    if total:
        line += " (" + ", ".join(f"{code} {number}" for code, number in sorted(codes.items())) + ")"
    repairable = sum(number for code, number in codes.items() if code in REPAIRABLE)
    return f"{line}; shardbook fmt repairs {repairable}" if repairable else line
