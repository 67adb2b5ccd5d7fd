"""Edits after which every equation of a run or phase holds, the most plausible first."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from itertools import combinations
from math import log
from typing import Any

from analysis.records.spans import as_span
from analysis.repair.edits import DEGREES, FIELDS, Edit, Facts, edits
from analysis.verdicts import Verdict, judge
from analysis.verdicts.registry import Scope
from schemas.reasons import sentence

BAD = ("strained", "impossible")
MOST_PAIRED = 120
"""Single edits of the lowest cost that are tried two at a time."""
BY_DIGIT = ("digit", "digits-swapped")
"""Edits of which long numbers have too many to pair; degrees are short."""


@dataclass(frozen=True)
class Repair:
    """A change of one or two printed values, and the equations before and after."""

    edit: Edit
    change: str
    before: tuple[str, ...]
    after: tuple[str, ...]


def failing(facts: Facts, scope: Scope) -> dict[str, Verdict]:
    """Checks whose equation does not hold, by name; what a memory model says is none."""
    return {one.check_name: one for one in judge(facts, scope) if one.status in BAD and one.decisive}


def repairs(facts: Facts, scope: Scope, elsewhere: Facts | None = None, most: int = 8) -> list[Repair]:
    """The smallest changes that make every equation hold.

    Parameters
    ----------
    facts
        Facts of a run or a phase.
    scope
        Which of the two.
    elsewhere
        The same fields as other sources or siblings print them.
    most
        Repairs to return.

    Returns
    -------
    list of Repair
        The most plausible first; empty where nothing fails, or where no one or two changes mend it.
    """
    broken = failing(facts, scope)
    if not broken:
        return []
    singles = sorted({*edits(facts, elsewhere), *_solved(facts, broken)}, key=lambda one: _order(one, facts))
    mended = [one for one in singles if _mends(one, facts, scope)]
    if not mended:
        few = [one for one in singles if one.kind not in BY_DIGIT or one.values[0][0] in DEGREES][:MOST_PAIRED]
        pairs = (a + b for a, b in combinations(few, 2) if _apart(a, b))
        mended = [pair for pair in pairs if _mends(pair, facts, scope)]
    mended.sort(key=lambda one: _order(one, facts))
    return [_repair(one, facts, scope, broken) for one in _varied(mended)[:most]]


MOST_ALIKE = 2
"""Repairs of one kind on the same fields."""


def _varied(ordered: list[Edit]) -> list[Edit]:
    """The first edits of each kind and field, each change once."""
    seen: Counter[tuple[str, ...]] = Counter()
    values: set[tuple[tuple[str, float], ...]] = set()
    kept = []
    for one in ordered:
        group = (one.kind, *(name for name, _ in one.values))
        if seen[group] < MOST_ALIKE and one.values not in values:
            kept.append(one)
            seen[group] += 1
            values.add(one.values)
    return kept


def _apart(first: Edit, second: Edit) -> bool:
    return not {name for name, _ in first.values} & {name for name, _ in second.values}


def _order(edit: Edit, facts: Facts) -> tuple[float, float, str]:
    """Cost, then how far the value moves."""
    moved = sum(abs(log(value / as_span(facts[name]).best)) for name, value in edit.values)
    return edit.cost, round(moved, 6), str(edit.values)


def _mends(edit: Edit, facts: Facts, scope: Scope) -> bool:
    return not failing(edit.of(facts), scope)


def _solved(facts: Facts, broken: dict[str, Verdict]) -> Iterator[Edit]:
    """Each field moved by the ratio of a failing equation, either way; two digits of what it gives."""
    ratios = {float(one.values["ratio"]) for one in broken.values() if "ratio" in one.values}
    ratios |= {one.values["product"] / one.values["accelerators"] for one in broken.values() if "degrees" in one.values}
    if "mfu-from-hours" in broken:
        steady = facts.get("reported_mfu")
        usual = as_span(steady).best if steady is not None else USUAL_MFU
        ratios.add(float(broken["mfu-from-hours"].values["share"]) / usual)
    for name in FIELDS:
        if name not in facts:
            continue
        value = as_span(facts[name]).best
        for ratio in ratios:
            for other in (value * ratio, value / ratio):
                rounded = float(f"{other:.1e}") if other >= 1000 or other < 1 else float(round(other))
                if rounded > 0 and rounded != value:
                    yield Edit("solved", ((name, rounded),))


USUAL_MFU = 0.4
"""Middle of published dense runs, where a run prints no utilisation of its own."""


def _repair(edit: Edit, facts: Facts, scope: Scope, broken: dict[str, Verdict]) -> Repair:
    after = {one.check_name: one for one in judge(edit.of(facts), scope)}
    return Repair(
        edit,
        edit.text(facts),
        tuple(_words(one) for one in broken.values()),
        tuple(_words(after[name]) for name in broken if name in after),
    )


def _words(one: Verdict) -> str:
    return sentence(one.check_name, one.reason, one.values)


def as_json(one: Repair) -> dict[str, Any]:
    """A repair as plain values."""
    return {
        "change": one.change,
        "kind": one.edit.kind,
        "cost": one.edit.cost,
        "values": dict(one.edit.values),
        "before": list(one.before),
        "after": list(one.after),
    }
