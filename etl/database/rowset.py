"""Answers of queries as text: a table for people, CSV and JSON for programs."""

from __future__ import annotations

import csv
import decimal
import io
import json
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

from schemas import spreadsheet
from schemas.sandbox_process import plain


@dataclass(frozen=True)
class Answer:
    """Columns and rows of a query; `flop` holds the columns whose unit is FLOP."""

    columns: tuple[str, ...]
    rows: list[tuple[Any, ...]]
    flop: frozenset[str] = frozenset()


def as_json(answer: Answer) -> str:
    """The answer as a JSON array of objects, one per row.

    >>> print(as_json(Answer(("run_id", "tokens"), [("meta/llama-3.1-405b", 15.6e12)])))
    [{"run_id": "meta/llama-3.1-405b", "tokens": 15600000000000.0}]
    """
    rows = [dict(zip(answer.columns, map(plain, row), strict=True)) for row in answer.rows]
    return "[" + ",\n ".join(json.dumps(row, ensure_ascii=False) for row in rows) + "]"


def as_csv(answer: Answer) -> str:
    """The answer as CSV with a header; NULL is empty, lists are JSON, what would start a formula is behind a `'`.

    >>> print(as_csv(Answer(("run_id", "aliases"), [("meta/x", ["a", "b"]), ("meta/y", None)])), end="")
    run_id,aliases
    meta/x,"[""a"", ""b""]"
    meta/y,
    """
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerow(answer.columns)
    writer.writerows([_csv_cell(plain(value)) for value in row] for row in answer.rows)
    return text.getvalue()


def _csv_cell(value: object) -> object:
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, str):
        return spreadsheet.safe(value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, list | dict) else value


def cell(value: object, flop: bool = False) -> str:
    """A value as a reader of a table wants it: whole numbers whole, FLOP and very large numbers in scientific notation.

    Parameters
    ----------
    value : what the database returned.
    flop : whether the column's unit is FLOP.

    Returns
    -------
    The text; NULL is empty.

    >>> cell(3.8e25, flop=True), cell(16384.0), cell(0.41), cell(None), cell([8, 1])
    ('3.8e+25', '16384', '0.41', '', '8, 1')
    """
    value = plain(value)
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int | float):
        if flop or abs(value) >= 1e15:
            return f"{value:.4g}"
        return str(int(value)) if value == int(value) else f"{value:.6g}"
    if isinstance(value, list):
        return ", ".join(cell(item) for item in value)
    return json.dumps(value, ensure_ascii=False) if isinstance(value, dict) else str(value)


def printable(text: str) -> str:
    """Text that can't steer a terminal: control characters other than line ends become blanks.

    >>> printable("a\\x1b[31mb")
    'a [31mb'
    """
    return "".join(char if char == "\n" or char.isprintable() else " " for char in text)


def numeric(rows: Sequence[tuple[Any, ...]], index: int) -> bool:
    """Whether every value of a column is a number or NULL, and one is a number.

    >>> numeric([(None, "a"), (2, "b")], 0), numeric([(None, "a"), (2, "b")], 1)
    (True, False)
    """
    values = [row[index] for row in rows if row[index] is not None]
    return bool(values) and all(isinstance(value, int | float | decimal.Decimal) for value in values)


def as_table(answer: Answer, width: int | None = None) -> str:
    """The answer for people: a table, or one block per row where the table would be wider than the screen.

    Parameters
    ----------
    answer : columns and rows
    width : of the screen [characters]; None means endless

    Returns
    -------
    the text, column names in full, the number of rows last

    >>> print(as_table(Answer(("run_id", "tp"), [("meta/x", 8), ("meta/y", None)])))
    run_id | tp
    -------+---
    meta/x |  8
    meta/y |
    (2 rows)
    """
    flop = [name in answer.flop for name in answer.columns]
    texts = [[printable(cell(value, big)) for value, big in zip(row, flop, strict=True)] for row in answer.rows]
    text = _grid(answer, texts)
    if width and max(map(len, text.splitlines()), default=0) > width:
        text = "\n".join(_block(answer.columns, row, place) for place, row in enumerate(texts, 1))
    number = len(answer.rows)
    return f"{text}\n({number} row{'' if number == 1 else 's'})"


def _grid(answer: Answer, texts: list[list[str]]) -> str:
    from rich import box
    from rich.console import Console
    from rich.table import Table
    from rich.text import Text

    table = Table(box=box.ASCII2, show_edge=False, pad_edge=False)
    for index, name in enumerate(answer.columns):
        table.add_column(Text(name), justify="right" if numeric(answer.rows, index) else "left", no_wrap=True)
    for row in texts:
        table.add_row(*map(Text, row))
    console = Console(width=1_000_000, file=io.StringIO(), color_system=None, legacy_windows=False)
    with console.capture() as caught:
        console.print(table)
    return "\n".join(line.rstrip() for line in caught.get().splitlines())


def _block(columns: Sequence[str], row: Sequence[str], place: int) -> str:
    """One row, one line per column that has a value."""
    wide = max(map(len, columns), default=0)
    lines = [f"{name.ljust(wide)}  {value}" for name, value in zip(columns, row, strict=True) if value]
    return "\n".join([f"-- row {place}", *lines])
