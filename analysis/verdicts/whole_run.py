"""Does the run as a whole add up: tokens, compute, accelerator-hours, days?"""

from __future__ import annotations

from analysis.records.spans import Span, as_span
from analysis.records.throughput import implied_by_hours, whole_hours
from analysis.verdicts.registry import Case, Values, Verdict, check, compare
from analysis.verdicts.utilisation import TYPICAL_MFU
from schemas.conventions import FLOP_FACTS
from schemas.reasons import cause_of
from schemas.units import HOURS_PER_DAY

HIGHEST_WHOLE_RUN = 0.57
"""No run on record prints a higher steady state (Skywork-13B 56.5%, arXiv:2310.19341); short benchmarks reach 65%, and
a whole run includes lost time as well."""

LOWEST_MFU = 0.08
"""Whole runs below this lost most of their time to something that the record should name."""


@check("compute-against-6nd", "run", decisive=True, identity="compute-of-tokens")
def compute_against_6nd(case: Case) -> Verdict | None:
    """The stated compute against tokens x FLOP per token in the convention that the source names (6ND if none)."""
    if "compute_flop" not in case:
        return None
    stated, tokens = as_span(case["compute_flop"]), as_span(case.need("tokens"))
    stated_basis = case.get("compute_basis", "6nd")
    basis = stated_basis if FLOP_FACTS.get(stated_basis, "") in case else "6nd"
    computed = tokens * float(case.need(FLOP_FACTS[basis]))
    status, ratio, cause = compare("compute-of-tokens", stated, computed)
    values = {"stated": stated.best, "computed": computed.best, "basis": basis, "ratio": ratio}
    return Verdict(status, "compared", values, computed, "FLOP", cause)


@check("mfu-from-hours", "run", decisive=True)
def mfu_from_hours(case: Case) -> Verdict | None:
    """Tokens x FLOP per token over accelerator-hours x peak: the utilisation of the whole run."""
    if "accelerator_hours" not in case and not ("days" in case and "accelerators" in case):
        return None
    tokens, flop, peak = case.need("tokens", "flop_best", "peak_tflops")
    tokens, hours = as_span(tokens), whole_hours(case)
    implied = implied_by_hours(tokens, float(flop), hours, float(peak))
    numbers = {"tokens": tokens.best, "flop": flop, "hours": hours.best, "peak": peak, "share": implied.best}
    ceiling = float(case.get("peak_precision_tflops", peak)) / float(peak)
    cause = cause_of(implied.best / TYPICAL_MFU)
    if implied.low > ceiling:
        return Verdict("impossible", "above-peak", numbers, implied, "1", cause)
    if implied.best > HIGHEST_WHOLE_RUN * ceiling:
        return Verdict("strained", "above-record", numbers, implied, "1", cause)
    return _beside_steady_state(case, implied, numbers)


def _beside_steady_state(case: Case, implied: Span, numbers: Values) -> Verdict:
    """The whole run cannot beat its own steady state; far below it there is something to explain."""
    if "reported_mfu" not in case:
        status = "plausible" if implied.best > LOWEST_MFU else "strained"
        return Verdict(status, "whole-run", numbers, implied, "1")
    steady = as_span(case["reported_mfu"])
    ratio = implied.best / steady.best
    status = "plausible" if 0.55 < ratio < 1.15 else "strained"
    cause = None if status == "plausible" else cause_of(ratio)
    return Verdict(status, "beside-steady-state", numbers | {"steady": steady.best}, implied, "1", cause)


@check("hours-against-days", "run", decisive=True, identity="hours-of-days")
def hours_against_days(case: Case) -> Verdict | None:
    """Accelerator-hours are at most accelerators x days x 24; well below it, the days hold interruptions."""
    if not all(name in case for name in ("accelerator_hours", "days", "accelerators")):
        return None
    hours, days, count = (as_span(case[name]) for name in ("accelerator_hours", "days", "accelerators"))
    most = count * days * 24.0
    status, ratio, cause = compare("hours-of-days", hours, most)
    numbers = {"accelerators": count, "days": days, "most": most, "hours": hours}
    values = {name: span.best for name, span in numbers.items()} | {"ratio": ratio}
    return Verdict(status, "compared", values, most, "h", cause)


LONGEST_DAYS = 120
"""BLOOM took 118 days (arXiv:2211.05100, section 3.4), AlexaTM 20B 120 (arXiv:2208.01448, section 3); beyond that hours
of several runs may be added up."""


@check("days-from-hours", "run")
def days_from_hours(case: Case) -> Verdict | None:
    """Accelerator-hours over accelerators are the days of the run, where none are printed."""
    if "days" in case or not all(name in case for name in ("accelerator_hours", "accelerators")):
        return None
    hours, count = as_span(case["accelerator_hours"]), as_span(case["accelerators"])
    days = hours / (count * HOURS_PER_DAY)
    status, reason = ("plausible", "usual") if days.low <= LONGEST_DAYS else ("strained", "long")
    values = {"hours": hours.best, "accelerators": count.best, "days": days.best, "longest": LONGEST_DAYS}
    return Verdict(status, reason, values, days, "d")


@check("release-order", "run")
def release_order(case: Case) -> Verdict | None:
    """A model cannot be released before the accelerator it was trained on."""
    if "accelerator_released" not in case or "released" not in case:
        return None
    run, accelerator = str(case["released"]), str(case["accelerator_released"])
    status, reason = ("plausible", "after") if run >= accelerator else ("strained", "before")
    return Verdict(status, reason, {"run": run, "accelerator": accelerator})
