"""The data package (version 2 of the standard) that describes the exported files."""

from __future__ import annotations

import hashlib
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etl.database.ddl import Column, Table
from etl.records.loading import FOLDERS

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

PROFILE = "https://datapackage.org/profiles/2.0/datapackage.json"
CREATIVE_COMMONS = "https://creativecommons.org/licenses/by/4.0/"
LICENSE = {"name": "CC-BY-4.0", "title": "Creative Commons Attribution 4.0", "path": CREATIVE_COMMONS}
MEDIA = {"csv": "text/csv", "parquet": "application/vnd.apache.parquet"}
TYPES = {
    "BIGINT": "integer",
    "BOOLEAN": "boolean",
    "DATE": "date",
    "DOUBLE": "number",
    "HUGEINT": "integer",
    "INTEGER": "integer",
}
KEYS = {
    **{folder: ["id"] for folder in FOLDERS.values()},
    "phases": ["run_id", "name"],
    "cluster_points": ["cluster_id", "position"],
    "benchmark_rows": ["benchmark_id", "id"],
    "sources": ["kind", "record_id", "key"],
    "citations": ["kind", "record_id", "block", "field"],
    "not_disclosed": ["kind", "record_id", "block", "field"],
    "calibration": ["key"],
    "pretraining_runs": ["id"],
    "post_training": ["run_id"],
    "run_summary": ["run_id"],
    "accelerator_capacity": ["accelerator"],
    "phase_summary": ["run_id", "phase"],
    "frontier_compute": ["run_id"],
    "layout_map": ["run_id", "phase"],
    "benchmark_summary": ["benchmark_id"],
    "disclosure": ["run_id", "fact"],
    "memory_groups": ["run_id", "phase", "stage", "part"],
}


def describe(connection: DuckDBPyConnection, tables: list[Table], folder: Path) -> dict[str, Any]:
    """The content of datapackage.json.

    Parameters
    ----------
    connection : the built database, for its sources and commit
    tables : what was exported
    folder : where the files stand

    Returns
    -------
    the package as plain values, equal for equal data
    """
    built = connection.execute("select committed, data_hash from meta.build").fetchone() or ("", "")
    cited = connection.execute("select distinct title, url from record.sources order by title, url").fetchall()
    return {
        "$schema": PROFILE,
        "name": "shardbook",
        "title": "shardbook: how large models were really trained",
        "description": "Training runs, models, hardware and measured rows, every value cited, and what follows.",
        "version": _version(),
        **({"created": built[0]} if built[0] else {}),
        "data_hash": f"sha256:{built[1]}",
        "licenses": [LICENSE],
        "contributors": [{"title": "The shardbook contributors", "roles": ["author"]}],
        "sources": [{"title": title, "path": url} for title, url in cited],
        "resources": [resource(table, folder, form) for table in tables for form in MEDIA],
    }


def _version() -> str:
    try:
        return version("shardbook")
    except PackageNotFoundError:
        return "0.0.0"


def resource(table: Table, folder: Path, form: str) -> dict[str, Any]:
    """One file of the package.

    Parameters
    ----------
    table : what it holds
    folder : where it stands
    form : csv or parquet

    Returns
    -------
    name, path, size, hash and the schema of its columns
    """
    name = name_of(table)
    content = (folder / f"{name}.{form}").read_bytes()
    return {
        "name": name if form == "csv" else f"{name}-{form}",
        "type": "table",
        "path": f"{name}.{form}",
        "title": name.replace("_", " "),
        "description": table.description,
        "format": form,
        "mediatype": MEDIA[form],
        **({"encoding": "utf-8"} if form == "csv" else {}),
        "bytes": len(content),
        "hash": f"sha256:{hashlib.sha256(content).hexdigest()}",
        "schema": schema_of(table),
    }


def schema_of(table: Table) -> dict[str, Any]:
    """The schema of one table: fields with unit and words in both languages, keys.

    >>> schema_of(Table("record", "runs", "", (Column("id", "VARCHAR"),)))["primaryKey"]
    ['id']
    """
    key = KEYS.get(table.name, []) if table.schema != "result" else []
    pointing = [
        {"fields": [column.name], "reference": {"resource": FOLDERS[column.ref], "fields": ["id"]}}
        for column in table.columns
        if column.ref in FOLDERS
    ]
    return {
        "fields": [field(column) for column in table.columns],
        "missingValues": [""],
        **({"primaryKey": key} if key else {}),
        **({"foreignKeys": pointing} if pointing else {}),
    }


def field(column: Column) -> dict[str, Any]:
    """One column as the package describes it.

    >>> field(Column("days", "DOUBLE", "d", "Days", "天数", "Wall-clock days."))["unit"]
    'd'
    """
    kind = "array" if column.type.endswith("[]") else TYPES.get(column.type, "string")
    described = {"name": column.name, "type": kind, "title": column.title, "title_zh": column.title_zh}
    return described | {"description": column.description} | ({"unit": column.unit} if column.unit else {})


def name_of(table: Table) -> str:
    """Name of a table's files: its own, results marked as such.

    >>> name_of(Table("record", "claims", "", ())), name_of(Table("result", "claims", "", ()))
    ('claims', 'result_claims')
    """
    return f"result_{table.name}" if table.schema == "result" else table.name
