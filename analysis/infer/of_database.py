"""Inference for the runs of a built database."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import duckdb
import pandas as pd

from analysis.engine.predict import predict
from analysis.infer.layouts import Inference, candidates, conclude
from analysis.plan.question import Question
from analysis.records.facts import Facts, phase_facts, run_facts
from analysis.records.load import Catalogue, load
from schemas.naming import resolve
from schemas.refusal import RefusalError


@dataclass(frozen=True)
class Outcome:
    """One phase: what was inferred, or why nothing can be."""

    phase: str
    facts: Facts
    inference: Inference | None
    why: str = ""


def of_run(connection: duckdb.DuckDBPyConnection, words: str) -> tuple[str, list[Outcome]]:
    """The run that is meant, and what can be inferred of each of its phases.

    Raises
    ------
    RefusalError
        No run fits, or several.
    """
    rows = connection.execute("select id, name, organization from record.runs order by id").fetchall()
    run = resolve(words, {row[0]: row[1:] for row in rows}, "run")
    catalogue = load(connection)
    phases = [facts for facts in phase_facts(connection, catalogue.models) if facts["run_id"] == run]
    whole = next((one for one in run_facts(connection, catalogue.models, {run: phases}) if one["id"] == run), None)
    return run, list(outcomes(phases, whole, catalogue))


def rows(outcomes: Iterable[Outcome]) -> Iterator[dict[str, Any]]:
    """Rows of result.inferred: one per fact that the consistent layouts share, of phases that left something open."""
    for one in outcomes:
        made = one.inference
        if made is None or made.legal < 2 or made.consistent.empty:
            continue
        key = {
            "run_id": one.facts["run_id"],
            "phase": one.phase,
            "legal": made.legal,
            "consistent": len(made.consistent),
        }
        narrows = made.narrows[0] if made.narrows else None
        yield key | {"fact": "layout", "words": None, "narrows": narrows}
        for shared in made.shared:
            yield key | {
                "fact": shared.fact,
                "words": ", ".join(str(value) for value in shared.values),
                "narrows": narrows,
            }


def outcomes(phases: Sequence[Facts], whole: Facts | None, catalogue: Catalogue) -> Iterator[Outcome]:
    """What can be inferred of each phase of a run."""
    yield from of_phases([(facts, whole) for facts in phases], catalogue)


def of_phases(phases: Sequence[tuple[Facts, Facts | None]], catalogue: Catalogue) -> list[Outcome]:
    """What can be inferred of phases, each beside the facts of its run; their layouts are predicted all at once."""
    tried: list[tuple[Question, pd.DataFrame] | str] = []
    for facts, _ in phases:
        try:
            tried.append(candidates(facts, catalogue.models.get(facts["model"], {})))
        except RefusalError as error:
            tried.append(str(error))
    tables = [one[1] for one in tried if not isinstance(one, str)]
    if not tables:
        refused = zip(phases, tried, strict=True)
        return [Outcome(str(facts["name"]), facts, None, str(why)) for (facts, _), why in refused]
    answers = predict(pd.concat(tables, ignore_index=True), catalogue.accelerators, catalogue.constants)
    made, start = [], 0
    for (facts, whole), one in zip(phases, tried, strict=True):
        if isinstance(one, str):
            made.append(Outcome(str(facts["name"]), facts, None, one))
            continue
        answer = answers.iloc[start : start + len(one[1])].reset_index(drop=True)
        start += len(one[1])
        try:
            made.append(Outcome(str(facts["name"]), facts, conclude(facts, one, answer, catalogue, whole)))
        except RefusalError as error:
            made.append(Outcome(str(facts["name"]), facts, None, str(error)))
    return made
