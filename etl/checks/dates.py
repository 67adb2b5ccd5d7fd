"""Arithmetic of dates: what comes after what."""

from __future__ import annotations

import calendar
from collections.abc import Iterator
from datetime import date
from typing import Any

from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path


def first_day(text: str) -> date:
    """First day of a day, month or year.

    >>> first_day("2024-07")
    datetime.date(2024, 7, 1)
    """
    return date.fromisoformat(f"{text}-01-01"[:10])


def is_date(value: object) -> bool:
    """Whether a value of another record, which its own findings may be about, is a day, month or year.

    >>> is_date("2024-07"), is_date("todo"), is_date(2024), is_date("2024-02-30")
    (True, False, False, False)
    """
    try:
        return isinstance(value, str) and len(value) in {4, 7, 10} and bool(first_day(value))
    except ValueError:
        return False


def last_day(text: str) -> date:
    """Last day of a day, month or year.

    >>> last_day("2024-02"), last_day("2024")
    (datetime.date(2024, 2, 29), datetime.date(2024, 12, 31))
    """
    first = first_day(text)
    if len(text) == 4:
        return date(first.year, 12, 31)
    return first if len(text) == 10 else date(first.year, first.month, calendar.monthrange(first.year, first.month)[1])


@check("SUM013", "released-before-its-accelerator", "run")
def released_before_its_accelerator(subject: Subject) -> Iterator[Finding]:
    """A run must not be released before the accelerator it ran on."""
    released = subject.value.get("released")
    for path, phase in subject.phases():
        part = subject.context.catalogue["accelerator"].get(phase.get("accelerator", ""))
        born = part.value.get("released") if part else None
        # The part's own file may be wrong; its schema findings stand there.
        if released and is_date(born) and last_day(released) < first_day(str(born)):
            message = f"the run was released {released}, before its accelerator {phase['accelerator']}: {born}"
            yield subject.at(
                ("released",), message, "compare both dates with the sources", also=[(*path, "accelerator")]
            )


@check("SUM014", "start-before-end")
def start_before_end(subject: Subject) -> Iterator[Finding]:
    """A period must not end before it starts, nor a run be released before it starts."""
    spans: list[tuple[Path, dict[str, Any], str, str]] = [
        ((), subject.value, "started", "ended"),
        ((), subject.value, "started", "released"),
        ((), subject.value, "from", "to"),
        *((path, phase, "start", "end") for path, phase in subject.phases()),
    ]
    for path, block, start, end in spans:
        if start in block and end in block and last_day(block[end]) < first_day(block[start]):
            message = f"{end} {block[end]} comes before {start} {block[start]}"
            yield subject.at((*path, end), message, "the two may be swapped", also=[(*path, start)])


@check("SUM015", "future-date")
def future_date(subject: Subject) -> Iterator[Finding]:
    """A date of something done must not lie in the future; a cluster's point may, until it operates."""
    for path, value in _dates(subject):
        if first_day(value) > subject.context.today:
            yield subject.at(
                path,
                f"{value} lies in the future; today is {subject.context.today}",
                "write the date that the source prints",
            )


def _dates(subject: Subject) -> Iterator[tuple[Path, str]]:
    value = subject.value
    yield from (((name,), value[name]) for name in ("released", "started", "ended") if name in value)
    for path, phase in subject.phases():
        yield from (((*path, name), phase[name]) for name in ("start", "end") if name in phase)
    for key, source in value.get("sources", {}).items():
        yield from ((("sources", key, name), source[name]) for name in ("published", "read") if name in source)
    for number, point in enumerate(value.get("points", ())):
        if point.get("status") == "operating" and "date" in point:
            yield ("points", number, "date"), point["date"]


@check("SUM029", "plan-without-its-day", "cluster")
def plan_without_its_day(subject: Subject) -> Iterator[Finding]:
    """A size that is not in operation must say when it was stated: a plan whose day has passed is read again."""
    for number, point in enumerate(subject.value.get("points", ())):
        if point.get("status", "operating") != "operating" and "stated" not in point:
            message = f"the size of {point.get('date')} is {point['status']}, but not stated on a day"
            yield subject.at(("points", number, "status"), message, "add stated: the date of the source that says so")
