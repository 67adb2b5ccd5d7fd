"""What the numbers of each run say about one another: the list of those that don't add up, and the whole matrix."""

from __future__ import annotations

from collections import defaultdict
from typing import Any

from reports.drawing.figure import Cell, Figure, Section, Table, words_of
from reports.source import Source
from reports.words import Bi, code, has_phrase, phrase, plain

GLYPHS = {"plausible": "✓", "strained": "◐", "impossible": "✗", "unknown": "?"}
SEVERITY = list(reversed(["unknown", "plausible", "strained", "impossible"]))


def chapter(source: Source) -> Section:
    """Which runs' numbers don't add up?"""
    rows = source.rows("verdicts")
    if not rows:
        return Section("verdicts", phrase("verdicts.heading"), (phrase("verdicts.empty"),))
    return Section("verdicts", phrase("verdicts.heading"), (phrase("verdicts.lead"),))


def figures(source: Source) -> tuple[Figure, ...]:
    """The runs whose numbers need an explanation."""
    rows = source.rows("verdicts")
    return (_problems(source, rows),) if rows else ()


def check_title(name: str) -> Bi:
    """The name of a check in words."""
    return plain(f"verdicts.check.{name}") if has_phrase(f"verdicts.check.{name}") else Bi.same(name.replace("-", " "))


def sentence(row: dict[str, Any]) -> Bi:
    """The verdict's own sentence in both languages."""
    return Bi(row["why"] or "–", row["why_zh"] or row["why"] or "–")


def _problems(source: Source, rows: list[dict[str, Any]]) -> Figure:
    bad = [row for row in rows if row["status"] in ("impossible", "strained")]
    runs = {row["run_id"] for row in bad if row["status"] == "impossible"}
    checked = {row["run_id"] for row in rows if row["status"] != "unknown"}
    words = words_of("verdicts.problems", "some" if runs else "none", bad=len(runs), n=len(checked), rows=len(bad))
    context = {"groups": _groups(source, bad), "glyphs": GLYPHS}
    table = verdict_table(bad)
    return Figure(
        "verdict-list", words, body="verdicts/body.html.j2", context=context, table=table, queries=("verdicts",)
    )


def _groups(source: Source, bad: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Problems of one run together, with its documents."""
    documents = defaultdict(list)
    for row in source.rows("sources"):
        documents[row["run_id"]].append(row)
    by_run: dict[str, dict[str, Any]] = {}
    for row in bad:
        group = by_run.setdefault(
            row["run_id"],
            {
                "run_id": row["run_id"],
                "name": row["name"],
                "status": row["status"],
                "rows": [],
                "sources": documents[row["run_id"]],
            },
        )
        group["rows"].append({**row, "title": check_title(row["check_name"]), "sentence": sentence(row)})
    return list(by_run.values())


def verdict_table(rows: list[dict[str, Any]]) -> Table:
    """Verdicts as rows, each linked to its run."""
    heads = ("name", "phase", "check_name", "status", "why")
    made = tuple(
        (
            Cell(Bi.same(row["name"]), row["run_id"], f"runs/{row['run_id']}.html"),
            Cell(Bi.same(row["phase"] or "–"), row["phase"]),
            Cell(check_title(row["check_name"]), row["check_name"]),
            Cell(code(row["status"]), row["status"]),
            Cell(sentence(row), row["why"]),
        )
        for row in rows
    )
    return Table(tuple((head, plain(f"verdicts.head.{head}")) for head in heads), made)
