"""Every rule has a code, a name and one sentence; a rule of ours is a small generator of findings.

To add one: write a generator in the module of its family with `@check(code, name)` above it and a docstring of one
sentence, add a bad record named for the defect under `tests/data/invalid`, and run `make docs`.
"""

from __future__ import annotations

import inspect
from collections.abc import Callable, Iterable
from dataclasses import dataclass

from etl.checks.subject import Subject
from etl.yaml.findings import Finding

FAMILIES = {
    "YAM": "Syntax: strict YAML",
    "CSV": "Tables: rows of a benchmark in a CSV file beside its record",
    "SCH": "Schema: keys, types and spellings",
    "TDO": "Drafts: what a person still has to fill in",
    "REF": "References: what points at what",
    "SRC": "Sources: every value is cited",
    "SUM": "Arithmetic between fields",
    "NAM": "Names: one spelling each",
    "DUP": "Duplicates",
    "EXC": "Accepted findings",
    "FMT": "Canonical form",
}


Run = Callable[[Subject], Iterable[Finding]]


@dataclass(frozen=True)
class Rule:
    """One rule. `run` is None where the reader or the schema walk decides it."""

    code: str
    name: str
    about: str
    run: Run | None = None
    kinds: tuple[str, ...] = ()

    @property
    def family(self) -> str:
        """The three letters."""
        return self.code[:3]


RULES: dict[str, Rule] = {}


def _register(rule: Rule) -> None:
    if rule.code in RULES or rule.family not in FAMILIES:
        raise ValueError(f"the code {rule.code} is taken or its family unknown")
    RULES[rule.code] = rule


def declare(code: str, name: str, about: str) -> None:
    """Register a rule that the reader, the schema walk or the runner decides itself."""
    _register(Rule(code, name, about))


def check(code: str, name: str, *kinds: str) -> Callable[[Run], Run]:
    """Register a generator as a rule on records of some kinds (all kinds where none is named)."""

    def wrap(run: Run) -> Run:
        about = inspect.cleandoc(run.__doc__ or "").split("\n\n")[0].replace("\n", " ")
        _register(Rule(code, name, about, run, kinds))
        return run

    return wrap
