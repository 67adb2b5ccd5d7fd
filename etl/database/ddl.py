"""Tables and columns of the database, read off the schemas: names, types, units and words."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from etl.records import schema
from etl.records.loading import FOLDERS
from etl.records.schema import Shape

APART = frozenset({"cite", "sources", "conflicts", "not_disclosed", "common", "shapes"})
TYPES = {"integer": "BIGINT", "number": "DOUBLE", "boolean": "BOOLEAN", "string": "VARCHAR"}
COUNTED = frozenset({"accelerators", "sequences", ""})
CHILDREN = {
    "phases": ("run", "run_id"),
    "cluster_points": ("cluster", "cluster_id"),
    "benchmark_rows": ("benchmark", "benchmark_id"),
}
OWNERS = {table: kind for table, (kind, _) in CHILDREN.items()}
COMMON = ("sources", "citations", "not_disclosed", "conflicts", "calibration")


@dataclass(frozen=True)
class Column:
    """One column: where its value stands in a block of a record, and how it is described.

    `path` holds the keys from the block down; `part` says which part of the value there the column takes.
    """

    name: str
    type: str
    unit: str = ""
    title: str = ""
    title_zh: str = ""
    description: str = ""
    level: str = "optional"
    ref: str = ""
    path: tuple[str, ...] = ()
    part: str = "value"


@dataclass(frozen=True)
class Table:
    """One table of one database schema."""

    schema: str
    name: str
    description: str
    columns: tuple[Column, ...]

    @property
    def create(self) -> str:
        """The statement that makes the table.

        >>> Table("record", "runs", "Runs.", (Column("id", "VARCHAR"), Column("end", "DATE"))).create
        'create table record.runs ("id" VARCHAR, "end" DATE)'
        """
        columns = ", ".join(f'"{column.name}" {column.type}' for column in self.columns)
        return f"create table {self.schema}.{self.name} ({columns})"


def sql_type(shape: Shape) -> str:
    """Type of the column that holds one value.

    Parameters
    ----------
    shape : place of a schema

    Returns
    -------
    BIGINT for whole counts, DOUBLE for other numbers; a list type for arrays

    >>> sql_type(Shape("layers", types=("integer",))), sql_type(Shape("days", base="quantity", unit="d"))
    ('BIGINT', 'DOUBLE')
    """
    if shape.items is not None:
        return f"{sql_type(shape.items)}[]"
    if shape.is_quantity:
        # Tokens and parameters are DOUBLE although they are counted: 6 * parameters * tokens overflows BIGINT.
        return "BIGINT" if shape.unit in COUNTED else "DOUBLE"
    return TYPES.get(shape.types[0], "VARCHAR") if len(shape.types) == 1 else "VARCHAR"


def columns_of(shape: Shape, path: tuple[str, ...] = (), prefix: str = "") -> Iterator[Column]:
    """Columns that the fields of an object become, in schema order, nested objects flattened.

    Parameters
    ----------
    shape : an object of a schema
    path : keys that lead to it from the row's block
    prefix : what stands before the names of its columns

    Returns
    -------
    three columns for a quantity (best, low, high), two for a date (first day of the period, precision), else one

    >>> tokens = Shape("tokens", base="quantity", unit="tokens")
    >>> [column.name for column in columns_of(Shape("run", properties={"tokens": tokens}))]
    ['tokens', 'tokens_low', 'tokens_high']
    """
    for name, field in shape.properties.items():
        if name in APART or field.table:
            continue
        if field.properties:
            yield from columns_of(field, (*path, name), prefix + field.prefix)
            continue
        level = "required" if name in shape.required else field.level
        column = described(field, prefix + name, level=level, path=(*path, name))
        yield column
        if field.is_quantity:
            yield varied(column, "low", "low", "（低）")
            yield varied(column, "high", "high", "（高）")
        elif field.base == "date":
            yield varied(column, "precision", "precision", "（精度）")


def described(field: Shape, name: str, **more: Any) -> Column:
    """A column with the words of a place of a schema.

    >>> described(Shape("tp", types=("integer",), title="TP", description="Tensor-parallel degree."), "tp").title
    'TP'
    """
    kind = "DATE" if field.base == "date" else sql_type(field)
    words = {"title": field.label, "title_zh": field.title_zh or field.label, "description": field.description}
    return Column(name, kind, field.unit, **{"level": field.level, "ref": field.ref, **words, **more})


def varied(column: Column, part: str, word: str, word_zh: str) -> Column:
    """The column beside another that holds the low end, the high end or the precision of its value.

    >>> varied(Column("released", "DATE", title="Released", title_zh="发布"), "precision", "precision", "（精度）").type
    'VARCHAR'
    """
    description = {
        "low": f"Low end of the range, where the value is one: {column.description}",
        "high": f"High end of the range, where the value is one: {column.description}",
        "precision": "How precise the date is: day, month or year; the date column holds the first day of the period.",
    }[part]
    kind = "VARCHAR" if part == "precision" else column.type
    unit = "" if part == "precision" else column.unit
    title, title_zh = f"{column.title}, {word}", column.title_zh + word_zh
    return Column(f"{column.name}_{part}", kind, unit, title, title_zh, description, "optional", "", column.path, part)


def record_tables(schemas: schema.Schemas) -> list[Table]:
    """Tables of the record schema: one per kind, one per list of children, and those all kinds share.

    Parameters
    ----------
    schemas : the resolved schemas

    Returns
    -------
    tables in a fixed order
    """
    own = schema.tables(schemas, "database.schema.json")
    tables = []
    for kind, folder in FOLDERS.items():
        shape = schemas.kind(kind)
        tables.append(Table("record", folder, shape.description, (_key(own, "id"), *columns_of(shape))))
        tables += [_child(own, kind, field) for field in shape.properties.values() if field.table in CHILDREN]
    return tables + [_fixed(own, "record", name) for name in COMMON]


def _child(own: dict[str, Shape], kind: str, field: Shape) -> Table:
    """The table of a list: its record's id, the place in the list, then the fields of an item."""
    if field.items is None:
        raise ValueError(f"{kind}.{field.name} has x-table but no items; describe them in schemas/{kind}.schema.json")
    keys = (_key(own, CHILDREN[field.table][1]), _key(own, "position"))
    return Table("record", field.table, field.description, (*keys, *columns_of(field.items)))


