"""What each axis cuts and costs: the map of all layouts, and traffic against links."""

from __future__ import annotations

from math import log2
from typing import Any

from reports.drawing.figure import Figure, Section, table_of, words_of
from reports.numbers import NOTHING, exact
from reports.source import Source
from reports.words import phrase

AXES = ("tp", "ep", "cp", "pp", "dp")
_COLUMNS = ["name", "phase", "sparsity", "accelerators", *AXES, "product", "circular", "scale_up_domain"]
_SHADES = 12


def chapter(source: Source) -> Section:
    """Which axes runs use, and inside which links."""
    rows = source.rows("layouts")
    heading = phrase("layout_map.heading")
    axes = (phrase("layout_map.axis.title"), tuple(phrase(f"layout_map.axis.{axis}") for axis in AXES))
    lead = (phrase("layout_map.lead"),) if rows else (phrase("layout_map.lead"), phrase("layout_map.empty"))
    return Section("axes", heading, lead, aside=axes)


def figures(source: Source) -> tuple[Figure, ...]:
    """The map of all layouts."""
    rows = source.rows("layouts")
    return (_map(source, rows),) if rows else ()


def _map(source: Source, rows: list[dict[str, Any]]) -> Figure:
    counts = source.rows("layout_counts")
    total = {
        name: sum(row[name] for row in counts)
        for name in ("runs", "tp_stated", "tp_placed", "tp_inside", "tp_outside", "tp_eight")
    }
    moe = next((row for row in counts if row["sparsity"] == "moe"), {"tp_one": 0, "tp_stated": 0})
    tested = [row for row in rows if row["product_matches"] is not None and not row["circular"]]
    equal = sum(row["product_matches"] for row in tested)
    values = {
        **total, "moe_one": moe["tp_one"], "moe_stated": moe["tp_stated"], "phases": len(rows), "tested": len(tested),
        "equal": equal, "circular": sum(row["circular"] for row in rows),
    }  # fmt: skip
    words = words_of("layout_map.map", "plain", **values)
    context = {"rows": [_row(row) for row in rows], "axes": AXES}
    linked = [{**row, "href": f"runs/{row['run_id']}.html"} for row in rows]
    table = table_of(source, linked, _COLUMNS, {"name": "href"})
    return Figure(
        "layout-map",
        words,
        body="layout_map/body.html.j2",
        context=context,
        download=table,
        queries=("layouts", "layout_counts"),
    )


def _row(row: dict[str, Any]) -> dict[str, Any]:
    domain = row["scale_up_domain"]
    mark = "=" if row["circular"] else {True: "✓", False: "✗", None: "?"}[row["product_matches"]]
    counted = exact(row["accelerators"]) if row["accelerators"] is not None else "?"
    return {
        **row,
        "cells": [_cell(axis, row, domain if axis in ("tp", "ep") else None) for axis in AXES],
        "accelerators": f"≈{counted}" if "accelerators" in row["derived"] else counted,
        "mark": mark,
        "mark_class": {"✓": "plausible", "✗": "impossible", "?": "unknown", "=": "unknown"}[mark],
        "product": "" if row["product"] is None else exact(row["product"]),
    }


def _cell(axis: str, row: dict[str, Any], domain: Any) -> dict[str, Any]:
    """The number, its shade by powers of two, and whether the group is larger than the scale-up domain.

    A degree that we worked out carries ≈; where three printed ones give the accelerators, the fourth is 1.
    """
    value = row[axis]
    if value is None and axis == "ep" and row["sparsity"] == "dense":
        return {"text": NOTHING, "shade": "", "leaves": False}
    if value is None and axis != "ep" and row["leaves_one"]:
        return {"text": "≈1", "shade": 0, "leaves": False}
    if value is None:
        return {"text": "?", "shade": "none", "leaves": False}
    text = f"≈{exact(value)}" if axis in row["derived"] else exact(value)
    return {"text": text, "shade": min(_SHADES, round(log2(value))), "leaves": bool(domain and value > domain)}
