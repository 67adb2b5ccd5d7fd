"""Rows of a benchmark that stand in a CSV file beside the record, each cell with its place."""

from __future__ import annotations

import csv
import io
from dataclasses import dataclass, field
from math import isinf
from pathlib import Path as FilePath
from typing import Any

from etl.yaml import encoding
from etl.yaml.findings import Finding
from etl.yaml.nodes import NOT_FINITE, WORDS, Path, Place, number

SIZE_LIMIT = 2_000_000
#: Columns that hold several words, separated by blanks.
LISTS = frozenset({"derived", "assumed"})


@dataclass
class RowTable:
    """One CSV file: its header, its rows as plain values, and its text line by line; row n stands on line n + 2."""

    path: str
    header: list[str] = field(default_factory=list)
    cells: list[list[str]] = field(default_factory=list)
    rows: list[dict[str, Any]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    findings: list[Finding] = field(default_factory=list)

    def locate(self, path: Path, key: bool = False) -> Place:
        """Line and column of ('rows', number, column), from 1; of the column's name where its key is asked for."""
        row, column = (*path[1:], None, None)[:2]
        if key or not isinstance(row, int):
            return 1, self._start(0, column)
        return row + 2, self._start(row + 1, column)

    def _start(self, line: int, column: str | int | None) -> int:
        """Where a cell starts in its line."""
        before = self.header.index(column) if column in self.header else 0
        start, quoted, commas = 0, False, 0
        for place, char in enumerate(self.lines[line] if line < len(self.lines) else ""):
            if commas == before:
                break
            quoted ^= char == '"'
            if char == "," and not quoted:
                commas, start = commas + 1, place + 1
        return start + 1

    def refuse(self, place: Place, code: str, message: str, tip: str) -> None:
        """Note one thing that is wrong with the file."""
        self.findings.append(Finding(self.path, *place, code, message, tip))


def beside(record: FilePath) -> FilePath:
    """Where the rows of a record stand if they are not in it.

    >>> beside(FilePath("data/benchmarks/x-1.5.yaml")).as_posix()
    'data/benchmarks/x-1.5.csv'
    """
    return record.with_suffix(".csv")


def read(path: FilePath, name: str) -> RowTable:
    """Read one table.

    Parameters
    ----------
    path : the CSV file
    name : the path to show in findings

    Returns
    -------
    the table; look at `findings` before `rows`
    """
    fetched = encoding.fetch(path, name, SIZE_LIMIT)
    return RowTable(name, findings=[fetched]) if isinstance(fetched, Finding) else parse(fetched, name)


def parse(content: bytes, name: str) -> RowTable:
    """Read the content of one table.

    Parameters
    ----------
    content : bytes of the file
    name : the path to show in findings

    Returns
    -------
    the table; a blank cell is a value that is not known, words of `derived` and `assumed` become a list

    >>> parse(b"id,tp,derived\\na1,8,mfu step_time_s\\nb2,,\\n", "x.csv").rows
    [{'id': 'a1', 'tp': 8, 'derived': ['mfu', 'step_time_s']}, {'id': 'b2'}]
    """
    text, findings = encoding.decode(content, name, SIZE_LIMIT)
    table = RowTable(name, lines=text.split("\n"), findings=findings)
    if any(one.code not in encoding.REPAIRABLE for one in findings):
        return table
    try:
        reader = csv.reader(io.StringIO(text), strict=True)
        for number_, cells in enumerate(reader, 1):
            if reader.line_num != number_:
                table.refuse((number_, 1), "CSV002", "a cell runs over the end of its line", "write it on one line")
                break
            _take(table, number_, [cell.strip() for cell in cells])
    except csv.Error as error:
        table.refuse((reader.line_num, 1), "CSV002", f"the line is not CSV: {error}", "close the quotes of its cells")
    return table


def _take(table: RowTable, line: int, cells: list[str]) -> None:
    """One line: the header, or a row of as many cells."""
    if line == 1:
        table.header = cells
        for place, name in enumerate(cells):
            if not name or name in cells[:place]:
                message = f"the column {name!r} appears twice" if name else "a column has no name"
                table.refuse((1, 1), "CSV001", message, "give every column the name of one field, once")
        return
    if len(cells) != len(table.header):
        message = f"the row has {len(cells)} cells and the header {len(table.header)} columns"
        table.refuse((line, 1), "CSV002", message, "leave the cell of a value that is not known blank")
        cells = (cells + [""] * len(table.header))[: len(table.header)]
    table.cells.append(cells)
    row = {name: _value(name, cell) for name, cell in zip(table.header, cells, strict=True) if cell}
    for name, value in row.items():
        if isinstance(value, float) and isinf(value):
            tip = "write the number that the source prints, or leave the cell blank"
            table.refuse(
                table.locate(("rows", line - 2, name)),
                "CSV003",
                f"{name} is {row[name]}, which is not a finite number",
                tip,
            )
    table.rows.append(row)


def _value(name: str, cell: str) -> Any:
    if name in LISTS:
        return cell.split()
    if NOT_FINITE.match(cell):
        return float("inf")
    return WORDS[cell] if cell in WORDS else number(cell)


def canonical(table: RowTable, order: list[str]) -> str:
    """The table as `shardbook fmt` writes it: columns in schema order, the fewest quotes, empty columns left out.

    Parameters
    ----------
    table : a table without findings
    order : fields of a row in schema order

    >>> canonical(parse(b'tp,"id",pp\\n8,"a",\\n', "x.csv"), ["id", "tp", "pp"])
    'id,tp\\na,8\\n'
    """
    rank = {name: place for place, name in enumerate(order)}
    used = [place for place in range(len(table.header)) if any(row[place] for row in table.cells)]
    used.sort(key=lambda place: rank.get(table.header[place], len(rank)))
    out = io.StringIO()
    writer = csv.writer(out, lineterminator="\n")
    writer.writerow([table.header[place] for place in used])
    writer.writerows([[" ".join(row[place].split()) for place in used] for row in table.cells])
    return out.getvalue()
