"""What-if layouts that no training program would start, and options that change nothing: sentences with a way out."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

from schemas.identities import IDENTITIES, Outcome, apply, sequence_chunks

Row = dict[str, Any]


def contradictions(row: Row) -> Iterator[str]:
    """Sentences on why a complete layout cannot be run, each with a way out; none where it can.

    Parameters
    ----------
    row
        Architecture facts and a layout whose dp is known.

    >>> list(contradictions({"heads": 128, "tp": 7}))
    ['128 heads do not divide by TP 7; TP 8 divides them']
    >>> list(contradictions({"heads": 128, "tp": 8, "layers": 126, "pp": 16, "vpp": 8}))
    []
    """
    if int(row.get("ep", 1)) > 1 and not row.get("experts"):
        yield f"EP {row['ep']} cuts experts, and the model has none; leave ep at 1"
    facts = _facts(row)
    for name, words in SENTENCES.items():
        outcome = apply(name, facts)
        if outcome is not None and not outcome.holds and not _filled(outcome):
            yield words(row, outcome)


def _facts(row: Row) -> Row:
    """The row's facts, as the identities name them."""
    facts = {name: row[name] for name in row if row[name] is not None}
    facts["sequence_chunks"] = sequence_chunks(
        int(row.get("tp", 1)), int(row.get("cp", 1)), bool(row.get("sequence_parallel", False))
    )
    if not facts.get("experts"):
        facts.pop("experts", None)
    stages, layers = int(row.get("pp", 1)) * int(row.get("vpp", 1)), int(facts.get("layers", 0))
    if "layers_per_stage" in facts and stages <= layers + IDENTITIES["layers-divide"].excused:
        facts.pop("layers", None)  # the split is checked for itself
    kv, tp = facts.get("kv_heads"), int(row.get("tp", 1))
    if kv and tp % int(kv) == 0:
        del facts["kv_heads"]  # each group is repeated on some of the ranks
    return facts


def _filled(outcome: Outcome) -> bool:
    """Whether embedding, head or no-op layers can fill the places that are left over."""
    one = outcome.identity
    return one.excused > 0 and -outcome.left % outcome.right <= one.excused


def _nearest(whole: float, ranks: float, least: int = 1) -> int:
    """The divisor of a whole number, from a least one on, that is nearest to a number of ranks."""
    divisors = (part for part in range(least, int(whole) + 1) if int(whole) % part == 0)
    return min(divisors, key=lambda part: abs(part - ranks), default=1)


def _cut(noun: str, axis: str) -> Callable[[Row, Outcome], str]:
    def sentence(_: Row, one: Outcome) -> str:
        near = _nearest(one.left, one.right)
        return f"{one.left:g} {noun} do not divide by {axis} {one.right:g}; {axis} {near} divides them"

    return sentence


def _layers(row: Row, one: Outcome) -> str:
    pp, vpp = int(row.get("pp", 1)), int(row.get("vpp", 1))
    if one.right > one.left + IDENTITIES["layers-divide"].excused:
        return f"PP {pp} x VPP {vpp} = {one.right:g} stages for {one.left:g} layers; take fewer stages"
    stages = f"PP {pp} x VPP {vpp} = {one.right:g}" if vpp > 1 else f"PP {pp}"
    near = _nearest(one.left / pp, vpp, 2) if one.left % pp == 0 else 1
    other = f"VPP {near} divides them" if near > 1 and vpp > 1 else f"PP {_nearest(one.left, one.right)} divides them"
    return f"{one.left:g} layers do not divide by {stages}; {other}, or state the split with layers_per_stage"


def _batch(row: Row, one: Outcome) -> str:
    batch, share = int(one.left), int(one.right)
    near = max(1, round(batch / share)) * share
    product = f"DP {row['dp']} x micro-batch {row.get('micro_batch', 1)} = {share:,}"
    return f"a global batch of {batch:,} does not divide by {product}; the nearest that does: {near:,}"


def _sequence(_: Row, one: Outcome) -> str:
    near = max(1, round(one.left / one.right)) * one.right
    return (
        f"a sequence of {one.left:,g} tokens does not divide into {one.right:g} equal parts (two per CP rank, one per "
        f"TP rank with sequence parallelism); the nearest that does: {near:,.0f}"
    )


SENTENCES: dict[str, Callable[[Row, Outcome], str]] = {
    "heads-divide": _cut("heads", "TP"),
    "kv-heads-divide": _cut("KV heads", "TP"),
    "experts-divide": _cut("experts", "EP"),
    "layers-divide": _layers,
    "batch-divides": _batch,
    "sequence-divides": _sequence,
}
"""The identities that a what-if layout must obey, and how each is refused."""


def without_effect(stated: Row, row: Row) -> Iterator[str]:
    """Refusals of options that the layout cannot use.

    Parameters
    ----------
    stated
        What a person wrote.
    row
        The complete layout with the model's facts.

    >>> list(without_effect({"vpp": 4}, {"vpp": 4, "pp": 1}))
    ['vpp 4 changes nothing at PP 1; leave it out, or raise pp']
    """
    pp, dense = int(row.get("pp", 1)), not row.get("experts")
    if int(stated.get("vpp") or 1) > 1 and pp == 1:
        yield f"vpp {stated['vpp']} changes nothing at PP 1; leave it out, or raise pp"
    if stated.get("schedule") and pp == 1:
        yield f"schedule {stated['schedule']} changes nothing at PP 1; leave it out, or raise pp"
    if int(stated.get("etp") or 1) > 1 and dense:
        yield f"etp {stated['etp']} cuts experts, and the model has none; leave it out"
    if stated.get("sequence_parallel") and int(row.get("tp", 1)) == 1:
        yield "sequence_parallel changes nothing at TP 1; leave it out, or raise tp"
    if stated.get("layers_per_stage") and pp == 1:
        yield "layers_per_stage changes nothing at PP 1; leave it out, or raise pp"
