"""What the numbers of every run say about one another, check by check."""

from __future__ import annotations

from typing import Any

from reports.drawing.figure import Figure, words_of
from reports.source import Source
from reports.story.verdicts.section import GLYPHS, SEVERITY, check_title, verdict_table


def figures(source: Source) -> tuple[Figure, ...]:
    """Every run against every check."""
    rows = source.rows("verdicts")
    return (_matrix(source, rows),) if rows else ()


def _matrix(source: Source, rows: list[dict[str, Any]]) -> Figure:
    worst: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row["run_id"], row["check_name"])
        worst[key] = min(worst.get(key, row["status"]), row["status"], key=SEVERITY.index)
    checks = sorted({check for _, check in worst}, key=lambda check: (-_count(worst, check), check))
    counts = source.rows("verdict_counts")
    tally = {status: sum(row["verdict"] == status for row in counts) for status in SEVERITY}
    words = words_of("verdict_matrix", "plain", n=len(counts), **tally)
    context = {
        "checks": [(check, check_title(check)) for check in checks],
        "runs": [{**row, "cells": [worst.get((row["run_id"], check)) for check in checks]} for row in counts],
        "glyphs": GLYPHS,
        "statuses": SEVERITY,
    }
    return Figure(
        "verdict-matrix",
        words,
        body="verdict_matrix/body.html.j2",
        context=context,
        download=verdict_table(rows),
        queries=("verdict_counts", "verdicts"),
    )


def _count(worst: dict[tuple[str, str], str], check: str) -> int:
    return sum(status in ("impossible", "strained") for (_, name), status in worst.items() if name == check)
