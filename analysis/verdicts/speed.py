"""Do utilisation, throughput and the pipeline tell one story?"""

from __future__ import annotations

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, MissingFactError, Verdict, check, compare, found, hint, percent, text_of

STRAINED_MFU = 0.65
"""Above this no published dense run stands on hardware in production (docs/methodology.md, verdicts)."""

TYPICAL_MFU = 0.4
"""Middle of published dense runs; used only to guess which factor a utilisation above 1 is off by."""

CONVENTIONS = {
    "6nd": "flop_6nd",
    "model-flops": "flop_model",
    "causal": "flop_causal",
    "hardware-flops": "flop_hardware",
}


def bounded(share: Span, subject: str, subject_zh: str) -> Verdict:
    """A utilisation against 1 and against what has been seen."""
    shown, shown_zh = f"{subject} is {percent(share)}", f"{subject_zh} 为 {percent(share)}"
    cause = hint(share.best / TYPICAL_MFU)
    if share.low > 1:
        return found("impossible", f"{shown}, more than the peak", f"{shown_zh}，超过峰值", share, "1", cause)
    if share.best > STRAINED_MFU:
        limit = percent(STRAINED_MFU)
        return found("strained", f"{shown}, above {limit}", f"{shown_zh}，高于 {limit}", share, "1", cause)
    return found("plausible", shown, shown_zh, share, "1")


@check("mfu-bound", "phase")
def mfu_bound(case: Case) -> Verdict | None:
    """A reported MFU or HFU is a share of the peak: above 1 it is impossible, above 0.65 strained."""
    name = next((key for key in ("reported_mfu", "reported_hfu") if key in case), None)
    if name is None:
        return None
    label = name.removeprefix("reported_").upper()
    return bounded(as_span(case.get(name)), f"Reported {label}", f"报告的 {label}")


@check("throughput-against-mfu", "phase")
def throughput_against_mfu(case: Case) -> Verdict | None:
    """TFLOP/s per accelerator over the peak is the utilisation printed beside it."""
    stated = case.get("reported_mfu", case.get("reported_hfu"))
    if "reported_tflops_per_accelerator" not in case or stated is None:
        return None
    tflops = as_span(case.get("reported_tflops_per_accelerator"))
    peak = float(case.get("reported_peak_tflops") or case.need("peak_tflops"))
    implied = tflops / peak
    status, ratio, cause = compare(as_span(stated), implied, near=(0.97, 1.03), possible=(0.72, 1.4))
    equation = f"{text_of(tflops)} / {text_of(peak)} TFLOP/s = {percent(implied)}"
    return found(
        status,
        f"{equation}; {percent(as_span(stated))} is printed (ratio {ratio:.3g})",
        f"{equation}；所述为 {percent(as_span(stated))}（比值 {ratio:.3g}）",
        implied,
        "1",
        cause,
    )


def batch_tokens(case: Case) -> Span | None:
    """Tokens per optimizer step: sequences times length where both stand, else the printed batch."""
    if "global_batch" in case and "seq_len" in case:
        return as_span(case.get("global_batch")) * float(case.get("seq_len"))
    return as_span(case.get("global_batch_tokens")) if "global_batch_tokens" in case else None


def tokens_per_s(case: Case) -> tuple[Span, str] | None:
    """Tokens per second of the whole phase from what is printed, with the fields it came from."""
    if "reported_tokens_per_s" in case:
        return as_span(case.get("reported_tokens_per_s")), "tokens per second"
    if "reported_tokens_per_s_per_accelerator" in case and "accelerators" in case:
        rate = as_span(case.get("reported_tokens_per_s_per_accelerator")) * as_span(case.get("accelerators"))
        return rate, "tokens per second and accelerator"
    batch = batch_tokens(case)
    if "reported_step_time_s" in case and batch is not None:
        return batch / as_span(case.get("reported_step_time_s")), "tokens per step over step time"
    return None


def counted_as(case: Case, basis: str | None) -> tuple[float, str]:
    """FLOP per token in a convention, and its name; the nearest that is known where the convention is not stated."""
    name = CONVENTIONS.get(basis or "", "")
    if name in case:
        return case.get(name), str(basis)
    for label in ("causal", "6nd"):
        if CONVENTIONS[label] in case:
            return case.get(CONVENTIONS[label]), label
    raise MissingFactError(["flop_6nd"])


