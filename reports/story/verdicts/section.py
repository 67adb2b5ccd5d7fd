"""What the numbers of each run say about one another: the list of those that don't add up, and the whole matrix."""

from __future__ import annotations

from collections import Counter, defaultdict
from typing import Any

from reports.drawing.figure import Cell, Figure, Section, Table, words_of
from reports.source import Source
from reports.words import Bi, code, has_phrase, phrase, plain

GLYPHS = {"plausible": "✓", "explained": "◇", "strained": "◐", "impossible": "✗", "unknown": "?"}
SEVERITY = ["impossible", "strained", "explained", "plausible", "unknown"]
OFF = ("impossible", "strained")


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


def run_verdicts(source: Source) -> dict[str, dict[str, Any]]:
    """The worst verdict of each run on its makers' own numbers.

    A run is plausible only where a decisive check is: one that compares two numbers which were printed apart.
    """
    runs: dict[str, dict[str, Any]] = {}
    for row in source.rows("verdicts"):
        blank = {"run_id": row["run_id"], "name": row["name"], "makers": "unknown"}
        run = runs.setdefault(row["run_id"], blank)
        if row["rests_on"] == "makers" and (row["status"] != "plausible" or row["decisive"]):
            run["makers"] = min(run["makers"], row["status"], key=SEVERITY.index)
    return runs


def tally(source: Source) -> dict[str, Any]:
    """How many runs can be tested on their makers' numbers, contradict themselves, or are strained, and which."""
    runs = list(run_verdicts(source).values())
    by = {status: [run["name"] for run in runs if run["makers"] == status] for status in SEVERITY}
    rows = source.rows("verdicts")
    aside = {row["run_id"] for row in rows if row["rests_on"] == "others" and row["status"] != "explained"}
    counts = {
        "plausible": len(by["plausible"]), "strained": len(by["strained"]), "unknown": len(by["unknown"]),
        "explained": len({row["run_id"] for row in rows if row["status"] == "explained"}),
        "bad": len(by["impossible"]), "others": len(aside),
    }  # fmt: skip
    return {**counts, "n": len(runs) - len(by["unknown"]), "all": len(runs), "names": by["impossible"]}


def _problems(source: Source, rows: list[dict[str, Any]]) -> Figure:
    counts = tally(source)
    words = words_of("verdicts.problems", "some" if counts["bad"] else "none", **counts)
    parts = {
        "makers": [row for row in rows if row["rests_on"] == "makers" and row["status"] in OFF],
        "explained": [row for row in rows if row["status"] == "explained"],
        "others": [row for row in rows if row["rests_on"] == "others" and row["status"] != "explained"],
    }
    context = {
        "parts": [
            (name, plain(f"verdicts.part.{name}"), _groups(source, part)) for name, part in parts.items() if part
        ],
        "matrix": _matrix(source, rows),
        "glyphs": GLYPHS,
        "statuses": SEVERITY,
    }
    table = verdict_table(rows)
    return Figure(
        "verdict-list", words, body="verdicts/body.html.j2", context=context, download=table, queries=("verdicts",)
    )


def _matrix(source: Source, rows: list[dict[str, Any]]) -> dict[str, Any]:
    """Every run that can be tested against every check, the worst phase of each."""
    worst: dict[tuple[str, str], str] = {}
    for row in rows:
        key = (row["run_id"], row["check_name"])
        worst[key] = min(worst.get(key, row["status"]), row["status"], key=SEVERITY.index)
    often = Counter(check for (_, check), status in worst.items() if status in OFF)
    checks = sorted({check for _, check in worst}, key=lambda check: (-often[check], check))
    tested = [run for run in run_verdicts(source).values() if run["makers"] != "unknown"]
    runs = sorted(tested, key=lambda run: (SEVERITY.index(run["makers"]), run["run_id"]))
    return {
        "checks": [(check, check_title(check)) for check in checks],
        "runs": [{**run, "cells": [worst.get((run["run_id"], check)) for check in checks]} for run in runs],
    }


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
    heads = ("name", "phase", "check_name", "status", "rests_on", "why")
    made = tuple(
        (
            Cell(Bi.same(row["name"]), row["run_id"], f"runs/{row['run_id']}.html"),
            Cell(Bi.same(row["phase"] or "–"), row["phase"]),
            Cell(check_title(row["check_name"]), row["check_name"]),
            Cell(code(row["status"]), row["status"]),
            Cell(code(row["rests_on"]), row["rests_on"]),
            Cell(sentence(row), row["why"]),
        )
        for row in rows
    )
    return Table(tuple((head, plain(f"verdicts.head.{head}")) for head in heads), made)
