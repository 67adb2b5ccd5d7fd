"""Statements people make, each tested by the one query that its record carries."""

from __future__ import annotations

import json
import re
import string
import threading
from collections.abc import Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import duckdb

from schemas.refusal import RefusalError
from schemas.sandbox import LONGEST, connect

Row = dict[str, Any]
VERDICTS = ("holds", "holds-with-conditions", "does-not-hold", "cannot-tell")
# Sign, thousands, digits, kind: no width, which could fill the memory with blanks.
SPEC = re.compile(r"[+]?,?(\.\d)?[a-z%]?")
TEXTS = ("finding_en", "finding_zh", "would_change_en", "would_change_zh")


class ClaimError(RefusalError):
    """A claim whose query or texts do not work; the text names the claim and what to mend."""


def judged(database: Path) -> list[Row]:
    """Rows of result.claims of a database file that holds all other results and that nobody has open.

    The test for one SELECT does not keep a query from writing (`with a as (update ...) select` is one), so the file
    is opened read-only.

    Raises
    ------
    ClaimError
        As `rows`.
    """
    with connect(database) as connection:
        return list(rows(connection))


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
    result = answer(connection, claim)
    if result.get("verdict") not in VERDICTS:
        known = ", ".join(VERDICTS)
        raise ClaimError(f"claim {claim['id']}: its query says verdict {result.get('verdict')!r}; it is one of {known}")
    texts = {name: filled(claim["id"], str(claim[name]), result) for name in TEXTS}
    numbers = json.dumps(result, default=str, ensure_ascii=False)
    key = {"claim_id": claim["id"], "number": claim["number"], "verdict": result["verdict"], "numbers": numbers}
    return key | texts


def answer(connection: duckdb.DuckDBPyConnection, claim: Mapping[str, Any], longest: float = LONGEST) -> Row:
    """The one row of a claim's query, by column."""
    sql = str(claim["sql"])
    try:
        statements = connection.extract_statements(sql)
        if [one.type for one in statements] != [duckdb.StatementType.SELECT]:
            raise ClaimError(f"claim {claim['id']}: sql holds one select and nothing else")
        names, result = _fetched(connection, sql, longest)
    except duckdb.InterruptException:
        raise ClaimError(f"claim {claim['id']}: its query was stopped after {longest:g} s; let it end") from None
    except duckdb.Error as error:
        reason = str(error).strip().splitlines()[0]
        raise ClaimError(f"claim {claim['id']}: its query fails ({reason}); try it with shardbook sql") from None
    if len(result) != 1:
        rows_found = len(result) or "no"
        raise ClaimError(f"claim {claim['id']}: its query returns {rows_found} rows; it has to return one")
    return dict(zip(names, result[0], strict=True))


def _fetched(connection: duckdb.DuckDBPyConnection, sql: str, longest: float) -> tuple[list[str], list[Any]]:
    """Columns and at most two rows of a query that is stopped when it takes too long."""
    watch = threading.Timer(longest, connection.interrupt)
    watch.start()
    try:
        result = connection.execute(sql)
        return [column[0] for column in result.description], result.fetchmany(2)
    finally:
        watch.cancel()


class _Words(string.Formatter):
    """Fills {column} and {column:format}; a value that is not known reads as a dash."""

    def get_field(self, field_name: str, args: Sequence[Any], kwargs: Mapping[str, Any]) -> tuple[Any, str]:
        del args
        if not field_name.isidentifier():
            raise ValueError(f"{field_name!r} is no column")
        return kwargs[field_name], field_name

    def format_field(self, value: Any, format_spec: str) -> str:
        if not SPEC.fullmatch(format_spec):
            raise ValueError(f"{format_spec!r} is no format like ,.0f or .1%")
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
