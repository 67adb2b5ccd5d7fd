"""One page per run: every number with its document and place, and what the numbers say about one another."""

from __future__ import annotations

import json
import re
from itertools import groupby
from typing import Any

from reports.numbers import NOTHING, cell, day, exact, interval, percent, scientific, short, size
from reports.page.first_picture import picture
from reports.page.memory_bars import bars
from reports.page.run_data import Row, RunData
from reports.source import Fields, is_missing
from reports.story.verdicts.section import GLYPHS, SEVERITY, check_title, sentence
from reports.words import Bi, code, phrase

AXES = ("tp", "cp", "pp", "dp")


def context(data: RunData, fields: Fields) -> dict[str, Any]:
    """What the template of a run's page prints."""
    run = data.summary
    circular = {row["phase"] for row in data.parts["products"] if row["circular"]}
    return {
        "run": run,
        "title": Bi.same(run["name"]),
        "description": phrase("run.description", name=run["name"], organization=run["organization"]),
        "released": day(run["released"], run.get("released_precision")),
        "headline": headline(run),
        "verdicts": _verdicts(data.verdicts),
        "glyphs": GLYPHS,
        "layouts": [layout(row, circular) for row in data.parts["phases"]],
        "pictures": [picture(row, root="../../") for row in data.parts["pictures"]],
        "blocks": blocks(data.parts["facts"], fields),
        "flops": [_flop(row) for row in data.parts["flops"]],
        "memory": bars(data.parts["memory"], data.parts["phases"]),
        "communication": [_exchange(row) for row in data.parts["communication"]],
        "timing": [_timing(row) for row in data.parts["timing"]],
        "conflicts": data.parts["conflicts"],
        "inferred": _inferred(data.parts["inferred"]),
        "silence": [_title(row["field"], row["block"] or "", fields) for row in data.parts["silence"]],
        "notes": _notes(data),
        "sources": data.sources,
        "record": f"data/runs/{run['run_id']}.yaml",
    }


def _inferred(rows: list[Row]) -> list[tuple[str, list[Bi]]]:
    """Sentences on what the consistent layouts of each phase share."""
    sentences: dict[str, list[Bi]] = {}
    for row in rows:
        lines = sentences.setdefault(row["phase"], [])
        if row["fact"] == "layout":
            lines.append(phrase("run.inferred.set", consistent=f"{row['consistent']:,}", legal=f"{row['legal']:,}"))
        else:
            lines.append(phrase("run.inferred.fact", fact=row["fact"].replace("_", " "), words=row["words"]))
    return list(sentences.items())


def headline(run: Row) -> list[tuple[Bi, str]]:
    """The few numbers a reader comes for; only those that are known."""
    figures = {
        "params_total": _quantity(run, "params_total", short),
        "params_active": _quantity(run, "params_active", short) if run["sparsity"] == "moe" else "",
        "tokens": _quantity(run, "tokens", short),
        "accelerators": _quantity(run, "accelerators", exact),
        "compute": _quantity(run, "compute_flop", scientific),
        "mfu": percent(run["mfu_6nd"], 1) if run["mfu_6nd"] is not None else "",
    }
    return [(phrase(f"run.headline.{name}"), text) for name, text in figures.items() if text]


def _quantity(row: Row, column: str, write: Any) -> str:
    best, low, high = (row.get(f"{column}{end}") for end in ("", "_low", "_high"))
    ends = interval(low, high, write)
    if is_missing(best):
        return ends
    return f"{write(best)} ({ends})" if ends else str(write(best))


def _slack(row: Row) -> Bi | None:
    """On which printed values a verdict hangs and how far one may move; None where no band decides."""
    if not row.get("hangs_on") or is_missing(row.get("slack_low")) or is_missing(row.get("slack_high")):
        return None
    ends = {end: f"{row[f'slack_{end}']:.3g}" for end in ("low", "high")}
    return phrase("run.slack", inputs=row["hangs_on"].replace("_", " "), **ends)


def _verdicts(rows: list[Row]) -> list[tuple[str, list[Row]]]:
    """Verdicts by status, the worst first."""
    worded = [
        {**row, "title": check_title(row["check_name"]), "sentence": sentence(row), "slack": _slack(row)}
        for row in rows
    ]
    groups = [(status, [row for row in worded if row["status"] == status]) for status in SEVERITY]
    return [(status, group) for status, group in groups if group]


