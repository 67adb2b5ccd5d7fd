"""What a database knows of a run, for repairs: its facts, and the same fields as others print them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import duckdb

from analysis.records.facts import Facts, model_facts, phase_facts, run_facts
from analysis.records.provenance import fact_of
from analysis.records.spans import Span, as_span, printed
from analysis.repair.edits import FIELDS
from analysis.verdicts.registry import Scope
from schemas.naming import resolve


@dataclass(frozen=True)
class Part:
    """A run as a whole or one phase: its facts, and other values of its fields."""

    name: str
    scope: Scope
    facts: Facts
    elsewhere: dict[str, float]


def parts(connection: duckdb.DuckDBPyConnection, words: str, as_printed: bool) -> tuple[str, list[Part]]:
    """The run that is meant, and it as a whole and phase by phase.

    Parameters
    ----------
    connection
        A built database.
    words
        Id of a run, or words of it.
    as_printed
        Take the other value wherever sources disagree, as a reader of that source would.

    Raises
    ------
    RefusalError
        No run fits, or several.
    """
    rows = connection.execute("select id, name, organization from record.runs order by id").fetchall()
    run = resolve(words, {row[0]: row[1:] for row in rows}, "run")
    models = model_facts(connection)
    phases = [facts for facts in phase_facts(connection, models) if facts["run_id"] == run]
    whole = next(facts for facts in run_facts(connection, models, {run: phases}) if facts["id"] == run)
    disputed = _disputed(connection, run)
    result = [_part("", "run", whole, disputed, as_printed, _siblings(connection, run))]
    result += [_part(str(one["name"]), "phase", one, disputed, as_printed, {}) for one in phases]
    return run, result


def _part(
    name: str,
    scope: Scope,
    facts: Facts,
    disputed: dict[tuple[str, str], float],
    as_printed: bool,
    near: dict[str, float],
) -> Part:
    """One part, with what other sources print in place of ours or beside it."""
    others = {field: value for (phase, field), value in disputed.items() if phase == name and field in facts}
    others = {field: value for field, value in others.items() if field in FIELDS}
    if not as_printed:
        return Part(name, scope, facts, near | others)
    ours = {field: float(as_span(facts[field]).best) for field in others}
    changed = {f: printed(v) if isinstance(facts[f], Span) else int(v) for f, v in others.items()}
    return Part(name, scope, facts | changed, near | ours)


def _disputed(connection: duckdb.DuckDBPyConnection, run: str) -> dict[tuple[str, str], float]:
    """Numbers of other sources by phase and field."""
    query = "select field, other from record.conflicts where kind = 'run' and record_id = ?"
    return dict(_numbers(connection.execute(query, [run]).fetchall()))


def _numbers(rows: list[tuple[Any, ...]]) -> Iterator[tuple[tuple[str, str], float]]:
    for path, other in rows:
        try:
            yield fact_of(str(path)), float(other)
        except ValueError:
            continue


def _siblings(connection: duckdb.DuckDBPyConnection, run: str) -> dict[str, float]:
    """Accelerators, hours and tokens of another run of the same makers and day, which a table may have swapped."""
    query = """
        select other.accelerator_hours, other.tokens, max(phases.accelerators)
        from record.runs as mine
        join record.runs as other
            on other.organization = mine.organization and other.released = mine.released and other.id <> mine.id
        left join record.phases as phases on phases.run_id = other.id
        where mine.id = ?
        group by all
        order by all
    """
    rows = connection.execute(query, [run]).fetchall()
    names = ("accelerator_hours", "tokens", "accelerators")
    return {name: float(value) for row in rows[:1] for name, value in zip(names, row, strict=True) if value is not None}
