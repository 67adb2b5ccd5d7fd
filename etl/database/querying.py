"""Read-only queries over the built database: one statement, no files, no network, no settings."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from etl.database.rowset import Answer
from schemas import sandbox
from schemas.nearest import nearest
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    import duckdb

READING = {"SELECT", "EXPLAIN"}
MOST_ROWS = 1_000_000
"""More rows are refused: an answer is held in memory before it is printed."""


def query(path: Path, text: str, longest: float = sandbox.LONGEST, most_rows: int = MOST_ROWS) -> Answer:
    """Run one reading statement on the database at `path`, opened read-only inside the sandbox.

    Parameters
    ----------
    path : the built database.
    text : one SQL statement that reads; a semicolon at its end is allowed.
    longest : time after which it is stopped [s].
    most_rows : rows that an answer may have.

    Returns
    -------
    The columns and rows.

    Raises
    ------
    RefusalError : for a missing or foreign file, a lock, an empty, broken or second statement, any writing, and an
        answer that takes too long or has too many rows.

    >>> query(Path("nowhere.duckdb"), "select 1")
    Traceback (most recent call last):
    schemas.refusal.RefusalError: nowhere.duckdb does not exist; run `shardbook build` first.
    """
    import duckdb

    connection = sandbox.connect(path)
    watch = threading.Timer(longest, connection.interrupt)
    watch.start()
    try:
        cursor = connection.execute(only_statement(connection, text))
        columns = tuple(column[0] for column in cursor.description or ())
        rows = cursor.fetchmany(most_rows + 1)
        if len(rows) > most_rows:
            raise RefusalError(f"The answer has more than {most_rows:,} rows; add a limit, or use shardbook export.")
        return Answer(columns, rows, _flop_columns(connection))
    except duckdb.InterruptException:
        raise RefusalError(f"The query was stopped after {longest:g} s; ask for less, or see that it ends.") from None
    except duckdb.Error as error:
        raise RefusalError(_sentence(error, connection)) from None
    finally:
        watch.cancel()
        connection.close()


def only_statement(connection: duckdb.DuckDBPyConnection, text: str) -> duckdb.Statement:
    """Parse `text` and return its one statement.

    Parameters
    ----------
    connection : any open connection.
    text : the query as typed.

    Returns
    -------
    The parsed statement.

    Raises
    ------
    RefusalError : when there is none, more than one, or one that does more than read.
    duckdb.Error : when the text does not parse.

    >>> import duckdb
    >>> only_statement(duckdb.connect(), "drop table runs")
    Traceback (most recent call last):
    schemas.refusal.RefusalError: The query is a DROP statement; only reading ones (select, with, describe) are run.
    """
    statements = connection.extract_statements(text)
    if not statements:
        raise RefusalError('The query is empty; try: shardbook sql "select * from run_summary".')
    if len(statements) > 1:
        raise RefusalError(f"The query holds {len(statements)} statements; give one at a time.")
    kind = statements[0].type.name
    if kind not in READING:
        raise RefusalError(f"The query is a {kind} statement; only reading ones (select, with, describe) are run.")
    return statements[0]


def _sentence(error: Exception, connection: duckdb.DuckDBPyConnection) -> str:
    """The first line of a DuckDB message, with the nearest of our own tables where one is misspelt."""
    lines = [line.strip() for line in str(error).splitlines() if line.strip()]
    if "disabled by configuration" in lines[0] or lines[0].startswith("Permission Error"):
        return "The query reaches outside the database (a file, an address or an extension); use its own tables."
    if lines[0].startswith("Catalog Error: Table with name "):
        wanted = lines[0].split("Table with name ")[1].split()[0].strip('"')
        tables = "select table_name, table_schema from information_schema.tables order by all"
        known: dict[str, list[str]] = {}
        for table, schema in connection.execute(tables).fetchall():
            known.setdefault(table, []).append(table if schema == "main" else f"{schema}.{table}")
        near = nearest(wanted, known)
        lists = "`select table_schema, table_name from information_schema.tables` lists them."
        tip = f"did you mean {' or '.join(known[near])}?" if near else lists
        return f"The query names a table {wanted} that does not exist; {tip}"
    extra = next((line for line in lines[1:] if line.startswith("Candidate bindings")), "")
    return f"The query was refused: {' '.join([lines[0], extra]).strip()}"


def _flop_columns(connection: duckdb.DuckDBPyConnection) -> frozenset[str]:
    import duckdb

    try:
        rows = connection.execute("select distinct column_name from meta.fields where unit = 'FLOP'").fetchall()
    except duckdb.Error:
        return frozenset()
    return frozenset(row[0] for row in rows)