def _key(own: dict[str, Shape], name: str) -> Column:
    return described(own["keys"].properties[name], name, level="required")


def _fixed(own: dict[str, Shape], space: str, name: str) -> Table:
    columns = tuple(described(field, key) for key, field in own[name].properties.items())
    return Table(space, name, own[name].description, columns)


def result_tables(schemas: schema.Schemas) -> list[Table]:
    """Tables that analysis fills.

    Parameters
    ----------
    schemas : the resolved schemas

    Returns
    -------
    one empty table per definition of result.schema.json
    """
    return [
        Table("result", name, shape.description, tuple(columns_of(shape))) for name, shape in schemas.results.items()
    ]


def meta_tables(schemas: schema.Schemas) -> list[Table]:
    """The dictionary and the line about the build.

    Parameters
    ----------
    schemas : the resolved schemas

    Returns
    -------
    meta.fields and meta.build
    """
    own = schema.tables(schemas, "database.schema.json")
    return [_fixed(own, "meta", name) for name in ("fields", "build")]


def view_words(schemas: schema.Schemas, tables: Iterable[Table]) -> dict[str, Column]:
    """Words for columns of views, by name: those written for views first, then those of the records and results.

    Parameters
    ----------
    schemas : the resolved schemas
    tables : the tables the views are made of

    Returns
    -------
    the describing column for every name a view may use
    """
    own = schema.tables(schemas, "database.schema.json")["views"]
    words = {name: described(field, name) for name, field in own.properties.items()}
    for table in tables:
        if table.name not in COMMON:
            words.update({column.name: column for column in table.columns if column.name not in words})
    return words


def references(schemas: schema.Schemas) -> dict[str, str]:
    """Kind of record that a column points at, by the name that the column has wherever it stands.

    Parameters
    ----------
    schemas : the resolved schemas

    Returns
    -------
    kind by column name
    """
    tables = [*record_tables(schemas), *result_tables(schemas)]
    columns = [column for table in tables for column in table.columns]
    return {column.name: column.ref for column in (*columns, *view_words(schemas, tables).values()) if column.ref}
