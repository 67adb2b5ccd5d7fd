"""Pretraining compute over time: is there a plateau?"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, Section, Words, draw, table_of, words_of
from reports.drawing.fitted import lines, statistic
from reports.drawing.frames import dates_as_text, ranges_as_text
from reports.drawing.label_places import date_domain, label_frame, powers_of
from reports.numbers import interval, scientific
from reports.source import Source, records
from reports.story.breaks import section as plateau
from reports.story.compute import chart as charts
from reports.words import Bi, phrase, sentences

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


BEFORE, SINCE = "compute-frontier-before-2024", "compute-frontier-since-2024"
FLAGSHIPS = ("GPT-4.5", "GPT-5")
"""The older and the newer flagship of the plateau's story."""


def chapter(source: Source) -> Section:
    """Did pretraining compute stop growing, or did labs stop publishing it?"""
    if not has_figures(source):
        return Section("compute", phrase("compute.heading"), (phrase("compute.empty"),))
    fit = plateau.values(source)
    take = phrase("compute.would_change", **{**finding(source), **fit}) if fit else phrase("compute.no_test")
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
    fit = pd.concat([lines(source, part) for part in (BEFORE, SINCE)]).rename(columns={"date": "released"})
    words = _words(source)
    drawn = points.drop(columns=["is_record"])
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
        "runs": len(source.query("compute")),
        "until": max(str(row["released"]) for row in rows)[:7],
    }


def since(source: Source) -> tuple[str, dict[str, Any]]:
    """What the runs since 2024 show, and its numbers: the slope since then against the slope before.

    Returns
    -------
    `few` without a fit; `open` when neither a standstill nor the old pace can be excluded; `slower` when the old pace
    can; `slowed` when both can; `growing` when only a standstill can.
    """
    before, after = (statistic(source, part, "growth_per_year") for part in (BEFORE, SINCE))
    if before is None or after is None:
        return "few", {}
    still, old = after["low"] <= 1, after["high"] >= before["low"]
    variant = ("open" if old else "slower") if still else ("growing" if old else "slowed")
    values = {
        "before": plateau.factor(before),
        "after": plateau.factor(after),
        "n": after["n"],
        "entered": str(after["window_to"])[:7],
    }
    return variant, values


def pair(source: Source) -> dict[str, Any] | None:
    """Figures of the two flagships when the newer one is below the older one, else None."""
    rows = {row["name"]: row for row in source.rows("compute") if row["compute_flop"] is not None}
    if not set(FLAGSHIPS) <= set(rows):
        return None
    old, new = (rows[name] for name in FLAGSHIPS)
    if new["compute_flop"] >= old["compute_flop"]:
        return None
    values = {"old": old["name"], "new": new["name"]}
    for which, row in (("old", old), ("new", new)):
        ends = interval(row["compute_flop_low"], row["compute_flop_high"], scientific)
        values[f"{which}_flop"] = scientific(row["compute_flop"]) + (f" ({ends})" if ends else "")
    return values


def _words(source: Source) -> Words:
    """The title: the two flagships where they are recorded, the slope since 2024 then opens the subtitle."""
    variant, values = since(source)
    flagships = pair(source)
    words = words_of("compute.time", variant, **{**finding(source), **values})
    if flagships is None:
        return words
    subtitle = sentences(words.title, words.subtitle, mark=Bi(". ", "。"))
    return replace(words, title=phrase("compute.flagships", **flagships), subtitle=subtitle)


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
