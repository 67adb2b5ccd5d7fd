"""Does it fit? From a lower bound one can only say that it does not, or that it could."""

from __future__ import annotations

from analysis.records.spans import Span
from analysis.verdicts.registry import Case, Verdict, check, found, unstated

UNSTATED = " is not stated"


def cannot_tell(case: Case) -> Verdict:
    """The engine could not compute the layout; it says why."""
    lacks = str(case.get("engine_lacks", "the layout")).removeprefix("memory: ")
    names = [part.removesuffix(UNSTATED) for part in lacks.split("; ") if part.endswith(UNSTATED)]
    if len(names) == len(lacks.split("; ")):
        return unstated(names)
    return Verdict("unknown", f"Cannot be computed: {lacks}.", f"无法计算：{lacks}。", missing=lacks)


@check("states-fit", "phase")
def states_fit(case: Case) -> Verdict | None:
    """Weights, gradients and optimizer of the most loaded stage, at their least, against the card's memory."""
    if "accelerators" not in case:
        return None
    if "states_low_gib" not in case:
        return cannot_tell(case)
    states, card = case.need("states_low_gib", "card_gib")
    given = f" ({case.get('states_assumption')})" if "states_assumption" in case else ""
    shown = f"Model states take at least {states:.1f} GiB of the card's {card:.1f} GiB{given}"
    shown_zh = f"模型状态至少占 {states:.1f} GiB，单卡 {card:.1f} GiB"
    span = Span(states, states, card)
    if states > card:
        return found("impossible", f"{shown}: they do not fit", f"{shown_zh}，放不下", span, "GiB")
    return found("plausible", f"{shown}: they could fit", f"{shown_zh}，可能放得下", span, "GiB")


@check("memory-fit", "phase")
def memory_fit(case: Case) -> Verdict | None:
    """The modelled peak of the most loaded stage, activations included, against the card's memory."""
    if "accelerators" not in case:
        return None
    if "memory_gib" not in case:
        return cannot_tell(case)
    peak, low, high, card = case.need("memory_gib", "memory_gib_low", "memory_gib_high", "card_gib")
    given = f" with {case.get('modelled_with')} (not stated)" if "modelled_with" in case else ""
    shown = f"Modelled peak {peak:.1f} GiB ({low:.1f} to {high:.1f}) of {card:.1f} GiB{given}"
    shown_zh = f"模型估算峰值 {peak:.1f} GiB（{low:.1f}–{high:.1f}），单卡 {card:.1f} GiB"
    # A model of activations is no proof: only the states check may say impossible.
    if low > card:
        status, tail, tail_zh = "strained", "does not fit as stated", "按所述布局放不下"
    elif high > card:
        status, tail, tail_zh = "plausible", "fits only with care", "勉强放下"
    else:
        status, tail, tail_zh = "plausible", "could fit", "可能放得下"
    return found(status, f"{shown}: {tail}", f"{shown_zh}：{tail_zh}", Span(low, peak, high), "GiB")
