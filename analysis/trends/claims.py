"""Statements people make, each tested by the one query that its record carries."""

from __future__ import annotations

import json
import re
import string
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

from schemas.refusal import RefusalError
from schemas.sandbox import Limits, QueryError, Sandbox, connect

Row = dict[str, Any]
VERDICTS = ("holds", "holds-with-conditions", "does-not-hold", "cannot-tell")
# Sign, thousands, digits, kind: no width, which could fill the memory with blanks.
SPEC = re.compile(r"[+]?,?(\.\d)?[a-z%]?")
LIMITS = Limits(seconds=60, rows=2, cell=10_000)
"""What a claim's query may use: those of the record take milliseconds and return one row."""
Run = Callable[[str], tuple[tuple[str, ...], list[tuple[Any, ...]]]]
"""Runs one query in the sandbox."""
TEXTS = ("finding_en", "finding_zh", "would_change_en", "would_change_zh")


class ClaimError(RefusalError):
    """A claim whose query or texts do not work; the text names the claim and what to mend."""


def judged(database: Path) -> list[Row]:
    """Rows of result.claims, by number, of a database file that holds all other results and that nobody writes.

    A contributor wrote the queries, and the test for one SELECT does not keep a query from writing
    (`with a as (update ...) select` is one), so they run in a process of their own that reads this file alone.

    Raises
    ------
    ClaimError
        A query that is not one select, fails, takes too much, or does not return one row with a known verdict; a text
        that names a column the query does not return.
    """
    with connect(database) as connection:
        table = connection.execute("select * from record.claims order by number")
        names = [column[0] for column in table.description]
        claims = [dict(zip(names, values, strict=True)) for values in table.fetchall()]
    with Sandbox(database, LIMITS) as child:
        return [judge(child.query, claim) for claim in claims]


def judge(run: Run, claim: Mapping[str, Any]) -> Row:
    """Run one claim's query and fill its texts."""
    result = answer(run, claim)
    if result.get("verdict") not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise ClaimError(f"claim {claim['id']}: its query says verdict {result.get('verdict')!r}; it is one of {known}")
    texts = {name: filled(claim["id"], str(claim[name]), result) for name in TEXTS}
    numbers = json.dumps(result, default=str, ensure_ascii=False)
    key = {"claim_id": claim["id"], "number": claim["number"], "verdict": result["verdict"], "numbers": numbers}
    return key | texts


def answer(run: Run, claim: Mapping[str, Any]) -> Row:
    """The one row of a claim's query, by column."""
    try:
        names, rows = run(str(claim["sql"]))
    except QueryError as error:
        tried = f" ({error}); try it with shardbook sql" if error.kind == "sql" else ""
        raise ClaimError(f"claim {claim['id']}: {FAULTS.get(error.kind, str(error))}{tried}") from None
    if len(rows) != 1:
        raise ClaimError(f"claim {claim['id']}: its query returns {len(rows) or 'no'} rows; it has to return one")
    return dict(zip(names, rows[0], strict=True))


FAULTS = {
    "statement": "sql must be one select and nothing else",
    "sql": "its query fails",
    "rows": "its query returns more than 2 rows; it has to return one",
}
"""Words by kind of fault; others say it themselves."""


class _Words(string.Formatter):
    """Fills {column} and {column:format}; a value that is not known reads as a dash."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        del args
        if not field_name.isidentifier():
            raise ValueError(f"{field_name!r} is not a column")
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if not SPEC.fullmatch(format_spec):
            raise ValueError(f"{format_spec!r} is not a format such as ,.0f or .1%")
        return "–" if value is None else str(super().format_field(value, format_spec))


def filled(claim_id: str, text: str, result: Mapping[str, Any]) -> str:
    """A text with its {column} places filled from the query's row.

    >>> filled("x", "{median:.0%} of {n} runs, {absent}", {"median": 0.386, "n": 27, "absent": None})
    '39% of 27 runs, –'
    """
    try:
        return _Words().vformat(text, (), result)
    except (KeyError, IndexError, ValueError) as error:
        columns = ", ".join(result)
        raise ClaimError(f"claim {claim_id}: a text cannot be filled ({error}); the query returns {columns}") from None
