"""Who still discloses what."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, Section, draw, table_of, words_of
from reports.numbers import percent
from reports.source import Source, records
from reports.story.disclosure import chart as charts
from reports.words import Bi, has_phrase, phrase, plain

FEW = 3


def chapter(source: Source) -> Section:
    """What reports state, year by year and run by run."""
    frame = source.query("disclosure_years")
    lead = phrase("disclosure.empty" if frame.empty else "disclosure.lead")
    return Section("disclosure", phrase("disclosure.heading"), (lead,))


def figures(source: Source) -> tuple[Figure, ...]:
    """Shares by year."""
    frame = source.query("disclosure_years")
    return () if frame.empty else (_years(source, frame),)


def fact_word(fact: str) -> Bi:
    """The name of a fact of the ledger."""
    return plain(f"disclosure.facts.{fact}") if has_phrase(f"disclosure.facts.{fact}") else Bi.same(fact)


def _years(source: Source, frame: pd.DataFrame) -> Figure:
    enough = frame[frame["families"] >= FEW]
    enough = enough if len(enough) else frame
    order = list(enough.groupby("fact")["share"].mean().sort_values(ascending=False, kind="stable").index)
    facts = {lang: {fact: fact_word(fact)[lang] for fact in order} for lang in ("en", "zh")}
    shares = enough.assign(
        text=[percent(share) for share in enough["share"]],
        tight=[percent(share).removesuffix("%") for share in enough["share"]],
        year_label=[f"{row['year']}|n = {row['families']}" for row in records(enough)],
        fact_en=[fact_word(fact).en for fact in enough["fact"]],
        fact_zh=[fact_word(fact).zh for fact in enough["fact"]],
    )
    words = words_of("disclosure.years", "plain", **_finding(frame))
    specs = draw(lambda say: charts.by_year(shares, facts[say.lang], say), source.fields, words.long)
    table = table_of(source, records(shares), ["fact", "year", "families", "stated", "share"])
    return Figure("disclosure-years", words, specs=specs, table=table, queries=("disclosure_years",))


def _finding(frame: pd.DataFrame) -> dict[str, Any]:
    """Accelerator counts: the share in the first, the middle and the latest year with enough families."""
    of_counts = frame[frame["fact"] == "accelerators"].sort_values("year")
    rows = records(of_counts[of_counts["families"] >= FEW]) or records(of_counts)
    parts = {"first": rows[0], "middle": rows[len(rows) // 2], "last": rows[-1]}
    values: dict[str, Any] = {name: percent(row["share"]) for name, row in parts.items()}
    return {**values, **{f"{name}_year": int(row["year"]) for name, row in parts.items()}, "few": FEW}
