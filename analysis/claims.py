"""Statements people make, each tested by the one query that its record carries."""

from __future__ import annotations

import json
import string
from collections.abc import Iterator, Mapping
from typing import Any

import duckdb

Row = dict[str, Any]
VERDICTS = ("holds", "holds-with-conditions", "does-not-hold", "cannot-tell")
TEXTS = ("finding_en", "finding_zh", "would_change_en", "would_change_zh")


class ClaimError(Exception):
    """A claim whose query or texts do not work; the text names the claim and what to mend."""


def rows(connection: duckdb.DuckDBPyConnection) -> Iterator[Row]:
    """Rows of result.claims, by number; the database must hold all other results already.

    Raises
    ------
    ClaimError
        A query that is not one select, fails, or does not return one row with a known verdict; a text that names a
        column the query does not return.
    """
    table = connection.execute("select * from record.claims order by number")
    names = [column[0] for column in table.description]
    for values in table.fetchall():
        claim = dict(zip(names, values, strict=True))
        yield judge(connection, claim)


def judge(connection: duckdb.DuckDBPyConnection, claim: Mapping[str, Any]) -> Row:
    """Run one claim's query and fill its texts."""
    found = answer(connection, claim)
    if found.get("verdict") not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise ClaimError(f"claim {claim['id']}: its query says verdict {found.get('verdict')!r}; it is one of {known}")
    texts = {name: filled(claim["id"], str(claim[name]), found) for name in TEXTS}
    numbers = json.dumps(found, default=str, ensure_ascii=False)
    key = {"claim_id": claim["id"], "number": claim["number"], "verdict": found["verdict"], "numbers": numbers}
    return key | texts


def answer(connection: duckdb.DuckDBPyConnection, claim: Mapping[str, Any]) -> Row:
    """The one row of a claim's query, by column."""
    sql = str(claim["sql"])
    try:
        statements = connection.extract_statements(sql)
        if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
            raise ClaimError(f"claim {claim['id']}: sql holds one select and nothing else")
        result = connection.execute(sql)
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise ClaimError(f"claim {claim['id']}: its query fails ({reason}); try it with shardbook sql") from None
    names, found = [column[0] for column in result.description], result.fetchall()
    if len(found) != 1:
        raise ClaimError(f"claim {claim['id']}: its query returns {len(found)} rows; it has to return one")
    return dict(zip(names, found[0], strict=True))


class _Words(string.Formatter):
    """Fills {column} and {column:format}; a value that is not known reads as a dash."""

    def format_field(self, value: Any, format_spec: str) -> str:
        return "–" if value is None else str(super().format_field(value, format_spec))


def filled(claim_id: str, text: str, found: Mapping[str, Any]) -> str:
    """A text with its {column} places filled from the query's row.

    >>> filled("x", "{median:.0%} of {n} runs, {absent}", {"median": 0.386, "n": 27, "absent": None})
    '39% of 27 runs, –'
    """
    try:
        return _Words().vformat(text, (), found)
    except (KeyError, IndexError, ValueError) as error:
        columns = ", ".join(found)
        raise ClaimError(f"claim {claim_id}: a text cannot be filled ({error}); the query returns {columns}") from None
