"""Who discloses what, run by run."""

from __future__ import annotations

from typing import Any

from reports.drawing.figure import Figure, table_of, words_of
from reports.numbers import percent
from reports.source import Source
from reports.story.disclosure.section import fact_word

GLYPHS = {"stated": "●", "derived": "◐", "second-hand": "○", "not-disclosed": "✗", "absent": "·"}


def _by_share(rows: list[dict[str, Any]]) -> list[str]:
    """Facts, the most often stated first."""
    stated: dict[str, int] = {}
    for row in rows:
        stated[row["fact"]] = stated.get(row["fact"], 0) + (row["state"] in ("stated", "derived"))
    return sorted(stated, key=lambda fact: (-stated[fact], fact))


def figures(source: Source) -> tuple[Figure, ...]:
    """Every run and what its documents state."""
    rows = source.rows("disclosure_ledger")
    return (_ledger(source, rows),) if rows else ()


def _ledger(source: Source, rows: list[dict[str, Any]]) -> Figure:
    facts = _by_share(rows)
    states: dict[str, dict[str, str]] = {}
    named: dict[str, dict[str, Any]] = {}
    for row in rows:
        states.setdefault(row["run_id"], {})[row["fact"]] = row["state"]
        named.setdefault(row["run_id"], row)
    stated = sum(row["state"] in ("stated", "derived") for row in rows)
    words = words_of("disclosure_ledger", "plain", runs=len(named), share=percent(stated / len(rows)), facts=len(facts))
    context = {
        "facts": [(fact, fact_word(fact)) for fact in facts],
        "runs": [{**row, "cells": [states[run].get(fact, "absent") for fact in facts]} for run, row in named.items()],
        "glyphs": GLYPHS,
    }
    download = table_of(source, rows, ["run_id", "name", "organization", "released", "fact", "state"])
    return Figure(
        "disclosure-ledger",
        words,
        body="disclosure_ledger/body.html.j2",
        context=context,
        download=download,
        queries=("disclosure_ledger",),
        folded=True,
    )
