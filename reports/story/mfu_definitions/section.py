"""Dense against MoE under every definition of MFU at once."""

from __future__ import annotations

from typing import Any

from reports.drawing.figure import Cell, Figure, Table, words_of
from reports.drawing.fitted import statistic
from reports.drawing.frames import CONVENTIONS
from reports.numbers import NOTHING, percent, significant
from reports.source import Source
from reports.story.mfu.section import gap, medians
from reports.words import Bi, code, phrase

SCOPES = ("steady", "whole-run")
_COLUMNS = ("convention", "dense", "moe", "gap", "test", "moved")


def figures(source: Source) -> tuple[Figure, ...]:
    """A line per convention; nothing when no convention has both groups."""
    moved = {row["convention"]: row for row in source.rows("mfu_ranks")}
    groups = {name: medians(source, name) for name in CONVENTIONS}
    gaps = [
        100 * (one["dense"]["median"] - one["moe"]["median"]) for one in groups.values() if {"dense", "moe"} <= set(one)
    ]
    gaps += [100 * found for scope in SCOPES if (found := _scope_gap(source, scope)) is not None]
    if not gaps:
        return ()
    variant = "plain" if any(gap(source, name) for name in CONVENTIONS) else "few"
    ends = {"least": f"{min(gaps):.0f}", "most": f"{max(gaps):.0f}"}
    words = words_of("mfu_definitions", variant, n=len(CONVENTIONS) + len(SCOPES), **ends)
    heads = tuple((column, phrase(f"mfu_definitions.head.{column}")) for column in _COLUMNS)
    lines = [_line(source, name, groups[name], moved.get(name)) for name in CONVENTIONS]
    table = Table(heads, (*lines, *(_scope_line(source, scope) for scope in SCOPES)))
    queries = ("mfu_medians", "mfu_ranks", "trends")
    context = {"table": table}
    return (
        Figure("mfu-definitions", words, body="bodies/plain.html.j2", context=context, download=table, queries=queries),
    )


def _line(
    source: Source, name: str, groups: dict[str, dict[str, Any]], moved: dict[str, Any] | None
) -> tuple[Cell, ...]:
    found, test = gap(source, name), statistic(source, f"mfu-gap-{name}", "p_value")
    return (
        Cell(code(name), name),
        *(_median(groups.get(kind)) for kind in ("dense", "moe")),
        _gap(found),
        Cell(Bi.same(significant(test["value"], 2) if test else NOTHING), test["value"] if test else None),
        Cell(Bi.same(f"{moved['moved']} / {moved['n']}" if moved else NOTHING), moved["moved"] if moved else None),
    )


def _scope_line(source: Source, scope: str) -> tuple[Cell, ...]:
    """6ND for steady states (downtime excluded) or for whole runs (downtime included)."""
    name = f"6nd-{scope}"
    test = statistic(source, f"mfu-gap-{name}", "p_value")
    return (
        Cell(code(name), name),
        *(_scope_median(source, name, kind) for kind in ("dense", "moe")),
        _gap(gap(source, name)),
        Cell(Bi.same(significant(test["value"], 2) if test else NOTHING), test["value"] if test else None),
        Cell(Bi.same(NOTHING)),
    )


def _scope_gap(source: Source, scope: str) -> float | None:
    """Difference of the medians of one scope; None where a group is empty."""
    dense, moe = (statistic(source, f"mfu-gap-6nd-{scope}", f"median_{kind}") for kind in ("dense", "moe"))
    return None if dense is None or moe is None else float(dense["value"] - moe["value"])


def _scope_median(source: Source, name: str, kind: str) -> Cell:
    count = statistic(source, f"mfu-gap-{name}", f"n_{kind}")
    found = statistic(source, f"mfu-gap-{name}", f"median_{kind}")
    n = 0 if count is None else int(count["value"])
    median = percent(found["value"]) if found else NOTHING
    return Cell(Bi.same(f"{median} ({n})"), found["value"] if found else None)


def _median(group: dict[str, Any] | None) -> Cell:
    return Cell(
        Bi.same(f"{percent(group['median'])} ({group['n']})" if group else NOTHING), group["median"] if group else None
    )


def _gap(found: dict[str, Any] | None) -> Cell:
    if found is None:
        return Cell(phrase("mfu_definitions.cannot"))
    value, low, high = (100 * found[end] for end in ("value", "low", "high"))
    return Cell(Bi.same(f"{value:.1f} ({low:.1f} … {high:.1f})"), found["value"])
