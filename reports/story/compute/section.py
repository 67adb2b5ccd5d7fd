"""Pretraining compute over time: is there a plateau?"""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, Section, draw, table_of, words_of
from reports.drawing.fitted import lines
from reports.drawing.frames import dates_as_text, ranges_as_text
from reports.drawing.label_places import date_domain, label_frame, powers_of
from reports.numbers import scientific
from reports.source import Source, records
from reports.story.breaks import section as plateau
from reports.story.compute import chart as charts
from reports.words import phrase

_COLUMNS = [
    "name",
    "organization",
    "sparsity",
    "released",
    "compute_flop",
    "compute_flop_low",
    "compute_flop_high",
    "status",
]
STORY = (
    "GPT-4",
    "GPT-4.5",
    "GPT-5",
    "Grok 3",
    "Grok 4",
    "Llama 3.1 405B",
    "DeepSeek-V3",
    "PaLM 540B",
    "GPT-3 175B",
    "GPT-3",
)


def chapter(source: Source) -> Section:
    """Did pretraining compute stop growing, or did we stop being told?"""
    if not has_figures(source):
        return Section("compute", phrase("compute.heading"), (phrase("compute.empty"),))
    found = plateau.values(source)
    take = phrase("compute.would_change", **found, **finding(source)) if found else phrase("compute.no_test")
    return Section("compute", phrase("compute.heading"), (phrase("compute.lead"),), take=take)


def figures(source: Source) -> tuple[Figure, ...]:
    """Compute of every run over time."""
    return (_figure(source, source.query("compute")),) if has_figures(source) else ()


def has_figures(source: Source) -> bool:
    """Whether any run has a compute figure, not only a range."""
    return bool(source.query("compute")["compute_flop"].notna().any())


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    points = _points(frame)
    silent = dates_as_text(source.query("compute_undisclosed"), "released")
    records_so_far = _records(points)
    domain = date_domain(pd.concat([points["released"], silent["released"]]))
    ends = [points[f"compute_flop{end}"] for end in ("", "_low", "_high")]
    span = powers_of(pd.concat(ends), 1)
    labels = label_frame(points, _named(points), "released", "compute_flop", domain, span, charts.HEIGHT)
    fit = lines(source, plateau.MAIN).rename(columns={"date": "released"})
    found = {**finding(source), **plateau.values(source)}
    words = words_of("compute.time", plateau.preference(source) or "record", **found)
    drawn = points.drop(columns=["run_id", "is_record"])
    specs = draw(
        lambda say: charts.over_time(drawn, records_so_far, silent, labels, fit, domain, span, say),
        source.fields,
        words.long,
    )
    return Figure(
        "compute-time",
        words,
        specs=specs,
        key="compute/key.html.j2",
        table=_table(source, points),
        queries=("compute", "compute_undisclosed", "trends"),
    )


def finding(source: Source) -> dict[str, Any]:
    """The highest figure, how many later runs stay below it, and how many publish nothing."""
    rows = [row for row in source.rows("compute") if row["compute_flop"] is not None]
    top = max(rows, key=lambda row: row["compute_flop"])
    later = sum(row["released"] > top["released"] for row in rows)
    return {
        "name": top["name"],
        "flop": scientific(top["compute_flop"]),
        "date": str(top["released"])[:7],
        "later": later,
        "silent": len(source.query("compute_undisclosed")),
        "n": len(source.query("compute")),
    }


def _points(frame: pd.DataFrame) -> pd.DataFrame:
    dated = ranges_as_text(dates_as_text(frame, "released"), "compute_flop")
    return dated.assign(mark=["reported" if status == "reported" else "computed" for status in dated["status"]])


def _records(points: pd.DataFrame) -> pd.DataFrame:
    """The record line, carried on to the last dated figure."""
    known = points[points["compute_flop"].notna()]
    holders = known[known["is_record"].astype(bool)]
    end = known.tail(1).assign(compute_flop=known["compute_flop"].max())
    return pd.concat([holders, end])[["released", "compute_flop"]]


def _named(points: pd.DataFrame) -> pd.DataFrame:
    """The runs of the story first, then the record holders, then the largest."""
    story = points[points["name"].isin(STORY)].sort_values("compute_flop", ascending=False)
    holders = points[points["is_record"].astype(bool)].sort_values("compute_flop", ascending=False)
    return pd.concat([story, holders, points.nlargest(10, "compute_flop")]).drop_duplicates("name")


def _table(source: Source, points: pd.DataFrame) -> Any:
    rows = records(points.sort_values(["released", "run_id"], ascending=[False, True]))
    linked = [{**row, "sparsity": row["hue"], "href": f"runs/{row['run_id']}.html"} for row in rows]
    return table_of(source, linked, _COLUMNS, {"name": "href"})
