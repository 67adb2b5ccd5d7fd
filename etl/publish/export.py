"""Tables and views as CSV and Parquet files, described by a data package."""

from __future__ import annotations

import json
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

from etl.database import ddl
from etl.database.filling import quoted
from etl.paths import Paths
from etl.publish import datapackage
from etl.records import schema
from schemas import files, sandbox, spreadsheet
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

FORMATS = {"csv": "format csv, header", "parquet": "format parquet, compression zstd"}


def export(paths: Paths, progress: Callable[[str], None] = lambda _: None) -> list[Path]:
    """Write every view, record table and filled result table of the built database to build/export.

    Parameters
    ----------
    paths : the checkout
    progress : called with the name of each step

    Returns
    -------
    the files, datapackage.json last

    Raises
    ------
    RefusalError : the database is missing or can't be read; the last good export stays
    """
    sandbox.connect(paths.database).close()  # refused before a folder is made
    with files.draft(paths.export) as fresh:
        fresh.mkdir()
        names = [file.name for file in _write(paths, fresh, progress)]
        progress("putting it in place")
    return [paths.export / name for name in names]


def _write(paths: Paths, folder: Path, progress: Callable[[str], None]) -> list[Path]:
    import duckdb

    written = []
    try:
        with sandbox.connect(paths.database, writes_to=folder) as connection:
            tables = listed(connection, ddl.references(schema.load(paths.schemas)))
            for table in tables:
                progress(f"writing {datapackage.name_of(table)}")
                written += [copy(connection, table, folder, form) for form in FORMATS]
            package = datapackage.describe(connection, tables, folder)
    except duckdb.Error as error:
        raise RefusalError(
            f"{paths.database.relative_to(paths.root)} is not as this version writes it; run `shardbook build`."
        ) from error
    target = folder / "datapackage.json"
    target.write_text(json.dumps(package, ensure_ascii=False, indent=2) + "\n", "utf-8")
    return [*written, target]


def listed(connection: DuckDBPyConnection, references: dict[str, str]) -> list[ddl.Table]:
    """What there is to export, read back from the dictionary inside the database.

    Parameters
    ----------
    connection : the built database
    references : kind of record that a column points at, by column name

    Returns
    -------
    views, record tables, then the result tables that hold rows
    """
    query = (Path(__file__).parent / "queries" / "dictionary.sql").read_text("utf-8")
    tables: dict[tuple[str, str], ddl.Table] = {}
    for space, name, said, *words in connection.execute(query).fetchall():
        before = tables.get((space, name), ddl.Table(space, name, said or "", ()))
        column = replace(ddl.Column(*words), ref=references.get(words[0], ""))
        tables[space, name] = replace(before, columns=(*before.columns, column))
    return [table for table in tables.values() if table.schema != "result" or _filled(connection, table)]


def _filled(connection: DuckDBPyConnection, table: ddl.Table) -> bool:
    return connection.execute(f"from {table.schema}.{table.name} limit 1").fetchone() is not None


def copy(connection: DuckDBPyConnection, table: ddl.Table, folder: Path, form: str) -> Path:
    """Write one table to one file, rows and columns in the order of the database.

    Parameters
    ----------
    connection : the built database
    table : what to write
    folder : where to
    form : csv (lists become JSON, NULL is empty) or parquet

    Returns
    -------
    the file
    """
    target = folder / f"{datapackage.name_of(table)}.{form}"
    changed = [f'{spelled} as "{one.name}"' for one in table.columns if (spelled := _in_csv(one))]
    replaced = f"replace ({', '.join(changed)})" if changed and form == "csv" else ""
    rows = f"from {table.schema}.{table.name} select * {replaced}"
    connection.execute(f"copy ({rows}) to {quoted(str(target))} ({FORMATS[form]})")
    return target


def _in_csv(column: ddl.Column) -> str | None:
    """The expression that a CSV file has in place of a column: lists as JSON, no text that starts a formula."""
    if column.type.endswith("[]"):
        return f'to_json("{column.name}")'
    return spreadsheet.safe_sql(f'"{column.name}"') if column.type == "VARCHAR" else None