def layout(phase: Row, circular: set[str]) -> Row:
    """The degrees of a phase as a product, and whether it is the number of accelerators.

    In a `circular` phase a factor was worked out from the others, so that the product proves nothing.
    """
    stated = {axis: phase[axis] for axis in AXES if phase[axis] is not None}
    product = 1
    for degree in stated.values():
        product *= degree
    complete = len(stated) == len(AXES)
    known = phase["accelerators"] is not None and bool(stated)
    mark = "?" if not known else "✓" if product == phase["accelerators"] else "✗" if complete else "?"
    mark = "=" if phase["phase"] in circular and mark == "✓" else mark
    return {
        "phase": phase["phase"],
        "degrees": [(axis.upper(), "?" if phase[axis] is None else exact(phase[axis])) for axis in AXES],
        "ep": phase["ep"],
        "product": exact(product) if stated else NOTHING,
        "accelerators": cell(phase["accelerators"]),
        "mark": mark,
        "accelerator": phase["accelerator_name"] or phase["accelerator"],
        "domain": phase["scale_up_domain"],
        "note": phase["note"],
    }


def blocks(facts: list[Row], fields: Fields) -> list[tuple[Bi, str, list[Row]]]:
    """Cited values by block: the run, its totals, each phase, its model."""
    made = []
    for block, rows in groupby(facts, key=lambda row: row["block"] or ""):
        made.append((_block_title(block), _anchor(block), [_fact(row, block, fields) for row in rows]))
    return sorted(made, key=lambda one: one[1] == "model")


def _block_title(block: str) -> Bi:
    if block.startswith("phases."):
        return phrase("run.block.phase", name=block.removeprefix("phases."))
    return phrase(f"run.block.{block or 'run'}")


def _anchor(*parts: str) -> str:
    return re.sub(r"[^a-z0-9]+", "-", "-".join(part for part in parts if part).lower()).strip("-") or "run"


def _fact(row: Row, block: str, fields: Fields) -> Row:
    value, unit = written(row["value"], row["field"], block, fields)
    return {
        **row,
        "id": _anchor(block, row["field"]),
        "name": _title(row["field"], block, fields),
        "text": value,
        "unit": unit,
        "basis_word": code(row["basis"]) if row["basis"] else Bi("", ""),
    }


def _column(field: str, block: str, fields: Fields) -> str:
    """The column of a cited field: what a phase reports has a prefix there."""
    prefixed = f"reported_{field}"
    return prefixed if block.startswith("phases.") and prefixed in fields.rows else field


def _title(field: str, block: str, fields: Fields) -> Bi:
    return fields.title(_column(field, block, fields))


def written(value: Any, field: str, block: str, fields: Fields) -> tuple[Bi, str]:
    """A cited value in words and digits, and its unit.

    >>> written('{"low": 2e25, "best": 6.6e25, "high": 2e26}', "compute_flop", "totals", Fields())[0].en
    '6.6×10²⁵ (2×10²⁵–2×10²⁶)'
    >>> written("bf16", "precision", "phases.main", Fields())[0].en
    'bf16'
    """
    column = _column(field, block, fields)
    unit = fields.unit(column)
    try:
        parsed = json.loads(value)
    except (TypeError, ValueError):
        parsed = value
    if isinstance(parsed, str):
        return (code(parsed) if field.endswith(("basis", "sparsity")) else Bi.same(parsed)), ""
    if isinstance(parsed, dict):
        ends = {end: parsed.get(end) for end in ("best", "low", "high")}
        row = {"x": ends["best"], "x_low": ends["low"], "x_high": ends["high"]}
        return Bi.same(
            _quantity(row, "x", lambda number: cell(number, unit, column)) or cell(ends["low"] or ends["high"])
        ), unit
    if isinstance(parsed, bool):
        return phrase("run.yes" if parsed else "run.no"), ""
    return Bi.same(cell(parsed, unit, column)), unit if not cell(parsed, unit, column).endswith("%") else ""


def _flop(row: Row) -> Row:
    return {
        "phase": row["phase"],
        "convention": code(row["convention"]),
        "per_token": scientific(row["flop_per_token"], 4) if row["flop_per_token"] else NOTHING,
        "total": scientific(row["total_flop"], 3) if row["total_flop"] else NOTHING,
        "mfu": percent(row["implied_mfu"], 1) if row["implied_mfu"] is not None else NOTHING,
        "source": row["implied_from"] or "",
    }


def _exchange(row: Row) -> Row:
    seconds, exposed = row["seconds"], row["exposed_s"]
    return {
        **row,
        "bytes": size(row["bytes_per_step"]) if row["bytes_per_step"] else NOTHING,
        "bytes_out": size(row["scale_out_bytes_per_step"]) if row["scale_out_bytes_per_step"] else NOTHING,
        "time": NOTHING if seconds is None else f"{cell(round(seconds, 3))} s",
        "exposed": NOTHING if exposed is None else f"{cell(round(exposed, 3))} s",
    }


def _timing(row: Row) -> Row:
    return {**row, "text": f"{cell(round(row['value'], 3))} s", "range": interval(row["low"], row["high"])}


def _notes(data: RunData) -> list[tuple[str, str]]:
    own = [("", data.summary["note"])] if data.summary["note"] else []
    return own + [(row["phase"], row["note"]) for row in data.parts["phases"] if row["note"]]
