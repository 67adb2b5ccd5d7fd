"""Two layouts side by side: Llama 3.1 405B and DeepSeek-V3."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.charts import communication as traffic_charts
from reports.charts import memory as memory_charts
from reports.figure import Cell, Figure, Section, Table, draw, table_of, words_of
from reports.numbers import NOTHING, cell, exact, percent, scientific, short, significant, size
from reports.source import Source, is_missing, records
from reports.words import Bi, code, has_phrase, phrase

ROWS = (
    "sparsity", "params_total", "params_active", "tokens", "compute_flop", "accelerator", "accelerators", "tp", "cp",
    "pp", "dp", "ep", "zero_stage", "schedule", "seq_len", "global_batch_tokens", "precision", "recompute",
    "scale_up_domain", "accelerator_hours", "mfu_reported", "mfu_6nd", "mfu_causal", "mfu_model_flops",
)  # fmt: skip
_WRITERS = {"params_total": short, "params_active": short, "tokens": short, "compute_flop": scientific}


def section(source: Source) -> Section:
    """The same problem solved twice."""
    rows = source.rows("two_layouts")
    heading = phrase("layouts.heading")
    if len(rows) < 2:
        return Section("layouts", heading, (phrase("layouts.lead"), phrase("layouts.empty")))
    memory, traffic = source.query("two_memory"), source.query("two_communication")
    figures = [_comparison(source, rows), *_memory(source, memory), *_traffic(source, traffic)]
    missing = () if len(figures) > 1 else (phrase("layouts.no_model"),)
    return Section("layouts", heading, (phrase("layouts.lead"), *missing), tuple(figures))


def _comparison(source: Source, rows: list[dict[str, Any]]) -> Figure:
    big, small = rows[0], rows[1]
    ratio = big["accelerators"] / small["accelerators"] if big["accelerators"] and small["accelerators"] else None
    values = {
        "big": big["name"], "small": small["name"], "ratio": significant(ratio, 2) if ratio else "–",
        "big_n": cell(big["accelerators"]), "small_n": cell(small["accelerators"]),
        "big_phase": big["phase"], "small_phase": small["phase"],
    }  # fmt: skip
    words = words_of("layouts.pair", "plain", **values)
    heads = (("fact", phrase("layouts.fact")), *((row["run_id"], Bi.same(row["name"])) for row in rows))
    table = Table(heads, tuple(_line(source, column, rows) for column in ROWS))
    context = {"table": table, "links": [f"runs/{row['run_id']}.html" for row in rows]}
    return Figure(
        "two-layouts", words, body="bodies/pair.html.j2", context=context, download=table, queries=("two_layouts",)
    )


def _line(source: Source, column: str, rows: list[dict[str, Any]]) -> tuple[Cell, ...]:
    cells = [Cell(_text(row, column), row[column], number=not isinstance(row[column], str)) for row in rows]
    return (Cell(source.fields.axis(column), column), *cells)


def _text(row: dict[str, Any], column: str) -> Bi:
    value = row[column]
    if is_missing(value) and column == "ep" and row["sparsity"] == "dense":
        return Bi.same(NOTHING)
    if is_missing(value):
        return phrase("layouts.unstated")
    if isinstance(value, str):
        return code(value) if has_phrase(f"words.code.{value}") else Bi.same(value)
    if column.startswith("mfu"):
        return Bi.same(percent(value, 1))
    return Bi.same(_WRITERS.get(column, exact)(value))


def _memory(source: Source, frame: pd.DataFrame) -> list[Figure]:
    """A picture per run."""
    return [_stages(source, rows, str(run)) for run, rows in frame.groupby("run_id", sort=False)]


def _stages(source: Source, rows: pd.DataFrame, run: str) -> Figure:
    order = {part: place for place, part in enumerate(memory_charts.ordered(rows["part"]))}
    parts = rows.assign(order=[order[part] for part in rows["part"]], value=rows["value"].astype(float).round(3))
    first = records(parts)[0]
    totals = parts.groupby("stage", as_index=False).agg(value=("value", "sum"))
    labels = [_headroom(row["value"], first["card_gib"]) for row in records(totals)]
    totals = totals.assign(card=first["card_gib"], low=first["peak_low"], high=first["peak_high"], label=labels)
    words = words_of("layouts.stages", _fits(first), **_stage_values(first, totals))
    drawn = parts[["stage", "part", "value", "order"]]
    specs = draw(lambda say: memory_charts.stages(drawn, totals, say), source.fields, words.long)
    table = table_of(source, records(parts), ["stage", "part", "value"])
    name = f"memory-{run.split('/')[1].replace('.', '-')}"
    return Figure(
        name, words, specs=specs, key="parts", context={"parts": list(order)}, table=table, queries=("two_memory",)
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


def _traffic(source: Source, frame: pd.DataFrame) -> list[Figure]:
    rows = frame[frame["bytes_per_step"] > 0]
    if rows.empty:
        return []
    rows = rows.assign(
        hue=["moe" if run.startswith("deepseek") else "dense" for run in rows["run_id"]],
        zero=0,
        bytes_text=[size(value) for value in rows["bytes_per_step"]],
        seconds_text=[cell(round(value, 3)) for value in rows["seconds"]],
        exposed_text=[cell(round(value, 3)) for value in rows["exposed_s"]],
    )
    names = {axis: axis.upper() for axis in rows["dimension"]}
    return [_traffic_figure(source, rows, names), _time_figure(source, rows, names)]


def _traffic_figure(source: Source, rows: pd.DataFrame, names: dict[str, str]) -> Figure:
    top = records(rows.sort_values("bytes_per_step", ascending=False))[0]
    values = {"name": top["name"], "axis": top["dimension"].upper(), "bytes": top["bytes_text"]}
    words = words_of("layouts.traffic", "plain", **values)
    specs = draw(lambda say: traffic_charts.traffic(rows, names, say), source.fields, words.long)
    columns = ["name", "phase", "dimension", "bytes_per_step", "placement", "bandwidth_b_s", "seconds", "exposed_s"]
    table = table_of(source, records(rows), columns)
    return Figure("communication-bytes", words, specs=specs, key="pair", table=table, queries=("two_communication",))


def _time_figure(source: Source, rows: pd.DataFrame, names: dict[str, str]) -> Figure:
    exposed = rows.groupby("name", sort=False).agg(exposed=("exposed_s", "sum"), step=("step_s", "first"))
    shares = [
        f"{name} {percent(row['exposed'] / row['step'])}"
        for name, row in exposed.iterrows()
        if not is_missing(row["step"])
    ]
    words = words_of("layouts.time", "share" if shares else "plain", shares=", ".join(shares))
    specs = draw(lambda say: traffic_charts.time(rows, names, say), source.fields, words.long)
    return Figure("communication-time", words, specs=specs, key="exposed", queries=("two_communication",))
