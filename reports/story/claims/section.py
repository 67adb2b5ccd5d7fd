"""Statements people make, each with a verdict, its numbers, and what would change it."""

from __future__ import annotations

from typing import Any

from reports.drawing.figure import Cell, Figure, Section, Table, words_of
from reports.numbers import exact
from reports.source import Source
from reports.words import Bi, phrase, plain

GLYPHS = {"holds": "✓", "holds-with-conditions": "◐", "does-not-hold": "✗", "cannot-tell": "∅"}
CLASSES = {
    "holds": "plausible",
    "holds-with-conditions": "strained",
    "does-not-hold": "impossible",
    "cannot-tell": "unknown",
}
TOPICS = ("memory", "parallelism", "layouts", "utilisation", "scale", "community")


def chapter(source: Source) -> Section:
    """Each statement of the story and what the records say about it."""
    rows = source.rows("claims")
    heading = phrase("claims.heading")
    if not rows:
        return Section("claims", heading, (phrase("claims.lead"), phrase("claims.none")))
    if not any(row["verdict"] for row in rows):
        return Section("claims", heading, (phrase("claims.lead"), phrase("claims.not_yet", n=len(rows))))
    return Section("claims", heading, (phrase("claims.lead"),))


def figures(source: Source) -> tuple[Figure, ...]:
    """Every claim with its verdict."""
    rows = source.rows("claims")
    return (_figure(rows),) if any(row["verdict"] for row in rows) else ()


def _figure(rows: list[dict[str, Any]]) -> Figure:
    tally = {verdict: sum(row["verdict"] == verdict for row in rows) for verdict in GLYPHS}
    words = words_of("claims.list", "plain", n=len(rows), **{key.replace("-", "_"): n for key, n in tally.items()})
    topics = [(topic, [_card(row) for row in rows if row["topic"] == topic]) for topic in TOPICS]
    context = {
        "topics": [(plain(f"claims.topic.{topic}"), cards) for topic, cards in topics if cards],
        "tally": [(plain(f"claims.verdict.{key}"), GLYPHS[key], CLASSES[key], n) for key, n in tally.items() if n],
        "glyphs": GLYPHS,
    }
    return Figure(
        "claims-list", words, body="claims/body.html.j2", context=context, download=_table(rows), queries=("claims",)
    )


def _card(row: dict[str, Any]) -> dict[str, Any]:
    verdict = row["verdict"] or "cannot-tell"
    return {
        "id": f"claim-{int(row['number']):02d}",
        "number": exact(row["number"]),
        "statement": Bi(row["statement_en"], row["statement_zh"]),
        "verdict": plain(f"claims.verdict.{verdict}"),
        "glyph": GLYPHS[verdict],
        "style": CLASSES[verdict],
        "finding": _pair(row, "finding"),
        "would_change": _pair(row, "would_change"),
        "rule": Bi(row["rule_en"], row["rule_zh"]),
        "origin": row["origin"],
        "origin_url": row["origin_url"],
        "sql": row["sql"].strip(),
        "numbers": row["numbers"] or "",
    }


def _pair(row: dict[str, Any], column: str) -> Bi:
    return Bi(row[f"{column}_en"] or "", row[f"{column}_zh"] or row[f"{column}_en"] or "")


def _table(rows: list[dict[str, Any]]) -> Table:
    columns = (
        "number",
        "claim_id",
        "topic",
        "statement_en",
        "statement_zh",
        "verdict",
        "numbers",
        "finding_en",
        "finding_zh",
    )
    heads = tuple((column, Bi.same(column)) for column in columns)
    return Table(heads, tuple(tuple(Cell(Bi.same(""), row[column]) for column in columns) for row in rows))
