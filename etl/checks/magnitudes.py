"""Magnitudes: amounts that a slip of the decimal point gives away."""

from __future__ import annotations

from collections.abc import Iterator

from etl.checks.dates import first_day, last_day
from etl.checks.figures import plain_number, show, working_parameters
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path

POWER_OF_TEN = 7.0
"""Ratio from which two totals are a power of ten apart: sqrt(10) is the middle, and 6ND itself is right within 2."""
LONGEST_DAYS = 3 * 366


@check("SUM026", "totals-a-power-of-ten-apart", "run")
def totals_apart(subject: Subject) -> Iterator[Finding]:
    """compute_flop must not differ from 6 * parameters * tokens by a power of ten."""
    totals = subject.value.get("totals", {})
    model = subject.context.catalogue["model"].get(subject.value.get("model", ""))
    size = working_parameters(model.value) if model else None
    tokens, flop = plain_number(totals, "tokens"), plain_number(totals, "compute_flop")
    if size and tokens and flop and not 1 / POWER_OF_TEN < flop / (6 * size * tokens) < POWER_OF_TEN:
        message = f"compute_flop {show(flop)} is {show(flop / (6 * size * tokens))} times 6 * parameters * tokens"
        places: list[Path] = [("totals", "tokens")]
        yield subject.at(("totals", "compute_flop"), message, "compare the powers of ten with the source", also=places)


@check("SUM027", "longer-than-three-years", "run")
def longer_than_three_years(subject: Subject) -> Iterator[Finding]:
    """No phase of a run takes three years: hours may have been entered as days, or a project as its run."""
    blocks: list[tuple[Path, dict[str, object]]] = [(("totals",), subject.value.get("totals", {})), *subject.phases()]
    for path, block in blocks:
        days = plain_number(block, "days")
        if days is not None and days > LONGEST_DAYS:
            yield subject.at((*path, "days"), f"{show(days)} days are more than three years", "compare with the source")
        start, end = block.get("start"), block.get("end")
        if isinstance(start, str) and isinstance(end, str) and (first_day(end) - last_day(start)).days > LONGEST_DAYS:
            yield subject.at((*path, "end"), f"{start} to {end} is more than three years", "compare with the source")


@check("SUM028", "more-than-were-made", "run", "cluster")
def more_than_were_made(subject: Subject) -> Iterator[Finding]:
    """Nobody uses more accelerators of a type than were made of it (`made` of the accelerator)."""
    parts = subject.context.catalogue["accelerator"]
    points = ((("points", number), point) for number, point in enumerate(subject.value.get("points", ())))
    for path, block in (*subject.phases(), *points):
        part = parts.get(block.get("accelerator", ""))
        made = plain_number(part.value, "made") if part else None
        count = plain_number(block, "accelerators")
        if made and count and count > made:
            message = f"{show(count)} of {block['accelerator']}, of which {show(made)} were made"
            yield subject.at((*path, "accelerators"), message, "compare the count and the type with the source")
