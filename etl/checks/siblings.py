"""Runs of one paper held against one another: a table copied by hand swaps its rows."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from etl.checks.figures import plain_number, show, working_parameters
from etl.checks.registry import check
from etl.checks.subject import Context, Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path

AT_LEAST = 2.0
"""Factor in work and accelerators beyond which two runs of one paper look swapped; in 2026 no pair had 1.5 of both."""


@dataclass(frozen=True)
class Sibling:
    """Size of one run: parameters * tokens, its most accelerators, their type, and the document that counts them."""

    id: str
    work: float
    accelerators: float
    group: tuple[str, str, str]
    place: Path


def _document(value: dict[str, Any], phase: dict[str, Any]) -> str:
    """Address of the document from which a phase's accelerators are cited."""
    cite = phase.get("cite", {})
    entry = cite.get("accelerators", cite.get("*", "")) if isinstance(cite, dict) else ""
    text = str(entry.get("from", "") if isinstance(entry, dict) else entry)
    sources = value.get("sources")
    source = sources.get(text.split(" ")[0]) if isinstance(sources, dict) else None
    return str(source.get("url")) if isinstance(source, dict) and source.get("kind") != "database" else ""


def _sibling(context: Context, key: str, value: dict[str, Any]) -> Sibling | None:
    model = context.catalogue["model"].get(str(value.get("model", "")))
    size = working_parameters(model.value) if model else None
    totals, phases = value.get("totals"), value.get("phases")
    tokens = plain_number(totals, "tokens") if isinstance(totals, dict) else None
    counted = [
        (count, number, phase)
        for number, phase in enumerate(phases if isinstance(phases, list) else ())
        if isinstance(phase, dict) and (count := plain_number(phase, "accelerators"))
    ]
    if not size or not tokens or not counted:
        return None
    count, number, phase = max(counted, key=lambda one: (one[0], -one[1]))
    group = (_document(value, phase), str(value.get("organization")), str(phase.get("accelerator")))
    return Sibling(key, size * tokens, count, group, ("phases", number, "accelerators")) if group[0] else None


def _groups(context: Context) -> dict[tuple[str, str, str], list[Sibling]]:
    """Runs of one organization on one type of accelerator whose counts stand in one document of its own."""
    groups: dict[tuple[str, str, str], list[Sibling]] = {}
    for key, record in context.catalogue["run"].items():
        one = _sibling(context, key, record.value)
        if one:
            groups.setdefault(one.group, []).append(one)
    return groups


@check("SUM025", "siblings-swapped", "run")
def siblings_swapped(subject: Subject) -> Iterator[Finding]:
    """Of two runs of one paper the smaller must not have the larger cluster: half the work, twice the accelerators."""
    own = _sibling(subject.context, subject.record.id, subject.value)
    for other in subject.context.shared(_groups).get(own.group, ()) if own else ():
        if own and other.work >= AT_LEAST * own.work and own.accelerators >= AT_LEAST * other.accelerators:
            message = (
                f"{show(own.accelerators)} accelerators for {show(own.work / other.work)} of the work of {other.id}, "
                f"which had {show(other.accelerators)}"
            )
            yield subject.at(own.place, message, "compare both with the paper; rows of its table may be swapped")
