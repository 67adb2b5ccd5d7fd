"""The one door to the database: read-only, queries by file name, the field dictionary, the build's own facts."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cache
from importlib import resources
from importlib.resources.abc import Traversable
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from reports.words import Bi
from schemas import sandbox

UNITS_ZH = {
    "accelerators": "张卡", "tokens": "token", "parameters": "个参数", "steps": "步", "days": "天", "hours": "小时",
    "accelerator-hours": "卡时", "sequences": "条序列", "layers": "层",
}  # fmt: skip
"""Units that are words."""


class ReportError(Exception):
    """Something a reader of the terminal can act on; printed as one sentence."""


@cache
def query_text(name: str) -> str:
    """The SQL of the file <name>.sql, wherever it lies under reports/; names are unique there.

    >>> query_text("build").split()[0]
    'select'
    """
    return query_files()[name].read_text(encoding="utf-8").strip()


@cache
def query_files() -> dict[str, Traversable]:
    """Every query by its name: those of the figures in reports/story/*, those of the pages in reports/page/queries.

    Raises
    ------
    ValueError
        When two queries have one name.
    """
    root = resources.files("reports")
    figures = [folder for folder in (root / "story").iterdir() if folder.is_dir()]
    queries: dict[str, Traversable] = {}
    for folder in (root / "page" / "queries", *sorted(figures, key=lambda one: one.name)):
        for file in folder.iterdir():
            name = file.name.removesuffix(".sql")
            if name != file.name and name in queries:
                raise ValueError(f"two queries are called {file.name}; rename one of them")
            if name != file.name:
                queries[name] = file
    return queries


@dataclass(frozen=True)
class Fields:
    """The field dictionary: titles in both languages and units, by column name."""

    rows: dict[str, tuple[str, str, str]] = field(default_factory=dict)

    def title(self, column: str) -> Bi:
        """The title of a column; its own name when the dictionary has no better one."""
        title, title_zh, _ = self.rows.get(column, ("", "", ""))
        plain = column.replace("_", " ")
        return Bi(title or plain[:1].upper() + plain[1:], title_zh or title or plain)

    def unit(self, column: str) -> str:
        """The unit of a column, '' for counts, shares and words."""
        unit = self.rows.get(column, ("", "", ""))[2]
        return "" if unit == "1" else unit

    def axis(self, column: str) -> Bi:
        """Title and unit, as an axis or a table head wants them."""
        title, unit = self.title(column), self.unit(column)
        if not unit or unit.lower() in title.en.lower():
            return title
        return Bi(f"{title.en} [{unit}]", f"{title.zh} [{UNITS_ZH.get(unit, unit)}]")


class Source:
    """Read-only view of one built database; queries are answered once."""

    def __init__(self, connection: duckdb.DuckDBPyConnection) -> None:
        self._connection = connection
        self._frames: dict[str, pd.DataFrame] = {}
        self._rows: dict[str, list[dict[str, Any]]] = {}
        self.fields = _fields(self.query("fields"))

    @classmethod
    def open(cls, path: Path) -> Source:
        """Open the database file read-only.

        Raises
        ------
        ReportError
            When the file is missing, locked, or not a database.
        """
        if not path.is_file():
            raise ReportError(f"there is no database at {path}: run `shardbook build` first")
        try:
            return cls(duckdb.connect(str(path), read_only=True, config=sandbox.SANDBOX))
        except duckdb.Error as error:
            raise ReportError(f"{path} cannot be read: {_first_line(error)}") from None

    def query(self, name: str) -> pd.DataFrame:
        """The rows of one named query, in the query's own order."""
        if name not in self._frames:
            try:
                self._frames[name] = self._connection.sql(query_text(name)).df()
            except duckdb.Error as error:
                raise ReportError(f"query {name}.sql cannot be answered: {_first_line(error)}") from None
        return self._frames[name]

    def rows(self, name: str) -> list[dict[str, Any]]:
        """The same rows as dictionaries, with None for what is missing; made once, so not to be changed."""
        if name not in self._rows:
            self._rows[name] = records(self.query(name))
        return self._rows[name]

    def build(self) -> dict[str, Any]:
        """Schema version, commit and data hash of the build; empty when the database states none."""
        rows = self.rows("build")
        return rows[0] if rows else {}


def records(frame: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows as dictionaries; NaN, NaT and NA become None.

    >>> records(pd.DataFrame({"a": [1.0, None]}))
    [{'a': 1.0}, {'a': None}]
    """
    return [
        {str(key): None if is_missing(value) else value for key, value in row.items()}
        for row in frame.astype(object).to_dict("records")
    ]


def is_missing(value: Any) -> bool:
    """Whether a cell holds nothing; lists and arrays always hold something."""
    if value is None:
        return True
    if hasattr(value, "__len__"):
        return False
    return bool(pd.isna(value))


def _fields(frame: pd.DataFrame) -> Fields:
    rows: dict[str, tuple[str, str, str]] = {}
    for row in records(frame):
        rows.setdefault(str(row["column_name"]), (row["title"] or "", row["title_zh"] or "", row["unit"] or ""))
    return Fields(rows)


def _first_line(error: Exception) -> str:
    return str(error).strip().splitlines()[0]
