"""The first screen: two layouts dot by dot, those of other runs on demand, and three numbers."""

from __future__ import annotations

from typing import Any

from reports.numbers import exact
from reports.page.layout_picture import caption, drawn
from reports.source import Source
from reports.story.verdicts.section import tally
from reports.words import Bi, phrase

FIRST = ("meta/llama-3.1-405b", "deepseek/deepseek-v3")
"""The two runs that open the page."""
SEEN = 512
"""Smaller layouts are drawn on their run's page alone."""
WIDTH = 815.0
"""Room for the dots of one line [px]."""


def first(source: Source) -> list[dict[str, Any]]:
    """The layouts of the first screen; another that can be drawn where these are not recorded."""
    rows = {row["run_id"]: row for row in source.rows("run_layouts")}
    return [rows[run] for run in FIRST if run in rows] or list(rows.values())[:1]


def pictures(source: Source) -> list[dict[str, Any]]:
    """Every layout that can be drawn: the two of the first screen shown, the others when a reader follows their run."""
    rows = {row["run_id"]: row for row in source.rows("run_layouts")}
    shown = [row["run_id"] for row in first(source)]
    large = [run for run, row in rows.items() if row["accelerators"] >= SEEN and run not in shown]
    return [picture(rows[run], always=run in shown) for run in [*shown, *large]]


def picture(row: dict[str, Any], *, always: bool = True, root: str = "") -> dict[str, Any]:
    """One layout as the templates want it."""
    slug = "dots-" + "".join(letter if letter.isalnum() else "-" for letter in row["run_id"])
    return {
        "run_id": row["run_id"], "name": row["name"], "slug": slug, "always": always,
        "href": f"{root}runs/{row['run_id']}.html", "caption": caption(row), "picture": drawn(row, WIDTH, slug),
    }  # fmt: skip


def numbers(source: Source) -> list[tuple[str, Bi]]:
    """Three numbers: runs, cited values, runs that can be tested."""
    counts = source.rows("counts")[0]
    tested = tally(source)["n"] if source.rows("verdicts") else 0
    return [
        (exact(counts["runs"]), phrase("page.numbers.runs", layouts=exact(counts["layouts"]))),
        (exact(counts["citations"]), phrase("page.numbers.cited")),
        (exact(tested), phrase("page.numbers.tested")),
    ]
