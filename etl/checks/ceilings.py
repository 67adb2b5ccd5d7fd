"""Absolute bounds: amounts out of reach, and ranges too wide to be useful."""

from __future__ import annotations

from collections.abc import Iterator

from etl.checks.figures import show
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from schemas.limits import LIMITS, WIDEST_RANGE, WIDEST_SHARE

SHARES = frozenset({"mfu", "hfu", "goodput"})


@check("SUM030", "beyond-any-run", "run", "model")
def beyond_any_run(subject: Subject) -> Iterator[Finding]:
    """An amount must lie within what is possible (schemas/limits.yaml): no run has 1e30 tokens."""
    for block in subject.blocks:
        for path, value in block.leaves():
            limit = LIMITS.get(str(path[-1]))
            ends = list(value.values()) if isinstance(value, dict) else [value]
            numbers = [end for end in ends if isinstance(end, int | float) and not isinstance(end, bool)]
            if limit is None or not numbers:
                continue
            if max(numbers) > limit.most:
                message = f"{path[-1]} {show(max(numbers))} is more than any run has (limit {show(limit.most)})"
                yield subject.at((*block.path, *path), message, "compare the power of ten with the source")
            elif min(numbers) < limit.least:
                message = f"{path[-1]} {show(min(numbers))} is less than any run has (limit {show(limit.least)})"
                yield subject.at((*block.path, *path), message, "compare the power of ten with the source")


@check("SUM031", "range-says-nothing", "run")
def range_says_nothing(subject: Subject) -> Iterator[Finding]:
    """The ends of a range must be near enough to say something: within a factor 30, of a share within 4."""
    for block in subject.blocks:
        for path, value in block.leaves():
            if not isinstance(value, dict) or "low" not in value or "high" not in value:
                continue
            widest = WIDEST_SHARE if path[-1] in SHARES else WIDEST_RANGE
            if value["low"] > 0 and value["high"] / value["low"] > widest:
                message = f"{path[-1]} from {show(value['low'])} to {show(value['high'])} is a factor above {widest:g}"
                yield subject.at((*block.path, *path), message, "leave out what the source does not know")
