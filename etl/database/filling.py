"""Tables, rows, views and comments put into an empty database."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etl.database import ddl, rows
from etl.records.loading import Catalogue
from etl.records.schema import Schemas
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

# Order matters: later views read earlier ones.
VIEWS = (
    "accelerator_capacity",
    "pretraining_runs",
    "post_training",
    "disclosure",
    "mfu_comparable",
    "run_organizations",
    "run_summary",
    "phase_summary",
    "cluster_sizes",
    "frontier_compute",
    "layout_map",
    "benchmark_summary",
    "memory_groups",
)
SPACES = ("record", "result", "meta")
# One JSON text typed by the database: fast, exact for doubles, and no data frame on the way.
UNPACK = "select unnest(row) from (select unnest(from_json_strict(?, '{types}')) as row)"


def fill(
    connection: DuckDBPyConnection,
    schemas: Schemas,
    catalogue: Catalogue,
    about: Mapping[str, Any],
    *,
    with_views: bool = True,
) -> list[ddl.Table]:
    """Make every table and view in an empty database and put the records in.

    Parameters
    ----------
    connection : an empty database
    schemas : the resolved schemas
    catalogue : the records, of which drafts are left out
    about : the row of meta.build
    with_views : make the views and the dictionary too; tables alone take half of the time

    Returns
    -------
    every table and view made, described

    Raises
    ------
    RefusalError : a record can't be read or put into its table
    """
    tables = ddl.record_tables(schemas)
    made = [*tables, *ddl.result_tables(schemas), *ddl.meta_tables(schemas)]
    for space in SPACES:
        connection.execute(f"create schema {space}")
    connection.execute("; ".join(table.create for table in made))
    contents = checked_rows(schemas, tables, catalogue)
    for table in tables:
        insert(connection, table, contents[table.name])
    if not with_views:
        return made
    words = ddl.view_words(schemas, made)
    made += [add_view(connection, name, words) for name in VIEWS]
    by_name = {f"{table.schema}.{table.name}": table for table in made}
    insert(connection, by_name["meta.fields"], dictionary(made))
    insert(connection, by_name["meta.build"], [about])
    return made


def checked_rows(schemas: Schemas, tables: list[ddl.Table], catalogue: Catalogue) -> dict[str, list[rows.Row]]:
    """Rows of the record tables, a bad record refused in one sentence.

    Parameters
    ----------
    schemas : the resolved schemas
    tables : the record tables
    catalogue : the records, of which drafts are left out

    Returns
    -------
    rows by table name

    Raises
    ------
    RefusalError : a record can't be read or put into its table
    """
    for record in catalogue:
        if not isinstance(record.doc.value, dict):
            raise RefusalError(f"{record.doc.path} can't be read; run `shardbook check` to see why.")
    try:
        return rows.of_tables(schemas, tables, catalogue.finished())
    except (KeyError, TypeError, AttributeError) as error:
        raise RefusalError(f"A record lacks the shape of its schema ({error!r}); run `shardbook check`.") from error
    except ValueError as error:
        raise RefusalError(str(error)) from error


def insert(connection: DuckDBPyConnection, table: ddl.Table, contents: Sequence[Mapping[str, Any]]) -> None:
    """Put rows into a table; a column that a row does not name stays NULL.

    Parameters
    ----------
    connection : where the table is
    table : the table
    contents : rows by column name

    >>> import duckdb
    >>> runs, opened = ddl.Table("main", "runs", "", (ddl.Column("id", "VARCHAR"),)), duckdb.connect()
    >>> _ = opened.execute(runs.create)
    >>> insert(opened, runs, [{"id": "meta/x"}])
    >>> opened.execute("from runs").fetchall()
    [('meta/x',)]
    """
    if not contents:
        return
    types = json.dumps([{column.name: _json_type(column.type) for column in table.columns}])
    names = [column.name for column in table.columns]
    whole = json.dumps([{name: row.get(name) for name in names} for row in contents])
    connection.execute(f"insert into {table.schema}.{table.name} " + UNPACK.format(types=types), [whole])


def _json_type(kind: str) -> str | list[str]:
    return [kind.removesuffix("[]")] if kind.endswith("[]") else kind


def add_view(connection: DuckDBPyConnection, name: str, words: Mapping[str, ddl.Column]) -> ddl.Table:
    """Make a view from its file and describe its columns.

    Parameters
    ----------
    connection : where its tables are
    name : of the view and, with .sql, of the file
    words : the describing column by name

    Returns
    -------
    the view as a table; its description is the first comment of the file

    Raises
    ------
    ValueError : a column that nothing describes; the sentence says where to describe it
    """
    text = (Path(__file__).parent / "views" / f"{name}.sql").read_text("utf-8")
    connection.execute(f"create view {name} as\n{text}")
    described = connection.execute(f"describe {name}").fetchall()
    unknown = [column for column, *_ in described if column not in words]
    if unknown:
        raise ValueError(
            f"etl/database/views/{name}.sql: describe {unknown[0]} in schemas/database.schema.json under views"
        )
    columns = tuple(replace(words[column], type=kind) for column, kind, *_ in described)
    return ddl.Table("main", name, text.splitlines()[0].removeprefix("-- "), columns)


def dictionary(tables: Iterable[ddl.Table]) -> list[dict[str, str]]:
    """Rows of meta.fields.

    Parameters
    ----------
    tables : tables and views

    Returns
    -------
    one row per column

    >>> dictionary([ddl.Table("record", "runs", "Runs.", (ddl.Column("id", "VARCHAR"),))])[0]["table_name"]
    'runs'
    """
    words = ("type", "unit", "title", "title_zh", "description", "level")
    return [
        {"schema": table.schema, "table_name": table.name, "column_name": column.name}
        | {word: getattr(column, word) for word in words}
        for table in tables
        for column in table.columns
    ]


def comment(connection: DuckDBPyConnection, tables: Iterable[ddl.Table]) -> None:
    """Write the descriptions into the database itself, where any client shows them.

    Parameters
    ----------
    connection : where the tables are
    tables : tables and views
    """
    statements = []
    for table in tables:
        name = f"{table.schema}.{table.name}"
        kind = "view" if table.schema == "main" else "table"
        statements.append(f"comment on {kind} {name} is {quoted(table.description)}")
        statements += [f'comment on column {name}."{one.name}" is {quoted(one.description)}' for one in table.columns]
    connection.execute("; ".join(["begin", *statements, "commit"]))


def quoted(text: str) -> str:
    """Text as a literal of SQL.

    >>> print(quoted("the makers' own"))
    'the makers'' own'
    """
    return "'" + text.replace("'", "''") + "'"
