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
    power = source.query("cluster_power")
    parts = [_figure(source, frame)] if len(frame) else []
    return (*parts, _power(source, power)) if len(power) else tuple(parts)


def largest_run(source: Source) -> dict[str, Any] | None:
    """The run with the most accelerators that its developers state."""
    rows = [
        row
        for row in source.rows("clusters")
        if row["kind"] == "run" and row["status"] == "reported" and row["accelerators"]
    ]
    return max(rows, key=lambda row: row["accelerators"], default=None)


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    points = _with_ids(filled(ranges_as_text(dates_as_text(frame, "date"), "accelerators")))
    records_so_far = _records(points)
    domain = date_domain(points["date"])
    ends = [points[f"accelerators{end}"] for end in ("", "_low", "_high")]
    span = powers_of(pd.concat(ends), 0)
    tall = points.assign(accelerators=points["accelerators"].fillna(points["accelerators_high"]))
    top = largest_run(source)
    named = _named(tall, records_so_far, top["name"] if top else "")
    labels = label_frame(tall, named, "date", "accelerators", domain, span, charts.HEIGHT)
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


def _with_ids(points: pd.DataFrame) -> pd.DataFrame:
    """Add `run_id`: the run's id, or the cluster's behind a word that says so."""
    ids = [row["id"] if row["kind"] == "run" else f"cluster:{row['id']}" for row in records(points)]
    return points.assign(run_id=ids)


def _power(source: Source, frame: pd.DataFrame) -> Figure:
    """The same clusters, and many that state no chips, in megawatts."""
    points = filled(dates_as_text(frame, "date")).rename(columns={"id": "run_id"})
    points = points.assign(power_text=[f"{exact(round(value, 1))} MW" for value in points["power_mw"]])
    domain, span = date_domain(points["date"]), powers_of(points["power_mw"])
    largest = points.sort_values("power_mw", ascending=False).drop_duplicates("name").head(14)
    labels = label_frame(points, largest, "date", "power_mw", domain, span, charts.HEIGHT)
    words = words_of("clusters.power", "plain", **_power_values(records(frame)))
    specs = draw(lambda say: charts.power(points, labels, domain, span, say), source.fields, words.long)
    columns = ["name", "organization", "date", "power_mw", "covers", "accelerators", "accelerator", "status"]
    table = table_of(source, records(points.iloc[::-1]), columns)
    return Figure(
        "cluster-power", words, specs=specs, key="clusters/power_key.html.j2", table=table, queries=("cluster_power",)
    )


def _power_values(rows: list[dict[str, Any]]) -> dict[str, Any]:
    """The largest site in operation and the largest plan, and how many sizes state no chips."""
    running = [row for row in rows if row["status"] == "operating"] or rows
    planned = [row for row in rows if row["status"] in ("announced", "construction")] or rows
    top, plan = (max(part, key=lambda row: row["power_mw"]) for part in (running, planned))
    return {
        "top": top["name"], "top_mw": exact(round(top["power_mw"])), "top_date": str(top["date"])[:7],
        "plan": plan["name"], "plan_mw": exact(round(plan["power_mw"])), "plan_date": str(plan["date"])[:7],
        "n": len(rows), "no_chips": sum(row["accelerators"] is None for row in rows),
    }  # fmt: skip


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


def _named(points: pd.DataFrame, so_far: pd.DataFrame, titled: str) -> pd.DataFrame:
    """The run of the title first, then record holders, ranges without a centre, and the largest of the rest."""
    holders = points.merge(so_far[["id", "date", "accelerators"]].drop_duplicates(), on=["id", "date", "accelerators"])
    rest = points.nlargest(12, "accelerators")
    wide = points[points["accelerators_low"].notna() & (points["accelerators_high"] > 2 * points["accelerators_low"])]
    rest = pd.concat([wide, rest])
    named = pd.concat([points[points["name"] == titled], holders.sort_values("accelerators", ascending=False), rest])
    return named.drop_duplicates("name")


def _table(source: Source, points: pd.DataFrame) -> Any:
    rows = records(points.sort_values(["date", "id"], ascending=[False, True]))
    linked = [{**row, "href": f"runs/{row['id']}.html" if row["kind"] == "run" else ""} for row in rows]
    return table_of(source, linked, _COLUMNS, {"name": "href"})
