"""Arithmetic of amounts: batches, tokens, hours, ranges and counts that must agree."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from etl.checks.figures import plain_number, printed, show, spread
from etl.checks.registry import check
from etl.checks.speeds import batch_of
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path
from schemas.identities import apply


@check("SUM005", "batch-in-tokens", "run")
def batch_in_tokens(subject: Subject) -> Iterator[Finding]:
    """global_batch * seq_len must be global_batch_tokens, to the digits printed."""
    for path, phase in subject.phases():
        places = [(*path, name) for name in ("global_batch", "seq_len", "global_batch_tokens")]
        batch = plain_number(phase, "global_batch")
        off = spread(subject, places[2]) + (0 if batch is None or batch % 10 else spread(subject, places[0]))
        outcome = apply("batch-in-tokens", printed(phase), slack=off)
        if outcome is not None and not outcome.holds:
            product = " * ".join(f"{name} {show(value)}" for name, value in outcome.known.items())
            message = f"{product} = {show(outcome.left)}, not {show(outcome.right)}"
            tip = "write the one that the source prints and leave the other out"
            yield subject.at(places[2], message, tip, also=places)


@check("SUM006", "batch-divides", "run")
def batch_divides(subject: Subject) -> Iterator[Finding]:
    """global_batch must divide by micro_batch * dp, and be their product with microbatches where that is printed."""
    for path, phase in subject.phases():
        values = printed(phase) | phase.get("layout", {})
        places = [(*path, "global_batch"), (*path, "micro_batch"), (*path, "layout", "dp"), (*path, "microbatches")]
        product = (
            apply("batch-of-microbatches", values) if {"micro_batch", "dp", "microbatches"} <= set(values) else None
        )
        rest = apply("batch-divides", values) if product is None else None
        if product is not None and not product.holds:
            factors = " * ".join(f"{name} {show(value)}" for name, value in product.known.items())
            message = f"{factors} = {show(product.left)}, not {show(product.right)}"
            yield subject.at(places[0], message, "compare them with the source", also=places)
        elif rest is not None and not rest.holds:
            divisor = f"micro_batch {show(values['micro_batch'])} * dp {show(values['dp'])}"
            message = f"global_batch {show(rest.left)} does not divide by {divisor}"
            yield subject.at(places[0], message, "compare them with the source", also=places)


def _single(subject: Subject) -> tuple[Path, dict[str, Any]] | None:
    """The only phase of a run, if there is just one."""
    phases = list(subject.phases())
    return phases[0] if len(phases) == 1 else None


def _amounts(subject: Subject, name: str) -> Iterator[tuple[Path, dict[str, Any], Path, float]]:
    """Every phase with the place and value of an amount: the phase's own, or the total where there is one phase."""
    for path, phase in subject.phases():
        own = plain_number(phase, name)
        total = plain_number(subject.value.get("totals", {}), name)
        if own is not None:
            yield path, phase, (*path, name), own
        elif total is not None and _single(subject):
            yield path, phase, ("totals", name), total


@check("SUM008", "tokens-of-steps", "run")
def tokens_of_steps(subject: Subject) -> Iterator[Finding]:
    """tokens must be about steps * batch (or global_batch * seq_len); a growing batch leaves up to a fifth fewer."""
    steps = {path: (place, value) for path, _, place, value in _amounts(subject, "steps")}
    for path, phase, place, tokens in _amounts(subject, "tokens"):
        batch_and_places = batch_of(phase, path)
        if path not in steps or batch_and_places is None:
            continue
        batch, parts = batch_and_places
        where, count = steps[path]
        places = (place, where, *parts)
        values = {"steps": count, "global_batch_tokens": batch, "tokens": tokens}
        outcome = apply("tokens-of-steps", values, slack=spread(subject, *places))
        if outcome is not None and not outcome.holds:
            product = f"steps {show(count)} * batch {show(batch)} = {show(outcome.left)}"
            message = f"{product}, not about {show(tokens)} tokens"
            yield subject.at(place, message, "compare the three with the source", also=places)


@check("SUM009", "hours-of-days", "run")
def hours_of_days(subject: Subject) -> Iterator[Finding]:
    """accelerator_hours must be accelerators * days * 24, to the digits printed and 2 %."""
    days = {path: (place, value) for path, _, place, value in _amounts(subject, "days")}
    for path, phase, place, hours in _amounts(subject, "accelerator_hours"):
        if path not in days:
            continue
        where, length = days[path]
        places = (place, where, (*path, "accelerators"))
        values = printed(phase) | {"days": length, "accelerator_hours": hours}
        outcome = apply("hours-of-days", values, slack=spread(subject, *places))
        if outcome is not None and not outcome.holds:
            product = f"{show(values['accelerators'])} accelerators * {show(length)} days * 24 = {show(outcome.left)}"
            message = f"{product} hours, not {show(hours)}"
            yield subject.at(place, message, "compare the three with the source", also=places)


