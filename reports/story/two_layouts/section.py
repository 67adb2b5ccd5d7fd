"""Two layouts side by side: Llama 3.1 405B and DeepSeek-V3."""

from __future__ import annotations

from typing import Any

from reports.drawing.figure import Cell, Figure, Section, Table, words_of
from reports.numbers import NOTHING, cell, exact, percent, scientific, short, significant
from reports.source import Source, is_missing
from reports.words import Bi, code, has_phrase, phrase

ROWS = (
    "sparsity", "params_total", "params_active", "tokens", "compute_flop", "accelerator", "accelerators", "tp", "cp",
    "pp", "dp", "ep", "zero_stage", "schedule", "seq_len", "global_batch_tokens", "precision", "recompute",
    "scale_up_domain", "accelerator_hours", "mfu_reported", "mfu_6nd", "mfu_causal", "mfu_model_flops",
)  # fmt: skip
_WRITERS = {"params_total": short, "params_active": short, "tokens": short, "compute_flop": scientific}


def chapter(source: Source) -> Section:
    """The same problem solved twice."""
    rows = source.rows("two_layouts")
    heading = phrase("two_layouts.heading")
    if len(rows) < 2:
        return Section("layouts", heading, (phrase("two_layouts.lead"), phrase("two_layouts.empty")))
    modelled = len(source.query("two_memory")) or len(source.query("two_communication"))
    missing = () if modelled else (phrase("two_layouts.no_model"),)
    return Section("layouts", heading, (phrase("two_layouts.lead"), *missing))


def figures(source: Source) -> tuple[Figure, ...]:
    """Fact by fact."""
    rows = source.rows("two_layouts")
    return (_comparison(source, rows),) if len(rows) == 2 else ()


def _comparison(source: Source, rows: list[dict[str, Any]]) -> Figure:
    big, small = rows[0], rows[1]
    ratio = big["accelerators"] / small["accelerators"] if big["accelerators"] and small["accelerators"] else None
    values = {
        "big": big["name"], "small": small["name"], "ratio": significant(ratio, 2) if ratio else "–",
        "big_n": cell(big["accelerators"]), "small_n": cell(small["accelerators"]),
        "big_phase": big["phase"], "small_phase": small["phase"],
    }  # fmt: skip
    words = words_of("two_layouts.pair", "plain", **values)
    heads = (("fact", phrase("two_layouts.fact")), *((row["run_id"], Bi.same(row["name"])) for row in rows))
    table = Table(heads, tuple(_line(source, column, rows) for column in ROWS))
    context = {"table": table, "links": [f"runs/{row['run_id']}.html" for row in rows]}
    return Figure(
        "two-layouts", words, body="two_layouts/body.html.j2", context=context, download=table, queries=("two_layouts",)
    )


def _line(source: Source, column: str, rows: list[dict[str, Any]]) -> tuple[Cell, ...]:
    cells = [Cell(_text(row, column), row[column], number=not isinstance(row[column], str)) for row in rows]
    return (Cell(source.fields.axis(column), column), *cells)


def _text(row: dict[str, Any], column: str) -> Bi:
    value = row[column]
    if is_missing(value) and column == "ep" and row["sparsity"] == "dense":
        return Bi.same(NOTHING)
    if is_missing(value):
        return phrase("two_layouts.unstated")
    if isinstance(value, str):
        return code(value) if has_phrase(f"words.code.{value}") else Bi.same(value)
    if column.startswith("mfu"):
        return Bi.same(percent(value, 1))
    return Bi.same(_WRITERS.get(column, exact)(value))
