"""What the record holds, where its values come from, and how much of every field is known."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from etl.database import ddl
from etl.database.rowset import Answer, as_table, cell, numeric
from etl.records.schema import Schemas

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

QUERIES = Path(__file__).parent / "queries" / "stats"
SUMMARY = ("counts", "sourcing", "years")
ALL = (*SUMMARY, "accelerators")
COVERED = ("runs", "phases", "models", "accelerators", "systems", "cluster_points")


@dataclass(frozen=True)
class Section:
    """One table of the statistics."""

    title: str
    answer: Answer


def sections(connection: DuckDBPyConnection, names: Iterable[str] = ALL) -> list[Section]:
    """Run the queries of the statistics; a table without rows is left out.

    Parameters
    ----------
    connection : a database with its record tables filled
    names : of the queries, without .sql

    Returns
    -------
    titles and tables, in the order of the names
    """
    sections = []
    for name in names:
        text = (QUERIES / f"{name}.sql").read_text("utf-8")
        cursor = connection.execute(text)
        columns = tuple(column[0] for column in cursor.description or ())
        answer = Answer(columns, cursor.fetchall())
        sections.append(Section(text.splitlines()[0].removeprefix("-- "), answer))
    return [section for section in sections if section.answer.rows]


def coverage(connection: DuckDBPyConnection, schemas: Schemas) -> Section:
    """How many records have a value in each field, and how many say that it is not disclosed.

    Parameters
    ----------
    connection : a database with its record tables filled
    schemas : the resolved schemas, for the fields

    Returns
    -------
    one row per field of each table that has rows: table, field, with a value, share in %, said not to be disclosed
    """
    tables = [table for table in ddl.record_tables(schemas) if table.name in COVERED]
    columns = ("table", "field", "level", "with a value", "of", "share, %", "said not to be disclosed")
    rows = [row for table in tables for row in _filled(connection, table)]
    return Section("How much of every field is known", Answer(columns, [row for row in rows if row[4]]))


def _filled(connection: DuckDBPyConnection, table: ddl.Table) -> Iterator[tuple[object, ...]]:
    fields = [column for column in table.columns if column.part == "value" and column.path]
    ends = {column.name for column in table.columns}
    counts = ", ".join(_count(column.name, ends) for column in fields)
    total, *filled = connection.execute(f"from record.{table.name} select count(*), {counts}").fetchall()[0]
    hidden = _hidden(connection, table)
    for column, number in zip(fields, filled, strict=True):
        share = round(100 * number / total, 1) if total else None
        yield table.name, column.name, column.level, number, total, share, hidden.get(column.path[-1], 0)


def _count(name: str, known: set[str]) -> str:
    parts = [f'"{part}"' for part in (name, f"{name}_low", f"{name}_high") if part in known]
    return f"count(coalesce({', '.join(parts)}))"


def _hidden(connection: DuckDBPyConnection, table: ddl.Table) -> dict[str, int]:
    kind = ddl.OWNERS.get(table.name, table.name.removesuffix("s"))
    query = (QUERIES / "hidden.sql").read_text("utf-8")
    return dict(connection.execute(query, {"kind": kind, "child": table.name in ddl.OWNERS}).fetchall())


def as_text(sections: Sequence[Section]) -> str:
    """The sections for a terminal.

    >>> print(as_text([Section("Runs", Answer(("year", "runs"), [("2024", 3)]))]))
    Runs
    year | runs
    -----+-----
    2024 |    3
    """
    return "\n\n".join(f"{one.title}\n{as_table(one.answer).rpartition(chr(10))[0]}" for one in sections)


def as_markdown(sections: Sequence[Section], level: int = 3) -> str:
    """The sections as Markdown tables.

    Parameters
    ----------
    sections : the sections
    level : of the headings

    Returns
    -------
    Markdown, without a line end

    >>> print(as_markdown([Section("Runs", Answer(("year", "runs"), [("2024", 3)]))]))
    ### Runs
    <BLANKLINE>
    | year | runs |
    |---|---:|
    | 2024 | 3 |
    """
    return "\n\n".join(f"{'#' * level} {one.title}\n\n{table(one.answer)}" for one in sections)


def table(answer: Answer) -> str:
    """An answer as a Markdown table; columns of numbers stand to the right.

    >>> print(table(Answer(("a|b",), [("x\\ny",)])))
    | a\\|b |
    |---|
    | x y |
    """
    rows = [[_safe(cell(value)) for value in row] for row in answer.rows]
    marks = ["---:" if numeric(answer.rows, place) else "---" for place in range(len(answer.columns))]
    lines = ["| " + " | ".join(line) + " |" for line in ([_safe(name) for name in answer.columns], *rows)]
    return "\n".join([lines[0], f"|{'|'.join(marks)}|", *lines[1:]])


def _safe(text: str) -> str:
    return text.replace("|", "\\|").replace("\n", " ")