@check("SUM010", "range-order")
def range_order(subject: Subject) -> Iterator[Finding]:
    """A range must have low <= best <= high."""
    for block in subject.blocks:
        for path, value in block.leaves():
            ends = [value[end] for end in ("low", "best", "high") if end in value] if isinstance(value, dict) else []
            if ends != sorted(ends):
                message = f"the range {', '.join(show(end) for end in ends)} does not rise from low to high"
                yield subject.at((*block.path, *path), message, "write low, best and high in rising order")


@check("SUM011", "active-within-total", "model")
def active_within_total(subject: Subject) -> Iterator[Finding]:
    """params_active must not exceed params_total."""
    outcome = apply("active-within-total", printed(subject.value))
    if outcome is not None and not outcome.holds:
        message = f"{show(outcome.left)} active parameters are more than all {show(outcome.right)}"
        yield subject.at(("params_active",), message, "the two may be swapped", also=[("params_total",)])


@check("SUM012", "name-and-parameters", "model")
def name_and_parameters(subject: Subject) -> Iterator[Finding]:
    """A size in the model's name (405B) must be near params_total: within 30 %."""
    total = plain_number(subject.value, "params_total")
    sizes = re.findall(r"(?<![\dxA.])(\d+(?:\.\d+)?)\s?([BT])\b", subject.value.get("name", ""))
    if total is None or len(sizes) != 1:
        return
    named = float(sizes[0][0]) * (1e9 if sizes[0][1] == "B" else 1e12)
    if not 0.7 < total / named < 1.3:
        message = f"the name says {''.join(sizes[0])}, and params_total is {show(total)}"
        yield subject.at(("params_total",), message, f"write it as printed, in parameters: {sizes[0][0]}e9")


@check("SUM016", "counts-within-counts", "model")
def counts_within_counts(subject: Subject) -> Iterator[Finding]:
    """A part must not exceed its whole (experts_per_token, dense_layers), and heads must divide by kv_heads."""
    values = printed(subject.value)
    for name in ("experts-within", "dense-layers-within", "window-layers-within"):
        outcome = apply(name, values)
        if outcome is not None and not outcome.holds:
            (small,), (large,) = outcome.identity.left, outcome.identity.right
            message = f"{small} {show(outcome.left)} is more than {large} {show(outcome.right)}"
            yield subject.at((small,), message, "the two may be swapped", also=[(large,)])
    groups = apply("groups-divide", values)
    if groups is not None and not groups.holds:
        message = f"heads {show(groups.left)} do not divide by kv_heads {show(groups.right)}"
        yield subject.at(("kv_heads",), message, "compare both with the source", also=[("heads",)])


LIKELY_PERCENT = (10, 100)
"""Numbers that a report prints as a percentage of the peak; 5.63 or 104 are something else."""


def share_tip(name: str, value: float) -> str:
    """A way out for a share above 1.

    >>> share_tip("mfu", 41)
    'write a fraction: mfu: 0.41'
    >>> share_tip("mfu", 1.04)
    'nothing exceeds its peak: look which peak the source divides by (dense or sparse, format, accelerator)'
    """
    if LIKELY_PERCENT[0] <= value <= LIKELY_PERCENT[1]:
        return f"write a fraction: {name}: {show(value / 100)}"
    return "nothing exceeds its peak: look which peak the source divides by (dense or sparse, format, accelerator)"


SHARES = frozenset({"mfu", "hfu", "goodput", "bubble"})


@check("SUM017", "share-within-one", "run")
def share_within_one(subject: Subject) -> Iterator[Finding]:
    """A share (mfu, hfu, goodput, bubble) is a fraction of 1, not a percentage."""
    for block in subject.blocks:
        for path, value in block.leaves():
            ends = value.values() if isinstance(value, dict) else [value]
            if path[-1] in SHARES and any(end > 1 for end in ends):
                message = f"{path[-1]} is {', '.join(show(end) for end in ends)}, which is more than the whole"
                yield subject.at((*block.path, *path), message, share_tip(str(path[-1]), max(ends)))


@check("SUM018", "sequences-per-replica", "run")
def sequences_per_replica(subject: Subject) -> Iterator[Finding]:
    """dp * sequences_per_dp must be global_batch, and micro_batch * microbatches be sequences_per_dp, where printed."""
    for path, phase in subject.phases():
        values = printed(phase) | phase.get("layout", {})
        places = [(*path, name) for name in ("sequences_per_dp", "global_batch", "micro_batch", "microbatches")]
        for name in ("batch-of-replicas", "replica-of-microbatches"):
            outcome = apply(name, values)
            if outcome is not None and not outcome.holds and not outcome.unknown:
                factors = " * ".join(f"{field} {show(value)}" for field, value in outcome.known.items())
                message = f"{factors} = {show(outcome.left)}, not {outcome.identity.right[0]} {show(outcome.right)}"
                also = [*places, (*path, "layout", "dp")]
                yield subject.at(places[0], message, "compare them with the source", also=also)
