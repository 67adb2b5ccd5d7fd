"""Does it fit the card? From a lower bound one can only tell that it does not, or that it could."""

from __future__ import annotations

from analysis.layout.reasons import UNSTATED
from analysis.records.spans import Span
from analysis.verdicts.registry import Case, MissingFactError, Verdict, check


def cannot_tell(case: Case) -> Verdict:
    """The engine could not compute the layout; it names the facts that it lacks, or what is wrong with them."""
    lacks = case.get("engine_lacks")
    if lacks is None:
        raise MissingFactError(["layout"])
    if all(reason.code == UNSTATED for reason in lacks):
        raise MissingFactError([reason.column for reason in lacks])
    return Verdict("unknown", "engine", {"lacks": [{"code": r.code, "field": r.column, **r.values} for r in lacks]})


@check("states-fit", "phase")
def states_fit(case: Case) -> Verdict | None:
    """Weights, gradients and optimizer of the most loaded stage, at their least, against the card's memory."""
    if "accelerators" not in case:
        return None
    if "states_low_gib" not in case:
        return cannot_tell(case)
    states, card = case.need("states_low_gib", "card_gib")
    status, reason = ("impossible", "too-large") if states > card else ("plausible", "could-fit")
    values = {"states": states, "card": card, "assumed": case.get("states_assumption", "none")}
    return Verdict(status, reason, values, Span(states, states, card), "GiB")


@check("memory-fit", "phase")
def memory_fit(case: Case) -> Verdict | None:
    """The modelled peak of the most loaded stage, activations included, against the card's memory."""
    if "accelerators" not in case:
        return None
    if "memory_gib" not in case:
        return cannot_tell(case)
    peak, low, high, card = case.need("memory_gib", "memory_gib_low", "memory_gib_high", "card_gib")
    # A model of activations is not proof: only the states check may say impossible.
    if low > card:
        status, reason = "strained", "too-large"
    else:
        status, reason = "plausible", "tight" if high > card else "could-fit"
    values = {"peak": peak, "low": low, "high": high, "card": card, "filled": case.get("modelled_with", {})}
    return Verdict(status, reason, values, Span(low, peak, high), "GiB")
