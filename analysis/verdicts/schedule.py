"""Do step time, steps, batch and days of a phase agree?"""

from __future__ import annotations

from analysis.records.spans import as_span
from analysis.verdicts.registry import BATCH_RAMP, Case, Verdict, check, compare, found, text_of

SECONDS_PER_DAY = 86400.0


@check("steps-against-days", "phase")
def steps_against_days(case: Case) -> Verdict | None:
    """Step time x steps fits into the days of the phase."""
    if not all(name in case for name in ("reported_step_time_s", "steps", "days")):
        return None
    step, steps, days = (as_span(case.get(name)) for name in ("reported_step_time_s", "steps", "days"))
    busy = step * steps / SECONDS_PER_DAY
    status, ratio, cause = compare(days, busy, near=(0.5, 1.1), possible=(0.25, 1.6))
    said = f"{text_of(steps)} x {step.best:g} s = {busy.best:.3g} d"
    return found(
        status,
        f"{said}; {days.best:g} days are stated (ratio {ratio:.3g})",
        f"{said}；所述 {days.best:g} 天（比值 {ratio:.3g}）",
        busy,
        "d",
        cause,
    )


def steps_times_batch(case: Case, batch_name: str) -> Verdict | None:
    """Steps x tokens per step against the tokens stated.

    With a batch ramp the product of the final batch is an upper bound; tokens beyond it cannot be.
    """
    if not all(name in case for name in ("steps", "tokens", batch_name)):
        return None
    steps, tokens, batch = (as_span(case.get(name)) for name in ("steps", "tokens", batch_name))
    product = steps * batch
    status, ratio, _ = compare(tokens, product, near=(0.94, 1.07), possible=(0.93, 4.0))
    said = f"{text_of(steps)} x {text_of(batch)} = {text_of(product)}"
    return found(
        status,
        f"{said} tokens by steps x batch; {text_of(tokens)} are stated (ratio {ratio:.3g})",
        f"步数 x 批量：{said}；所述 {text_of(tokens)}（比值 {ratio:.3g}）",
        product,
        "tokens",
        BATCH_RAMP if ratio > 1 and status != "plausible" else None,
    )


@check("steps-against-batch", "phase")
def steps_against_batch(case: Case) -> Verdict | None:
    """Steps x batch of a phase is its token count."""
    return steps_times_batch(case, "global_batch_tokens")


@check("steps-against-tokens", "run")
def steps_against_tokens(case: Case) -> Verdict | None:
    """Steps x the largest batch of a run is its token count."""
    return steps_times_batch(case, "largest_batch_tokens")
