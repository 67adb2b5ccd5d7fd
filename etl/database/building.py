"""The database: records in, one DuckDB file out, with its dictionary inside."""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING

from etl.database import filling
from etl.paths import Paths
from etl.records import loading, repository, schema
from etl.yaml.row_table import beside
from schemas import files

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

SCHEMA_VERSION = "1"
STORAGE = "v1.0.0"
"""Oldest DuckDB that reads the file."""
Progress = Callable[[str], None]


def build(paths: Paths, catalogue: loading.Catalogue, progress: Progress = lambda _: None) -> dict[str, int]:
    """Write the database of a checkout; result tables are there and empty.

    Parameters
    ----------
    paths : the checkout
    catalogue : its records, read and checked
    progress : called with the name of each step

    Returns
    -------
    number of records by kind

    Raises
    ------
    RefusalError : a record can't be read or put into its table; the last good database stays
    """
    with files.draft(paths.database) as unfinished:
        write(unfinished, paths, catalogue, progress)
        progress("putting it in place")
    # What a program that was killed had not yet merged into the old file would keep the new one from being opened.
    paths.database.with_name(f"{paths.database.name}.wal").unlink(missing_ok=True)
    return count(catalogue)


def write(target: Path, paths: Paths, catalogue: loading.Catalogue, progress: Progress = lambda _: None) -> None:
    """Write a new database file.

    Parameters
    ----------
    target : the file, which must not exist
    paths : the checkout, for schemas and commit
    catalogue : its records
    progress : called with the name of each step

    Raises
    ------
    RefusalError : a record can't be read or put into its table
    """
    import duckdb

    with duckdb.connect(str(target), config={"storage_compatibility_version": STORAGE}) as connection:
        progress("filling tables and views")
        made = filling.fill(connection, schema.load(paths.schemas), catalogue, about(paths, catalogue))
        _fill_lists(connection)
        progress("describing columns")
        filling.comment(connection, made)


def _fill_lists(connection: DuckDBPyConnection) -> None:
    """Give a column of lists that are all empty one item and take it back.

    DuckDB 2.0 writes a column that never had an item in a way that 1.0 cannot read.
    """
    lists = """select table_name, column_name from information_schema.columns
        where table_schema = 'record' and data_type like '%[]'"""
    for table, column in connection.execute(lists).fetchall():
        items = connection.execute(f'select sum(len("{column}")) from record.{table}').fetchone()  # noqa: S608  (ours)
        if items is not None and not items[0]:
            connection.execute(f'insert into record.{table} ("{column}") values ([null])')  # noqa: S608
            connection.execute(f'delete from record.{table} where len("{column}") = 1')  # noqa: S608


def memory(
    paths: Paths,
    kinds: Iterable[str] | None = None,
    only: Mapping[str, str] | None = None,
    *,
    with_views: bool = True,
) -> DuckDBPyConnection:
    """The same database in memory, without comments, with the rows of some kinds only.

    Parameters
    ----------
    paths : the checkout
    kinds : kinds of records to read ('calibration' is one); all when None
    only : of these kinds the record with this id alone
    with_views : make the views too; tables alone take half of the time

    Returns
    -------
    an open connection; all tables exist, those of other kinds are empty

    Raises
    ------
    RefusalError : a record can't be read or put into its table
    """
    catalogue = loading.load(paths.data) if kinds is None else some(paths.data, kinds, only or {})
    return of_catalogue(paths, catalogue, with_views=with_views)


def of_catalogue(paths: Paths, catalogue: loading.Catalogue, *, with_views: bool = True) -> DuckDBPyConnection:
    """The database of records that are already read, in memory, without comments.

    Parameters
    ----------
    paths : the checkout, for schemas and commit
    catalogue : the records
    with_views : make the views too

    Returns
    -------
    an open connection

    Raises
    ------
    RefusalError : a record can't be put into its table
    """
    import duckdb

    connection = duckdb.connect(":memory:")
    filling.fill(connection, schema.load(paths.schemas), catalogue, about(paths, catalogue), with_views=with_views)
    return connection


def some(data: Path, kinds: Iterable[str], only: Mapping[str, str] = MappingProxyType({})) -> loading.Catalogue:
    """The records of some kinds, in order; other folders are not touched.

    Parameters
    ----------
    data : the `data/` folder
    kinds : kinds to read
    only : of these kinds the record with this id alone, if there is one

    Returns
    -------
    a catalogue without the other kinds

    >>> list(some(Path("nowhere"), ["accelerator", "calibration"]))
    []
    """
    catalogue = loading.Catalogue(data)
    for kind in kinds:
        pattern = loading.SINGLES.get(kind) or f"{(loading.FOLDERS | loading.PARTS)[kind]}/**/*.yaml"
        for file in sorted(data.glob(pattern)):
            name = Path(file.relative_to(data).as_posix().removesuffix(".yaml"))
            key = kind if kind in loading.SINGLES else Path(*name.parts[1:]).as_posix()
            if only.get(kind, key) != key:
                continue
            catalogue.add(loading.read(kind, key, file, file.as_posix()))
    return catalogue


def count(catalogue: loading.Catalogue) -> dict[str, int]:
    """Number of records of each kind.

    >>> count(loading.Catalogue(Path("data")))["run"]
    0
    """
    return {kind: len(catalogue[kind]) for kind in loading.FOLDERS}


def about(paths: Paths, catalogue: loading.Catalogue) -> dict[str, str]:
    """The row of meta.build; no clock in it, so that equal records give equal rows.

    Parameters
    ----------
    paths : the checkout
    catalogue : its records

    Returns
    -------
    schema_version, commit, committed, data_hash, counts
    """
    digest = hashlib.sha256()
    # An unreadable record is refused when its table is filled; its file may be a pipe, which would be waited for.
    for record in sorted((one for one in catalogue if one.doc.root is not None), key=lambda one: one.file):
        name = record.file.relative_to(paths.data).as_posix()
        digest.update(b"\0".join([name.encode(), record.file.read_bytes(), b""]))
        if record.doc.table is not None:
            digest.update(b"\0".join([b"rows", beside(record.file).read_bytes(), b""]))
    commit, committed = repository.last_commit(paths.root)
    counts = json.dumps(count(catalogue))
    values = {"schema_version": SCHEMA_VERSION, "commit": commit, "committed": committed}
    return values | {"data_hash": digest.hexdigest(), "counts": counts}
