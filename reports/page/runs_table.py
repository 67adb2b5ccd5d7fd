"""The table of all runs: plain HTML that a kept table library makes sortable, filterable and searchable."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass
from importlib import resources
from typing import Any

from reports.drawing.figure import Cell, Table
from reports.numbers import NOTHING, day, exact, percent, scientific, short
from reports.page.assembly import asset, data_block
from reports.source import Source, is_missing
from reports.words import Bi, code, has_phrase, phrase, plain

WORDS = ("sparsity", "verdict", "purpose", "compute_status", "mfu_basis")
WRITERS: dict[str, Callable[[Any], str]] = {
    "params_total": short,
    "params_active": short,
    "tokens": short,
    "compute_flop": lambda value: scientific(value, 3),
    "mfu_6nd": lambda value: percent(value, 1),
    "mfu_causal": lambda value: percent(value, 1),
    "mfu_model_flops": lambda value: percent(value, 1),
    "mfu_reported": lambda value: percent(value, 1),
    "disclosed": percent,
    "released": lambda value: str(value)[:10],
}
VISIBLE = (
    "name", "organization", "released", "sparsity", "params_total", "tokens", "compute_flop",
    "accelerators", "accelerator", "mfu_6nd", "verdict",
)  # fmt: skip
HIDDEN = (
    "purpose", "params_active", "compute_status", "accelerator_hours", "days", "steps", "cost_usd", "energy_mwh",
    "phases", "tp", "cp", "pp", "vpp", "dp", "ep", "seq_len", "precision", "mfu_reported", "mfu_basis", "mfu_causal",
    "mfu_model_flops", "disclosed",
)  # fmt: skip
FILTERS = ("organization", "sparsity", "accelerator", "verdict")


@dataclass(frozen=True)
class Filter:
    """A choice above the table: the column's place and its values as they stand in the cells."""

    place: int
    column: str
    title: Bi
    values: tuple[tuple[str, Bi], ...]


def context(source: Source) -> dict[str, Any]:
    """What the template of the table prints."""
    rows = source.rows("run_list")
    table = runs(source)
    columns = (*VISIBLE, *HIDDEN)
    filters = [_filter(columns.index(column), column, rows, source) for column in FILTERS]
    return {
        "title": phrase("runs.title", n=len(rows)),
        "description": phrase("runs.description"),
        "table": table,
        "filters": [one for one in filters if one.values],
        "shown": len(VISIBLE),
        "words": data_block(
            {lang: {name: str(plain(f"runs.library.{name}")[lang]) for name in _LIBRARY} for lang in ("en", "zh")}
        ),
    }


_LIBRARY = ("search", "info", "infoEmpty", "infoFiltered", "zeroRecords", "columns", "csv")


def runs(source: Source) -> Table:
    """Every run with every column; exact values for sorting and export."""
    columns = (*VISIBLE, *HIDDEN)
    heads = tuple((column, source.fields.axis(column)) for column in columns)
    return Table(heads, tuple(tuple(_cell(row, column) for column in columns) for row in source.rows("run_list")))


def _cell(row: dict[str, Any], column: str) -> Cell:
    raw = row[column]
    link = f"runs/{row['run_id']}.html" if column == "name" else ""
    number = not is_missing(raw) and not isinstance(raw, str) and column != "released"
    return Cell(_text(row, column), raw, link, number)


def _text(row: dict[str, Any], column: str) -> Bi:
    raw = row[column]
    if is_missing(raw):
        low, high = row.get(f"{column}_low"), row.get(f"{column}_high")
        write = WRITERS.get(column, exact)
        return Bi.same(NOTHING if low is None or high is None else f"{write(low)}–{write(high)}")
    if column == "released":
        return Bi.same(day(raw, row["released_precision"]))
    if column in WORDS and has_phrase(f"words.code.{raw}"):
        return code(raw)
    return Bi.same(raw if isinstance(raw, str) else WRITERS.get(column, exact)(raw))


def _filter(place: int, column: str, rows: list[dict[str, Any]], source: Source) -> Filter:
    values = sorted({row[column] for row in rows if not is_missing(row[column])}, key=str.lower)
    named = tuple((value, code(value) if column in WORDS else Bi.same(value)) for value in values)
    return Filter(place, column, source.fields.title(column), named)


def script() -> str:
    """The table library and our page code as one module.

    The library is a module whose exports have short local names; ours reaches it by the name it exports.
    """
    library = (resources.files("itables") / "html" / "dt_bundle.js").read_text(encoding="utf-8")
    exports = re.search(r"export\{([^}]*)\};?", library)
    if exports is None:
        raise ValueError("the table library exports nothing")
    local = {outside: inside for inside, outside in (pair.split(" as ") for pair in exports.group(1).split(","))}
    bare = library[: exports.start()] + library[exports.end() :]
    return f"{bare}\nconst DataTable = {local['default']};\n{asset('prefs.js')}{asset('runs.js')}"


def style() -> str:
    """The library's style, then ours, which wins."""
    library = (resources.files("itables") / "html" / "dt_bundle.css").read_text(encoding="utf-8")
    return f"{library}\n{asset('page.css')}{asset('runs.css')}"
