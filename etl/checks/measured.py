"""Arithmetic of measured rows: what ran out of memory has no figures, and two speeds of one row are one speed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etl.checks.figures import show
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding

FIGURES = ("step_time_s", "tokens_per_s_per_accelerator", "tflops_per_accelerator", "mfu", "hfu", "memory_gib")
TOLERANCE = 0.04
"""Tables round both figures, and some leave evaluation or the slowest steps out of one of them."""


def _rows(subject: Subject) -> Iterator[tuple[int, dict[str, Any]]]:
    """Every row with what it shares with others."""
    common, shapes = subject.value.get("common", {}), subject.value.get("shapes", {})
    for number, row in enumerate(subject.value.get("rows", ())):
        yield number, {**common, **shapes.get(row.get("shape"), {}), **row}


@check("SUM021", "measured-though-out-of-memory", "benchmark")
def measured_though_out_of_memory(subject: Subject) -> Iterator[Finding]:
    """A layout that ran out of memory has no time, speed or memory."""
    for number, row in _rows(subject):
        figures = [name for name in FIGURES if name in row] if row.get("outcome") == "oom" else []
        if figures:
            message = f"the row ran out of memory and has {figures[0]} {show(row[figures[0]])}"
            tip = "write  outcome: ran  where it finished, or delete the figure"
            yield subject.at(("rows", number, figures[0]), message, tip)


@check("SUM022", "two-speeds", "benchmark")
def two_speeds(subject: Subject) -> Iterator[Finding]:
    """Tokens per second and step time of a row must agree: rate * accelerators * seconds is batch * sequence length."""
    for number, row in _rows(subject):
        names = ("tokens_per_s_per_accelerator", "accelerators", "step_time_s", "global_batch", "seq_len")
        if "doubt" in row or not all(isinstance(row.get(name), int | float) for name in names):
            continue
        rate, count, seconds, batch, length = (row[name] for name in names)
        if abs(rate * count * seconds / (batch * length) - 1) > TOLERANCE:
            product = f"{show(rate)} tokens/s * {show(count)} accelerators * {show(seconds)} s"
            message = f"{product} = {show(rate * count * seconds)}, not global_batch * seq_len = {show(batch * length)}"
            tip = "compare them with the source; say in doubt what does not fit"
            yield subject.at(("rows", number, "tokens_per_s_per_accelerator"), message, tip)