@check("mfu-from-throughput", "phase")
def mfu_from_throughput(case: Case) -> Verdict | None:
    """Tokens per second x FLOP per token over the peak, against the printed utilisation."""
    rate = tokens_per_s(case)
    if rate is None:
        return None
    accelerators, peak = case.need("accelerators", "peak_tflops")
    flop = float(counted_as(case, case.get("reported_mfu_basis"))[0])
    implied = rate[0] * flop / (as_span(accelerators) * (float(peak) * 1e12))
    stated = case.get("reported_mfu", case.get("reported_hfu"))
    subject = f"MFU from {rate[1]} ({text_of(rate[0])} tokens/s x {text_of(flop)} FLOP)"
    if stated is None:
        return bounded(implied, subject, f"由吞吐（{text_of(rate[0])} token/s x {text_of(flop)} FLOP）推得的 MFU")
    status, ratio, cause = compare(as_span(stated), implied, near=(0.9, 1.1), possible=(0.6, 1.6))
    return found(
        status,
        f"{subject} is {percent(implied)}; {percent(as_span(stated))} is printed (ratio {ratio:.3g})",
        f"由吞吐推得 MFU {percent(implied)}；所述为 {percent(as_span(stated))}（比值 {ratio:.3g}）",
        implied,
        "1",
        cause,
    )


def micro_batch_count(case: Case) -> float:
    """Micro-batches per step and data-parallel rank, stated or from the batch."""
    if "microbatches" in case:
        return float(case.get("microbatches"))
    micro = float(case.get("micro_batch", 1))
    if "sequences_per_dp" in case:
        return float(case.get("sequences_per_dp")) / micro
    if "micro_batch" in case and "global_batch" in case and "dp" in case:
        return as_span(case.get("global_batch")).best / (micro * float(case.get("dp")))
    raise MissingFactError(["microbatches"])


@check("bubble-ceiling", "phase")
def bubble_ceiling(case: Case) -> Verdict | None:
    """The pipeline bubble alone caps utilisation; interleaving or another schedule lifts the cap."""
    if case.get("pp", 1) == 1:
        return None
    pp, count = case.get("pp"), micro_batch_count(case)
    ceiling = 1 / (1 + (pp - 1) / (count * case.get("vpp", 1)))
    cap = Span(0, ceiling, 1)
    shown = f"PP {pp} with {count:g} micro-batches caps utilisation at {percent(ceiling)}"
    shown_zh = f"PP {pp}、{count:g} 个微批，利用率上限 {percent(ceiling)}"
    if "vpp" in case:
        return found("plausible", f"{shown} at {case.get('vpp')} virtual stages", shown_zh, cap, "1")
    schedule = case.get("schedule", "1f1b")
    if "reported_mfu" not in case:
        return found("plausible", f"Without interleaving {shown}", f"若不交错，{shown_zh}", cap, "1")
    stated = as_span(case.get("reported_mfu"))
    inside = stated.best / cap.best
    said = f"Without interleaving {shown}; the printed {percent(stated)} needs {percent(inside)} of that"
    said_zh = f"若不交错，{shown_zh}；所述 {percent(stated)} 要求其中的 {percent(inside)}"
    if schedule not in ("1f1b", "gpipe"):
        return found(
            "plausible", f"{said}, and the schedule is {schedule}", f"{said_zh}，其调度为 {schedule}", cap, "1"
        )
    beyond = "strained" if inside > STRAINED_MFU else "plausible"
    status = "impossible" if stated.low > cap.best else beyond
    implied, implied_zh = (
        ("", "") if status == "plausible" else (", so interleaving is implied", "，意味着用了交错调度")
    )
    return found(status, said + implied, said_zh + implied_zh, cap, "1")


@check("mfu-against-model", "phase")
def mfu_against_model(case: Case) -> Verdict | None:
    """The utilisation of the phase, in the causal convention, against what the engine expects of its layout."""
    if "causal_mfu" not in case or "modelled_mfu_low" not in case:
        return None
    stated = float(case.get("causal_mfu"))
    low, best, high = (float(case.get(f"modelled_mfu{end}")) for end in ("_low", "", "_high"))
    given = f" with {case.get('modelled_with')} (not stated)" if "modelled_with" in case else ""
    shown = f"{percent(stated)} with causal attention; the engine expects {percent(low)} to {percent(high)}{given}"
    shown_zh = f"因果口径 {percent(stated)}；引擎预期 {percent(low)}–{percent(high)}"
    # Slower than expected is a slow stack; faster than expected is what a wrong number looks like.
    return found("strained" if stated > high else "plausible", shown, shown_zh, Span(low, best, high), "1")


def implied_by_hours(tokens: Span, flop_per_token: float, hours: Span, peak_tflops: float) -> Span:
    """Utilisation that tokens and accelerator-hours imply.

    >>> round(implied_by_hours(Span(14.8e12, 14.8e12, 14.8e12), 249.81e9, as_span(2.664e6), 989.5).best, 3)
    0.39
    """
    return tokens * flop_per_token / (hours * 3600.0 * (peak_tflops * 1e12))
