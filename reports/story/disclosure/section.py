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
    enough = frame[frame["runs"] >= FEW]
    enough = enough if len(enough) else frame
    order = list(enough.groupby("fact")["share"].mean().sort_values(ascending=False, kind="stable").index)
    facts = {lang: {fact: fact_word(fact)[lang] for fact in order} for lang in ("en", "zh")}
    shares = enough.assign(
        text=[percent(share) for share in enough["share"]],
        tight=[percent(share).removesuffix("%") for share in enough["share"]],
        year_label=[f"{row['year']}|n = {row['runs']}" for row in records(enough)],
        fact_en=[fact_word(fact).en for fact in enough["fact"]],
        fact_zh=[fact_word(fact).zh for fact in enough["fact"]],
    )
    words = words_of("disclosure.years", "plain", **_finding(frame))
    specs = draw(lambda say: charts.by_year(shares, facts[say.lang], say), source.fields, words.long)
    table = table_of(source, records(shares), ["fact", "year", "runs", "stated", "share"])
    return Figure("disclosure-years", words, specs=specs, table=table, queries=("disclosure_years",))


def _finding(frame: pd.DataFrame) -> dict[str, Any]:
    """Accelerator counts: the share of the best and of the latest year with enough runs."""
    counted = frame[(frame["fact"] == "accelerators") & (frame["runs"] >= FEW)]
    counted = counted if len(counted) else frame[frame["fact"] == "accelerators"]
    best = counted.sort_values("share", ascending=False).iloc[0]
    last = counted.sort_values("year").iloc[-1]
    named = {"best": percent(best["share"]), "best_year": int(best["year"])}
    return {**named, "last": percent(last["share"]), "last_year": int(last["year"]), "n": int(last["runs"]), "few": FEW}
