"""A finding: where, which rule, what is wrong and one way out; and how findings are printed."""

from __future__ import annotations

import json
from collections.abc import Iterable
from dataclasses import asdict, dataclass


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
        """Two lines for a terminal."""
        head = f"{self.path}:{self.line}:{self.col} {self.code} {self.message}"
        return f"{head}\n    {self.tip}" if self.tip else head

    def github(self) -> str:
        """One workflow command that annotates the line of a pull request."""
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
