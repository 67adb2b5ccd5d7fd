"""Does the run as a whole add up: tokens, compute, accelerator-hours, days?"""

from __future__ import annotations

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Verdict, check, compare, found, hint, percent, text_of
from analysis.verdicts.speed import CONVENTIONS, implied_by_hours

HIGHEST_WHOLE_RUN = 0.57
"""No run on record prints a higher steady state (Skywork-13B 56.5%, arXiv:2310.19341); short benchmarks reach 65%, and
a whole run holds lost time as well."""

LOWEST_MFU = 0.08
"""Whole runs below this lost most of their time to something that the record should name."""


@check("compute-against-6nd", "run")
def compute_against_6nd(case: Case) -> Verdict | None:
    """The stated compute against tokens x FLOP per token in the convention that the source names (6ND if none)."""
    if "compute_flop" not in case:
        return None
    stated, tokens = as_span(case.get("compute_flop")), as_span(case.need("tokens"))
    stated_basis = case.get("compute_basis", "6nd")
    basis = stated_basis if CONVENTIONS.get(stated_basis, "") in case else "6nd"
    computed = tokens * float(case.need(CONVENTIONS[basis]))
    status, ratio, cause = compare(stated, computed, near=(0.83, 1.18), possible=(0.49, 2.05))
    said, made = text_of(stated), text_of(computed)
    return found(
        status,
        f"{said} FLOP stated, {made} from tokens x FLOP per token ({basis}): ratio {ratio:.3g}",
        f"所述 {said} FLOP；token 数 x 每 token FLOP（{basis}）为 {made}，比值 {ratio:.3g}",
        computed,
        "FLOP",
        cause,
    )


@check("mfu-from-hours", "run")
def mfu_from_hours(case: Case) -> Verdict | None:
    """Tokens x FLOP per token over accelerator-hours x peak: the utilisation of the whole run."""
    if "accelerator_hours" not in case and not ("days" in case and "accelerators" in case):
        return None
    tokens, flop, peak = case.need("tokens", "flop_best", "peak_tflops")
    hours = whole_hours(case)
    implied = implied_by_hours(as_span(tokens), float(flop), hours, float(peak))
    numbers = f"{text_of(tokens)} x {text_of(flop)} FLOP / ({text_of(hours)} h x {text_of(peak)} TFLOP/s)"
    shown, shown_zh = f"{numbers} = {percent(implied)}", f"{numbers} = {percent(implied)}"
    ceiling = float(case.get("peak_precision_tflops", peak)) / float(peak)
    if implied.low > ceiling:
        tail, tail_zh, status = "more than the peak allows", "超过峰值", "impossible"
    elif implied.best > HIGHEST_WHOLE_RUN * ceiling:
        tail, tail_zh, status = "more than any run has sustained", "高于任何已知训练", "strained"
    else:
        return _beside_steady_state(case, implied, shown)
    return found(status, f"{shown}: {tail}", f"{shown_zh}：{tail_zh}", implied, "1", hint(implied.best / 0.4))


def _beside_steady_state(case: Case, implied: Span, shown: str) -> Verdict:
    """The whole run cannot beat its own steady state; far below it there is something to explain."""
    if "reported_mfu" not in case:
        status = "plausible" if implied.best > LOWEST_MFU else "strained"
        return found(status, f"{shown} over the whole run", f"{shown}（全程）", implied, "1")
    steady = as_span(case.get("reported_mfu"))
    ratio = implied.best / steady.best
    status = "plausible" if 0.55 < ratio < 1.15 else "strained"
    cause = None if status == "plausible" else hint(ratio)
    why = f"{shown} over the whole run; {percent(steady)} is printed for the steady state"
    return found(status, why, f"{shown}（全程）；稳态所述为 {percent(steady)}", implied, "1", cause)


def whole_hours(case: Case) -> Span:
    """Accelerator-hours as printed, else accelerators x days x 24."""
    if "accelerator_hours" in case:
        return as_span(case.get("accelerator_hours"))
    return as_span(case.get("accelerators")) * as_span(case.get("days")) * 24.0


@check("hours-against-days", "run")
def hours_against_days(case: Case) -> Verdict | None:
    """Accelerator-hours are at most accelerators x days x 24; well below it, the days hold interruptions."""
    if not all(name in case for name in ("accelerator_hours", "days", "accelerators")):
        return None
    hours, days, count = (as_span(case.get(name)) for name in ("accelerator_hours", "days", "accelerators"))
    most = count * days * 24.0
    status, ratio, cause = compare(hours, most, near=(0.9, 2.0), possible=(0.6, 5.0))
    said = f"{text_of(count)} x {days.best:g} d x 24"
    return found(
        status,
        f"{said} = {text_of(most)} h; {text_of(hours)} accelerator-hours are stated (ratio {ratio:.3g})",
        f"{said} = {text_of(most)} 小时；所述 {text_of(hours)} 卡时（比值 {ratio:.3g}）",
        most,
        "h",
        cause,
    )


@check("release-order", "run")
def release_order(case: Case) -> Verdict | None:
    """A model cannot be released before the accelerator it was trained on."""
    if "accelerator_released" not in case or "released" not in case:
        return None
    run, part = case.get("released"), case.get("accelerator_released")
    if run >= part:
        return found(
            "plausible", f"Released {run}, after the accelerator ({part})", f"发布于 {run}，晚于加速卡（{part}）"
        )
    return found("strained", f"Released {run}, before the accelerator ({part})", f"发布于 {run}，早于加速卡（{part}）")
