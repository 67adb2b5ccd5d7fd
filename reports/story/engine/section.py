"""The engine against what others measured: how far its numbers can be trusted."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from reports.drawing.figure import Cell, Figure, Section, Table, draw, words_of
from reports.drawing.forest import Axis, forest
from reports.numbers import exact, percent, significant
from reports.source import Source
from reports.words import LANGUAGES, Bi, phrase, plain, sentences

_AXIS = Axis("engine.axis", (0.5, 0.6, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.4, 1.7, 2), "datum.label", (0.7, 1.3), rule=1)
LABEL = 40
ENOUGH = 10
"""Publishers of fewer measurements are in the table alone."""
_COLUMNS = ("name", "quantity", "n", "ratio_low", "ratio", "ratio_high", "error_median", "covered")
_QUANTITIES = {"step_time": "time", "memory": "memory"}


def chapter(source: Source) -> Section:
    """How far to trust what is modelled?"""
    totals = source.rows("engine_totals")
    heading = phrase("engine.heading")
    if "step_time" not in {row["quantity"] for row in totals}:
        return Section("engine", heading, (phrase("engine.empty"),))
    values = _values(totals)
    take = phrase("engine.take", **values) if "memory_n" in values else None
    return Section("engine", heading, (phrase("engine.lead"),), take=take)


def figures(source: Source) -> tuple[Figure, ...]:
    """Modelled over measured, by publisher and chip."""
    rows, totals = source.rows("engine"), source.rows("engine_totals")
    timed = "step_time" in {row["quantity"] for row in totals}
    return (_figure(source, rows, _values(totals)),) if timed else ()


def _values(totals: list[dict[str, Any]]) -> dict[str, str]:
    """Numbers of the sentences: how many rows, half and nine in ten of the errors, share in the interval."""
    values: dict[str, str] = {}
    for row in totals:
        name = _QUANTITIES[row["quantity"]]
        values |= {
            f"{name}_n": exact(row["n"]),
            f"{name}_half": percent(row["error_median"], 1),
            f"{name}_most": percent(row["error_p90"]),
            f"{name}_covered": percent(row["covered"]),
        }
    return values


def _figure(source: Source, rows: list[dict[str, Any]], values: dict[str, str]) -> Figure:
    unseen = source.rows("engine_left_out")
    if unseen:
        values = values | {"low": _signed(min(row["low"] for row in unseen)),
                           "high": _signed(max(row["high"] for row in unseen)),
                           "classes": ", ".join(f"{row['class']} {_signed(row['low'])} … {_signed(row['high'])}"
                                                for row in unseen)}  # fmt: skip
    sample = "both" if "memory_n" in values else "time"
    words = words_of("engine", "unseen" if unseen else sample, **values)
    if unseen:
        footnote = phrase(f"engine.sample.{sample}", **values)
        words = replace(words, note=sentences(footnote, words.note))
    drawn = pd.DataFrame(_drawn(row) for row in rows if row["n"] >= ENOUGH or len(rows) < ENOUGH)
    specs = draw(lambda say: forest(drawn, "step_time", "memory", _AXIS, say), source.fields, words.long)
    heads = tuple((column, phrase(f"engine.head.{column}")) for column in _COLUMNS)
    table = Table(heads, tuple(_line(row) for row in rows))
    queries = ("engine_left_out", "engine", "engine_totals")
    return Figure("engine-measured", words, specs=specs, key="engine/key.html.j2", table=table, queries=queries)


def _signed(factor: float) -> str:
    """A factor as a signed distance from 1.

    >>> _signed(1.267), _signed(0.82)
    ('+27%', '−18%')
    """
    return f"{'+' if factor >= 1 else '−'}{abs(100 * (factor - 1)):.0f}%"


def _drawn(row: dict[str, Any]) -> dict[str, Any]:
    quantity, n = plain(f"engine.quantity.{row['quantity']}"), exact(row["n"])
    covered = percent(row["covered"])
    label = {
        lang: plain("engine.label")[lang].format(name=row["name"], quantity=quantity[lang], n=n) for lang in LANGUAGES
    }
    detail = {lang: plain("engine.detail")[lang].format(covered=covered, n=n) for lang in LANGUAGES}
    return {
        "id": row["id"], "group": row["quantity"], "value": row["ratio"], "low": row["ratio_low"],
        "high": row["ratio_high"], "text": " – ".join(significant(row[f"ratio_{end}"]) for end in ("low", "high")),
        **{f"label_{lang}": _line_of(text) for lang, text in label.items()},
        **{f"detail_{lang}": text for lang, text in detail.items()},
    }  # fmt: skip


def _line_of(text: str) -> str:
    """A label that a phone has room for; the table has the whole of it."""
    name, _, rest = text.rpartition(" (n")
    return f"{name[: LABEL - 1].rstrip(' ,(')}… (n{rest}" if len(name) > LABEL else text


def _line(row: dict[str, Any]) -> tuple[Cell, ...]:
    shares = ("error_median", "covered")
    return (
        Cell(Bi.same(row["name"]), row["name"]),
        Cell(phrase(f"engine.quantity.{row['quantity']}"), row["quantity"]),
        Cell(Bi.same(exact(row["n"])), row["n"], number=True),
        *(
            Cell(Bi.same(significant(row[name])), row[name], number=True)
            for name in ("ratio_low", "ratio", "ratio_high")
        ),
        *(Cell(Bi.same(percent(row[name], 1)), row[name], number=True) for name in shares),
    )
