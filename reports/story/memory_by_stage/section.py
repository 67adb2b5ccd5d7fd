"""Memory of each pipeline stage of the two layouts, against their cards."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.numbers import NOTHING, exact, significant
from reports.source import Source, records
from reports.story.memory_by_stage import chart


def figures(source: Source) -> tuple[Figure, ...]:
    """A picture per run."""
    frame = source.query("two_memory")
    if frame.empty:
        return ()
    end = float(frame[["card_gib", "peak_high"]].astype(float).max().max())
    end = max(end, float(frame.groupby(["run_id", "stage"])["value"].sum().max())) * 1.02
    return tuple(_stages(source, rows, str(run), end) for run, rows in frame.groupby("run_id", sort=False))


def _stages(source: Source, rows: pd.DataFrame, run: str, end: float) -> Figure:
    order = {part: place for place, part in enumerate(chart.ordered(rows["part"]))}
    parts = rows.assign(order=[order[part] for part in rows["part"]], value=rows["value"].astype(float).round(3))
    first = records(parts)[0]
    totals = parts.groupby("stage", as_index=False).agg(value=("value", "sum"))
    labels = [_headroom(row["value"], first["card_gib"]) for row in records(totals)]
    totals = totals.assign(card=first["card_gib"], low=first["peak_low"], high=first["peak_high"], label=labels)
    words = words_of("memory_by_stage", _fits(first), **_stage_values(first, totals))
    drawn = parts[["stage", "part", "value", "order"]]
    specs = draw(lambda say: chart.stages(drawn, totals, end, say), source.fields, words.long)
    table = table_of(source, records(parts), ["stage", "part", "value"])
    name = f"memory-{run.split('/')[1].replace('.', '-')}"
    return Figure(
        name,
        words,
        specs=specs,
        key="keys/parts.html.j2",
        context={"parts": list(order)},
        table=table,
        queries=("two_memory",),
    )


def _headroom(total: float, card: float | None) -> str:
    return f"{total:.1f}" if card is None else f"{total:.1f} ({card - total:+.1f})"


def _fits(row: dict[str, Any]) -> str:
    """over or under when the whole span is on one side of the card, open when it is not, bare without a span."""
    if row["peak_low"] is None or row["card_gib"] is None:
        return "bare"
    if row["peak_low"] > row["card_gib"]:
        return "over"
    return "under" if row["peak_high"] <= row["card_gib"] else "open"


def _stage_values(row: dict[str, Any], totals: pd.DataFrame) -> dict[str, Any]:
    top = max(records(totals), key=lambda one: one["value"])
    known = {
        name: significant(row[name]) if row[name] is not None else NOTHING for name in ("peak", "peak_low", "peak_high")
    }
    card = significant(row["card_gib"]) if row["card_gib"] else NOTHING
    stage = {"stage": exact(top["stage"]), "used": significant(top["value"]), "stages": len(totals)}
    return {
        "name": row["name"],
        "phase": row["phase"],
        "card": card,
        "assumed": row["assumed"] or NOTHING,
        **known,
        **stage,
    }
