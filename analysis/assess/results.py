"""Recompute every run of a database and write the result tables."""

from __future__ import annotations

import json
import shutil
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import duckdb
import pandas as pd

from analysis.assess import measured, tried
from analysis.assess import phases as modelled
from analysis.infer import of_database as inference
from analysis.records import mfu as utilisation
from analysis.records.facts import Facts, phase_facts, run_facts
from analysis.records.load import load
from analysis.records.spans import as_span
from analysis.trends import claims
from analysis.trends import series as trends
from analysis.verdicts import Verdict, judge, not_judged
from schemas.conventions import FLOP_FACTS
from schemas.files import draft
from schemas.reasons import cause, sentence
from schemas.sandbox import connect

Row = dict[str, Any]
Step = Callable[[str], None]
CLOSED: dict[str, str | bool | int | float | list[str]] = {"enable_external_access": False}
"""The database file and nothing else: its views are somebody else's SQL."""


def parameter_rows(models: dict[str, Facts]) -> Iterator[Row]:
    """Exact counts of each model whose architecture is known."""
    for model_id, facts in models.items():
        for name, value in facts.items():
            if name.startswith("exact_"):
                yield {"model_id": model_id, "part": name.removeprefix("exact_"), "value": value, "unit": "parameters"}


def flop_rows(facts: Facts, phase: str | None) -> Iterator[Row]:
    """FLOP per token, total and implied utilisation of one phase (or of a whole run) in each convention."""
    tokens = as_span(facts["tokens"]).best if "tokens" in facts else None
    for convention, name in FLOP_FACTS.items():
        if name not in facts:
            continue
        implied = (utilisation.of_run if phase is None else utilisation.of_phase)(facts, convention)
        yield {
            "run_id": facts["id"] if phase is None else facts["run_id"],
            "phase": phase,
            "convention": convention,
            "flop_per_token": facts[name],
            "total_flop": None if tokens is None else tokens * facts[name],
            "implied_mfu": implied[0] if implied else None,
            "implied_from": implied[1] if implied else None,
        }


def verdict_rows(facts: Facts, phase: str | None) -> Iterator[Row]:
    """Every verdict on one phase, or on a run as a whole."""
    run_id = facts["id"] if phase is None else facts["run_id"]
    for verdict in judge(facts, "run" if phase is None else "phase"):
        yield {"run_id": run_id, "phase": phase, **verdict_row(verdict)}


def verdict_row(verdict: Verdict) -> Row:
    """A verdict as a row: code and values of its reason, and beside them the sentences made of them."""
    name, reason, values, span = verdict.check_name, verdict.reason, verdict.values, verdict.span
    return {
        "check_name": name,
        "status": verdict.status,
        **({"value": span.best, "low": span.low, "high": span.high} if span else {}),
        "unit": verdict.unit,
        "reason": reason,
        "reason_values": json.dumps(values, ensure_ascii=False, default=float),
        "cause": verdict.cause,
        "explained": verdict.explained,
        "decisive": verdict.decisive,
        "hangs_on": ", ".join(verdict.inputs) or None,
        "slack_low": verdict.slack[0] if verdict.slack else None,
        "slack_high": verdict.slack[1] if verdict.slack else None,
        "why": sentence(name, reason, values),
        "why_zh": sentence(name, reason, values, "zh"),
        "ratio_hint": cause(verdict.cause),
        "missing": _missing(verdict),
    }


def _missing(verdict: Verdict) -> str | None:
    """What an unknown verdict lacks, by field."""
    if verdict.reason == "facts":
        return ", ".join(verdict.values["facts"])
    return ", ".join(reason["field"] for reason in verdict.values["lacks"]) if verdict.reason == "engine" else None


def results(connection: duckdb.DuckDBPyConnection) -> dict[str, list[Row]]:
    """All result rows of an open database, by table."""
    catalogue = load(connection)
    rows: dict[str, list[Row]] = {"parameters": list(parameter_rows(catalogue.models))}
    rows |= {table: [] for table in ("flops", "verdicts", "memory", "communication", "timing")}
    phases: dict[str, list[Facts]] = {}
    cases = list(phase_facts(connection, catalogue.models))
    for facts, result in zip(cases, modelled.phases(cases, catalogue), strict=True):
        implied = utilisation.of_phase(facts, "causal")
        known = {"causal_mfu": implied[0]} if implied else {}
        phases.setdefault(facts["run_id"], []).append(facts | result.facts | known)
        for table, table_rows in result.rows.items():
            rows[table] += table_rows
    open_phases: list[tuple[Facts, Facts | None]] = []
    for facts in run_facts(connection, catalogue.models, phases):
        if not facts["is_pretraining"]:
            rows["verdicts"] += [
                {"run_id": facts["id"], "phase": None, **verdict_row(one)} for one in not_judged("run")
            ]
            continue
        for phase in phases.get(facts["id"], []):
            rows["flops"] += flop_rows(phase, phase["name"])
            rows["verdicts"] += verdict_rows(phase, phase["name"])
        open_phases += [(phase, facts) for phase in phases.get(facts["id"], [])]
        rows["flops"] += flop_rows(facts, None)
        rows["verdicts"] += verdict_rows(facts, None)
    rows["inferred"] = list(inference.rows(inference.of_phases(open_phases, catalogue)))
    tables = {"measured": measured.rows(connection, catalogue), "tried_layouts": tried.rows(connection, catalogue)}
    return rows | {table: list(content) for table, content in tables.items()}


def write(connection: duckdb.DuckDBPyConnection, rows: dict[str, list[Row]]) -> None:
    """Replace the contents of result tables; columns go by name."""
    for table, table_rows in rows.items():
        connection.execute(f"delete from result.{table}")  # noqa: S608  (names of our own tables)
        if table_rows:
            frame = pd.DataFrame(table_rows)
            connection.register("fresh_rows", frame)
            connection.execute(f"insert into result.{table} by name select * from fresh_rows")  # noqa: S608  (the same)
            connection.unregister("fresh_rows")


def assess(database: Path, step: Step = lambda _: None) -> dict[str, int]:
    """Fill the result tables of a database file; the file is replaced only when all is done.

    Parameters
    ----------
    database
        A file that the build step made.
    step
        Called with a short text before each step, for progress.

    Returns
    -------
    dict
        Rows written, by result table.
    """
    with connect(database) as connection:
        connection.execute(
            "select 1 from meta.build, record.runs limit 1"
        )  # another file is refused before it is copied
    with draft(database, keep_newer=True) as unfinished:
        shutil.copyfile(database, unfinished)
        with duckdb.connect(str(unfinished), config=CLOSED) as connection:
            step("recomputing every run")
            rows = results(connection)
            step("writing results")
            write(connection, rows)
            step("fitting trends")
            rows["trends"] = trends.rows(connection)
            write(connection, {"trends": rows["trends"]})
        step("testing claims")
        rows["claims"] = claims.judged(unfinished)
        with duckdb.connect(str(unfinished), config=CLOSED) as connection:
            write(connection, {"claims": rows["claims"]})
    # What another program had not yet merged into the old file would keep the new one from being opened.
    database.with_name(f"{database.name}.wal").unlink(missing_ok=True)
    return {table: len(table_rows) for table, table_rows in rows.items()}
