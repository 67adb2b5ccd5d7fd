"""Do utilisation, throughput and the pipeline agree?"""

from __future__ import annotations

from analysis.physics.bubble import utilisation_ceiling
from analysis.records.spans import Span, as_span
from analysis.records.throughput import tokens_per_s
from analysis.verdicts.registry import Case, MissingFactError, Values, Verdict, check, compare
from schemas.conventions import FLOP_FACTS
from schemas.reasons import cause_of

STRAINED_MFU = 0.65
"""No published dense run on production hardware is above this (docs/methodology.md, verdicts)."""

TYPICAL_MFU = 0.4
"""Middle of published dense runs; used only to guess which factor a utilisation above 1 is off by."""


def bounded(share: Span, values: Values) -> Verdict:
    """A utilisation against 1 and against what has been seen."""
    values = values | {"share": share.best, "limit": STRAINED_MFU}
    cause = cause_of(share.best / TYPICAL_MFU)
    if share.low > 1:
        return Verdict("impossible", "above-peak", values, share, "1", cause)
    if share.best > STRAINED_MFU:
        return Verdict("strained", "above-typical", values, share, "1", cause)
    return Verdict("plausible", "usual", values, share, "1")


@check("mfu-bound", "phase")
def mfu_bound(case: Case) -> Verdict | None:
    """A reported MFU or HFU is a share of the peak: above 1 it is impossible, above 0.65 strained."""
    name = next((key for key in ("reported_mfu", "reported_hfu") if key in case), None)
    if name is None:
        return None
    return bounded(as_span(case[name]), {"name": {"reported_mfu": "MFU", "reported_hfu": "HFU"}[name]})


@check("throughput-against-mfu", "phase", decisive=True, identity="share-of-rate")
def throughput_against_mfu(case: Case) -> Verdict | None:
    """TFLOP/s per accelerator over the peak is the utilisation printed beside it."""
    stated = case.get("reported_mfu", case.get("reported_hfu"))
    if "reported_tflops_per_accelerator" not in case or stated is None:
        return None
    tflops, share = as_span(case["reported_tflops_per_accelerator"]), as_span(stated)
    peak = float(case.get("reported_peak_tflops") or case.need("peak_tflops"))
    implied = tflops / peak
    status, ratio, cause = compare("share-of-rate", share, implied)
    values = {"tflops": tflops.best, "peak": peak, "implied": implied.best, "stated": share.best, "ratio": ratio}
    return Verdict(status, "compared", values, implied, "1", cause)


def counted_as(case: Case, basis: str | None) -> float:
    """FLOP per token in a convention, or in the nearest that is known where the convention is not stated."""
    for name in (basis or "", "causal", "6nd"):
        if FLOP_FACTS.get(name, "") in case:
            return float(case[FLOP_FACTS[name]])
    raise MissingFactError(["flop_6nd"])


@check("mfu-from-throughput", "phase", decisive=True, identity="share-of-throughput")
def mfu_from_throughput(case: Case) -> Verdict | None:
    """Tokens per second x FLOP per token over the peak, against the printed utilisation."""
    rate = tokens_per_s(case)
    if rate is None:
        return None
    accelerators, peak = case.need("accelerators", "peak_tflops")
    flop = counted_as(case, case.get("reported_mfu_basis"))
    implied = rate[0] * flop / (as_span(accelerators) * (float(peak) * 1e12))
    stated = case.get("reported_mfu", case.get("reported_hfu"))
    values = {"witness": rate[1], "rate": rate[0].best, "flop": flop}
    if stated is None:
        return bounded(implied, values)
    share = as_span(stated)
    status, ratio, cause = compare("share-of-throughput", share, implied)
    values |= {"share": implied.best, "stated": share.best, "ratio": ratio}
    return Verdict(status, "compared", values, implied, "1", cause)


def micro_batch_count(case: Case) -> float:
    """Micro-batches per step and data-parallel rank, stated or from the batch."""
    if "microbatches" in case:
        return float(case["microbatches"])
    micro = float(case.get("micro_batch", 1))
    if "sequences_per_dp" in case:
        return float(case["sequences_per_dp"]) / micro
    if "micro_batch" in case and "global_batch" in case and "dp" in case:
        return as_span(case["global_batch"]).best / (micro * float(case["dp"]))
    raise MissingFactError(["microbatches"])


@check("bubble-ceiling", "phase")
def bubble_ceiling(case: Case) -> Verdict | None:
    """The pipeline bubble alone caps utilisation; interleaving or another schedule lifts the cap."""
    if case.get("pp", 1) == 1:
        return None
    pp, count = case["pp"], micro_batch_count(case)
    ceiling = float(utilisation_ceiling(pp, count, case.get("vpp", 1)))
    cap = Span(0, ceiling, 1)
    values: Values = {"pp": pp, "count": count, "cap": ceiling}
    if "vpp" in case:
        return Verdict("plausible", "interleaved", values | {"vpp": case["vpp"]}, cap, "1")
    if "reported_mfu" not in case:
        return Verdict("plausible", "without-mfu", values, cap, "1")
    stated = as_span(case["reported_mfu"])
    inside = stated.best / ceiling
    values |= {"stated": stated.best, "inside": inside}
    schedule = case.get("schedule", "1f1b")
    if schedule not in ("1f1b", "gpipe"):
        return Verdict("plausible", "other-schedule", values | {"schedule": schedule}, cap, "1")
    if stated.low > ceiling:
        return Verdict("impossible", "interleaving-implied", values, cap, "1")
    strained = inside > STRAINED_MFU
    status, reason = ("strained", "interleaving-implied") if strained else ("plausible", "below-ceiling")
    return Verdict(status, reason, values, cap, "1")


@check("mfu-against-model", "phase", decisive=True)
def mfu_against_model(case: Case) -> Verdict | None:
    """The utilisation of the phase, in the causal convention, against what the engine expects of its layout."""
    if "causal_mfu" not in case or "modelled_mfu_low" not in case:
        return None
    stated = float(case["causal_mfu"])
    low, best, high = (float(case[f"modelled_mfu{end}"]) for end in ("_low", "", "_high"))
    values = {"stated": stated, "low": low, "high": high, "filled": case.get("modelled_with", {})}
    # Slower than expected is a slow stack; faster than expected is what a wrong number looks like.
    return Verdict("strained" if stated > high else "plausible", "compared", values, Span(low, best, high), "1")
