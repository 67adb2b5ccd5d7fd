"""Rows of the record tables: records flattened as the schema says, citations spread over the values they cover."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from etl.database.ddl import CHILDREN, Column, Table
from etl.records import citations
from etl.records.loading import FOLDERS, Catalogue
from etl.records.schema import Schemas, Shape

PRECISIONS = {4: "year", 7: "month", 10: "day"}
Row = dict[str, Any]


def of_tables(schemas: Schemas, tables: list[Table], catalogue: Catalogue) -> dict[str, list[Row]]:
    """Rows of every record table.

    Parameters
    ----------
    schemas : the resolved schemas
    tables : tables of the record schema
    catalogue : readable, checked records

    Returns
    -------
    rows by table name, ordered by id and place in the record

    Raises
    ------
    ValueError : a fraction where the table holds whole counts; the sentence names record and field
    """
    rows: dict[str, list[Row]] = {table.name: [] for table in tables}
    lists = {table.name: table for table in tables}
    for kind, folder in FOLDERS.items():
        for key, value in catalogue.values(kind).items():
            rows[folder].append({"id": key, **flat(lists[folder], value, key)})
            for child in (name for name, (owner, _) in CHILDREN.items() if owner == kind):
                rows[child] += list(of_children(lists[child], key, value))
            _shared(rows, schemas.kind(kind), key, value)
    for subject, value in catalogue.values("calibration").items():
        rows["calibration"] += list(constants(value, subject))
    return rows


def _shared(rows: dict[str, list[Row]], shape: Shape, key: str, value: Mapping[str, Any]) -> None:
    """Sources, citations, undisclosed fields and conflicts of one record."""
    owner = {"kind": shape.name, "record_id": key}
    for name, source in value.get("sources", {}).items():
        words = {word: source.get(word) for word in ("title", "url", "published", "read")}
        rows["sources"].append({**owner, "key": name, **words, "source_kind": source.get("kind")})
    for block in citations.blocks(shape, value):
        rows["citations"] += [{**owner, **row} for row in citations.cited_values(block)]
        hidden = block.value.get("not_disclosed", ())
        rows["not_disclosed"] += [{**owner, "block": block.name, "field": field} for field in hidden]
    for conflict in value.get("conflicts", ()):
        place = citations.parsed(conflict["cite"])
        cited = {"source": place["source"], "locator": place["locator"], "why": conflict["why"]}
        rows["conflicts"].append({**owner, "field": conflict["field"], "other": text(conflict["other"]), **cited})


def of_children(table: Table, key: str, value: Mapping[str, Any]) -> Iterator[Row]:
    """Rows of one list of a record; rows of a benchmark carry what all rows or all rows of their shape share.

    Parameters
    ----------
    table : table of the list
    key : id of the record
    value : the record

    Yields
    ------
    one row per item, in order, numbered from 1
    """
    owner = CHILDREN[table.name][1]
    field = {"phases": "phases", "cluster_points": "points", "benchmark_rows": "rows"}[table.name]
    for position, item in enumerate(value.get(field, ()), 1):
        shared = {**value.get("common", {}), **value.get("shapes", {}).get(item.get("shape"), {})}
        yield {owner: key, "position": position, **flat(table, {**shared, **item}, f"{key} {field} {position}")}


def flat(table: Table, value: Mapping[str, Any], name: str) -> Row:
    """The columns of one block.

    Parameters
    ----------
    table : its table
    value : the block
    name : what to call it in a refusal

    Returns
    -------
    values by column; columns without a value are left out

    Raises
    ------
    ValueError : a fraction in a column of whole counts

    >>> days = Column("days", "DOUBLE", path=("totals", "days"))
    >>> flat(Table("record", "runs", "", (days,)), {"totals": {"days": 54}}, "meta/x")
    {'days': 54}
    """
    row = {}
    for column in table.columns:
        cell = part(column, reach(value, column.path)) if column.path else None
        if cell is not None:
            row[column.name] = _whole(cell, column, name) if column.type == "BIGINT" else cell
    return row


def reach(value: Any, path: tuple[str, ...]) -> Any:
    """What stands at a path of nested mappings, or None.

    >>> reach({"layout": {"tp": 8}}, ("layout", "tp")), reach({}, ("layout", "tp"))
    (8, None)
    """
    for key in path:
        value = value.get(key) if isinstance(value, dict) else None
    return value


def part(column: Column, value: Any) -> Any:
    """The part of a value that a column takes: best, low or high of a quantity, day or precision of a date.

    >>> part(Column("tokens_low", "DOUBLE", part="low"), {"low": 1e12, "high": 2e12})
    1000000000000.0
    >>> part(Column("released", "DATE"), "2024-07"), part(Column("x", "VARCHAR", part="precision"), "2024-07")
    ('2024-07-01', 'month')
    """
    if column.part in {"low", "high"}:
        return value.get(column.part) if isinstance(value, dict) else None
    if column.part == "precision":
        return PRECISIONS.get(len(value)) if value else None
    if column.type == "DATE" and value:
        return value + "-01-01"[len(value) - 4 : 6] if len(value) < 10 else value
    return value.get("best") if isinstance(value, dict) else value


def _whole(value: Any, column: Column, name: str) -> int:
    if value != int(value):
        raise ValueError(f"{name}: {column.name} is {value} but counts whole things; write a whole number.")
    if abs(value) >= 2**63:
        raise ValueError(f"{name}: {column.name} is {value:g}, more than can be counted; write what the source prints.")
    return int(value)


def text(value: object) -> str:
    """A value as text: itself when it is text, else JSON.

    >>> text("bf16"), text(True), text(8)
    ('bf16', 'true', '8')
    """
    return value if isinstance(value, str) else json.dumps(value, ensure_ascii=False)


def constants(tree: Mapping[str, Any], path: str) -> Iterator[Row]:
    """Rows of one subject of the calibration: one per number, however deep it is nested.

    Parameters
    ----------
    tree : nested mapping whose leaves are {value, unit, how, cite, note}
    path : subject, or dotted path so far

    Yields
    ------
    key, value, unit, how, source, note

    >>> [row["key"] for row in constants({"dense": {"value": 0.1, "unit": "1", "how": "fit"}}, "bubble")]
    ['bubble.dense']
    """
    for key, below in tree.items():
        if "value" in below:
            words = {word: below.get(word) for word in ("unit", "how", "note")} | {"source": below.get("cite")}
            yield {"key": f"{path}.{key}", "value": float(below["value"]), **words}
        else:
            yield from constants(below, f"{path}.{key}")
