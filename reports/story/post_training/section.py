"""Where the compute went: post-training beside the pretraining of its base."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.drawing.frames import dates_as_text
from reports.drawing.label_places import date_domain, label_frame, powers_of
from reports.numbers import significant
from reports.source import Source, records
from reports.story.post_training import chart

ENOUGH = 5
SMALL, LARGE = 0.05, 0.1
_COLUMNS = ["name", "organization", "purpose", "released", "share_low", "share", "share_high", "share_basis"]


def figures(source: Source) -> tuple[Figure, ...]:
    """Shares over time; nothing where few are known."""
    frame = source.query("post_training_share")
    if len(frame) < ENOUGH:
        return ()
    points = dates_as_text(frame, "released")
    points = points.assign(
        hue="undisclosed",
        mark=["computed" if wide else "reported" for wide in points["is_range"]],
        text=[_text(row) for row in records(points)],
    )
    domain, span = date_domain(points["released"]), powers_of(pd.concat([frame["share_low"], frame["share_high"]]))
    largest = points.sort_values("share", ascending=False)
    labels = label_frame(points, largest, "released", "share", domain, span, chart.HEIGHT)
    words = words_of("post_training", "plain", **finding(source))
    specs = draw(lambda say: chart.shares(points, labels, domain, span, say), source.fields, words.long)
    linked = [{**row, "href": f"runs/{row['run_id']}.html"} for row in records(points.iloc[::-1])]
    figure = Figure(
        "post-training-share",
        words,
        specs=specs,
        key="post_training/key.html.j2",
        table=table_of(source, linked, _COLUMNS, {"name": "href"}),
        queries=("post_training_share",),
    )
    return (figure,)


def finding(source: Source) -> dict[str, Any]:
    """How many runs surely stayed small, how many surely reached a tenth, and the largest share that is not a range."""
    rows = source.rows("post_training_share")
    single = [row for row in rows if not row["is_range"]] or rows
    top = max(single, key=lambda row: row["share"])
    return {
        "n": len(rows),
        "small": sum(row["share_high"] < SMALL for row in rows),
        "large": sum(row["share_low"] >= LARGE for row in rows),
        "ranges": sum(row["is_range"] for row in rows),
        "name": top["name"],
        "share": f"{significant(100 * top['share'], 2)}%",
    }


def _text(row: dict[str, Any]) -> str:
    ends = [f"{significant(100 * row[f'share_{end}'], 2)}%" for end in ("low", "high")]
    return "–".join(ends) if row["is_range"] else ends[0]
