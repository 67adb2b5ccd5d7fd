"""Cluster size over time."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, Section, draw, table_of, words_of
from reports.drawing.fitted import growth_words, lines, statistic
from reports.drawing.frames import dates_as_text, filled, ranges_as_text, running_record
from reports.drawing.label_places import date_domain, label_frame, powers_of
from reports.numbers import exact
from reports.source import Source, records
from reports.story.clusters import chart as charts
from reports.words import phrase

TREND = "cluster-size-runs"
_COLUMNS = [
    "name",
    "organization",
    "kind",
    "date",
    "accelerators",
    "accelerators_low",
    "accelerators_high",
    "accelerator",
    "status",
]


def chapter(source: Source) -> Section:
    """How many accelerators runs use and companies hold."""
    frame = source.query("clusters")
    return Section("clusters", phrase("clusters.heading"), (phrase(f"clusters.{'empty' if frame.empty else 'lead'}"),))


def figures(source: Source) -> tuple[Figure, ...]:
    """Runs and clusters on one time axis."""
    frame = source.query("clusters")
    return () if frame.empty else (_figure(source, frame),)


def largest_run(source: Source) -> dict[str, Any] | None:
    """The run with the most accelerators that its developers state."""
    rows = [
        row
        for row in source.rows("clusters")
        if row["kind"] == "run" and row["status"] == "reported" and row["accelerators"]
    ]
    return max(rows, key=lambda row: row["accelerators"], default=None)


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    points = filled(ranges_as_text(dates_as_text(frame, "date"), "accelerators"))
    records_so_far = _records(points)
    domain = date_domain(points["date"])
    ends = [points[f"accelerators{end}"] for end in ("", "_low", "_high")]
    span = powers_of(pd.concat(ends), 0)
    labels = label_frame(points, _named(points, records_so_far), "date", "accelerators", domain, span, charts.HEIGHT)
    fit = lines(source, TREND)
    variant, values = _finding(source, frame)
    words = words_of("clusters.time", variant, **values)
    drawn = points.drop(columns=["power_mw", "id", "kind"])
    specs = draw(
        lambda say: charts.over_time(drawn, records_so_far, labels, fit, domain, span, say), source.fields, words.long
    )
    return Figure(
        "cluster-size",
        words,
        specs=specs,
        key="clusters/key.html.j2",
        table=_table(source, points),
        queries=("clusters", "trends"),
    )


def _finding(source: Source, frame: pd.DataFrame) -> tuple[str, dict[str, Any]]:
    top = largest_run(source)
    growth = statistic(source, TREND, "growth_per_year")
    counts = {"runs": int((frame["kind"] == "run").sum()), "clusters": int((frame["kind"] == "cluster").sum())}
    named = (
        {"name": "–", "largest": "–", "date": "–"}
        if top is None
        else {"name": top["name"], "largest": exact(top["accelerators"]), "date": str(top["date"])[:7]}
    )
    return ("growth" if growth else "record"), {**counts, **named, "growth": growth_words(growth)}


def _records(points: pd.DataFrame) -> pd.DataFrame:
    """Largest run and largest operating cluster so far, each line up to the last dated point of its kind."""
    parts = []
    for kind, hue in (("run", "undisclosed"), ("cluster", "cluster")):
        known = points[(points["kind"] == kind) & points["status"].isin(["reported", "operating"])]
        steps = running_record(known, "date", "accelerators")
        end = known.tail(1).assign(accelerators=known["accelerators"].max())
        parts.append(pd.concat([steps, end]).assign(hue=hue))
    return pd.concat(parts)[["id", "date", "accelerators", "hue"]]


def _named(points: pd.DataFrame, so_far: pd.DataFrame) -> pd.DataFrame:
    """Record holders first, then the largest of the rest."""
    holders = points.merge(so_far[["id", "date", "accelerators"]].drop_duplicates(), on=["id", "date", "accelerators"])
    rest = points.nlargest(12, "accelerators")
    named = pd.concat([holders.sort_values("accelerators", ascending=False), rest])
    return named.drop_duplicates("name")


def _table(source: Source, points: pd.DataFrame) -> Any:
    rows = records(points.sort_values(["date", "id"], ascending=[False, True]))
    linked = [{**row, "href": f"runs/{row['id']}.html" if row["kind"] == "run" else ""} for row in rows]
    return table_of(source, linked, _COLUMNS, {"name": "href"})
