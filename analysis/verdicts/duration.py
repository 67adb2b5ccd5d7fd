"""Do step time, steps, batch and days of a phase agree?"""

from __future__ import annotations

from analysis.records.spans import as_span
from analysis.records.throughput import batch_tokens, tokens_per_s
from analysis.verdicts.registry import Case, Verdict, check, compare
from schemas.units import SECONDS_PER_DAY


@check("steps-against-days", "phase", decisive=True, identity="days-of-steps")
def steps_against_days(case: Case) -> Verdict | None:
    """Step time x steps fits into the days of the phase."""
    if not all(name in case for name in ("reported_step_time_s", "steps", "days")):
        return None
    step, steps, days = (as_span(case[name]) for name in ("reported_step_time_s", "steps", "days"))
    busy = step * steps / SECONDS_PER_DAY
    status, ratio, cause = compare("days-of-steps", days, busy)
    values = {"steps": steps.best, "step": step.best, "busy": busy.best, "days": days.best, "ratio": ratio}
    return Verdict(status, "compared", values, busy, "d", cause)


@check("throughput-against-step", "phase", decisive=True, identity="batch-of-throughput")
def throughput_against_step(case: Case) -> Verdict | None:
    """Tokens per second times the step time is the tokens of a batch."""
    batch = batch_tokens(case)
    rate = tokens_per_s(case)
    if "reported_step_time_s" not in case or batch is None or rate is None or rate[1] == "batch-over-step-time":
        return None
    step = as_span(case["reported_step_time_s"])
    product = rate[0] * step
    status, ratio, cause = compare("batch-of-throughput", batch, product)
    numbers = {"rate": rate[0], "step": step, "product": product, "batch": batch}
    values = {name: span.best for name, span in numbers.items()} | {"ratio": ratio}
    return Verdict(status, "compared", values, product, "tokens", cause)


def steps_times_batch(case: Case, batch_name: str) -> Verdict | None:
    """Steps x tokens per step against the tokens stated.

    With a batch ramp the product of the final batch is an upper bound; tokens beyond it cannot be.
    """
    if not all(name in case for name in ("steps", "tokens", batch_name)):
        return None
    steps, tokens, batch = (as_span(case[name]) for name in ("steps", "tokens", batch_name))
    product = steps * batch
    status, ratio, _ = compare("tokens-of-steps", tokens, product)
    numbers = {"steps": steps, "batch": batch, "product": product, "tokens": tokens}
    values = {name: span.best for name, span in numbers.items()} | {"ratio": ratio}
    cause = "smaller-first-batches" if ratio > 1 and status != "plausible" else None
    return Verdict(status, "compared", values, product, "tokens", cause)


@check("steps-against-batch", "phase", decisive=True, identity="tokens-of-steps")
def steps_against_batch(case: Case) -> Verdict | None:
    """Steps x batch of a phase is its token count."""
    return steps_times_batch(case, "global_batch_tokens")


@check("steps-against-tokens", "run", decisive=True, identity="tokens-of-steps")
def steps_against_tokens(case: Case) -> Verdict | None:
    """Steps x the largest batch of a run is its token count."""
    return steps_times_batch(case, "largest_batch_tokens")
