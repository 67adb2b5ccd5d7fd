"""Read-only queries over the built database: one statement, no files, no network, no settings."""

from __future__ import annotations

from pathlib import Path

from etl.database.rowset import Answer
from schemas import sandbox
from schemas.nearest import nearest
from schemas.refusal import RefusalError


def query(path: Path, text: str, longest: float = sandbox.LONGEST, most_rows: int = sandbox.MOST_ROWS) -> Answer:
    """Run one reading statement on the database at `path`, opened read-only inside the sandbox.

    Parameters
    ----------
    path : the built database.
    text : one SQL statement that reads; a semicolon at its end is allowed.
    longest : time after which its process is ended [s].
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
    try:
        with sandbox.Sandbox(path, sandbox.Limits(longest, most_rows)) as child:
            columns, rows = child.query(text)
    except sandbox.QueryError as error:
        raise RefusalError(_sentence(path, error) if error.kind == "sql" else str(error)) from None
    return Answer(columns, rows, _flop_columns(path))


def _sentence(path: Path, error: sandbox.QueryError) -> str:
    """The first line of a DuckDB message, with the nearest of our own tables where one is misspelt."""
    lines = [line.strip() for line in error.detail.splitlines() if line.strip()]
    if "disabled by configuration" in lines[0] or lines[0].startswith("Permission Error"):
        return "The query reaches outside the database (a file, an address or an extension); use its own tables."
    if lines[0].startswith("Catalog Error: Table with name "):
        wanted = lines[0].split("Table with name ")[1].split()[0].strip('"')
        tables = "select table_name, table_schema from information_schema.tables order by all"
        known: dict[str, list[str]] = {}
        for table, schema in _fetched(path, tables):
            known.setdefault(table, []).append(table if schema == "main" else f"{schema}.{table}")
        near = nearest(wanted, known)
        lists = "`select table_schema, table_name from information_schema.tables` lists them."
        tip = f"did you mean {' or '.join(known[near])}?" if near else lists
        return f"The query names a table {wanted} that does not exist; {tip}"
    extra = next((line for line in lines[1:] if line.startswith("Candidate bindings")), "")
    return f"The query was refused: {' '.join([lines[0], extra]).strip()}"


def _flop_columns(path: Path) -> frozenset[str]:
    import duckdb

    try:
        return frozenset(
            row[0] for row in _fetched(path, "select distinct column_name from meta.fields where unit = 'FLOP'")
        )
    except duckdb.Error:
        return frozenset()


def _fetched(path: Path, text: str) -> list[tuple[str, ...]]:
    """Rows of a query of our own."""
    with sandbox.connect(path) as connection:
        return connection.execute(text).fetchall()
