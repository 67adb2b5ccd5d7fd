"""Every printed speed brought to one convention: model FLOP utilisation against the dense half-precision peak."""

from __future__ import annotations

from analysis.records.facts import Facts
from analysis.records.spans import as_span
from analysis.records.throughput import implied_by_hours, tokens_per_s_each, whole_hours
from schemas.conventions import FLOP_FACTS

Implied = tuple[float, str]


def of_phase(facts: Facts, convention: str) -> Implied | None:
    """MFU of a phase in a convention and what it comes from: throughput, reported tflops or reported mfu.

    Throughput needs no convention, so it comes first. A printed TFLOP/s or MFU is converted by the ratio of FLOP per
    token in both conventions; one whose convention nobody states is not converted.
    """
    flop = facts.get(FLOP_FACTS[convention])
    if flop is None or "peak_tflops" not in facts:
        return None
    peak = float(facts["peak_tflops"])
    each = tokens_per_s_each(facts)
    if each is not None:
        return each.best * flop / (peak * 1e12), "throughput"
    counted = facts.get(FLOP_FACTS.get(facts.get("reported_mfu_basis", ""), ""))
    if counted is None:
        return None
    if "reported_tflops_per_accelerator" in facts:
        return as_span(facts["reported_tflops_per_accelerator"]).best / peak * flop / counted, "reported tflops"
    stated = facts.get("reported_mfu", facts.get("reported_hfu"))
    if stated is None:
        return None
    own_peak = float(facts.get("reported_peak_tflops", peak))
    return as_span(stated).best * own_peak / peak * flop / counted, "reported mfu"


def of_run(facts: Facts, convention: str) -> Implied | None:
    """MFU of the whole run from tokens and accelerator-hours: idle and lost time included."""
    flop = facts.get(FLOP_FACTS[convention])
    timed = "accelerator_hours" in facts or ("days" in facts and "accelerators" in facts)
    if flop is None or not timed or "tokens" not in facts or "peak_tflops" not in facts:
        return None
    peak = float(facts["peak_tflops"])
    return implied_by_hours(as_span(facts["tokens"]), flop, whole_hours(facts), peak).best, "accelerator-hours"
