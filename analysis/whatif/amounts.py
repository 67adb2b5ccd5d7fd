"""What people ask of a step time: tokens per second, days, accelerator-hours, energy and cost of a run."""

from __future__ import annotations

from dataclasses import dataclass

from analysis.records.spans import Span
from schemas.units import HOURS_PER_DAY, SECONDS_PER_DAY

PUE = Span(1.1, 1.25, 1.5)
"""Energy of a site over that of its machines: hyperscale sites report 1.1 (Google 1.10, Meta 1.08 in 2023), the
industry 1.58 on average (Uptime Institute, Global Data Center Survey 2023, figure 1)."""

WATT_HOURS_PER_MWH = 1e6


@dataclass(frozen=True)
class Amounts:
    """What a run of some tokens takes; bounds are those of the step time.

    Attributes
    ----------
    tokens_per_s, tokens_per_s_each : of all accelerators, and of each [1/s]
    days, accelerator_hours : for the tokens [d], [h]; None without tokens
    energy_mwh : accelerators at their stated power, times PUE [MWh]; None without tokens or power
    cost : for the tokens at the price that was named; None without either
    """

    tokens_per_s: Span
    tokens_per_s_each: Span
    days: Span | None = None
    accelerator_hours: Span | None = None
    energy_mwh: Span | None = None
    cost: Span | None = None


def amounts(
    step_s: Span,
    tokens_per_step: float,
    accelerators: float,
    tokens: float | None = None,
    watts: float | None = None,
    price: float | None = None,
) -> Amounts:
    """Speeds and, with tokens, days, hours, energy and cost.

    Parameters
    ----------
    step_s
        Step time [s].
    tokens_per_step
        Sequences times length.
    accelerators
        Used at once.
    tokens
        Of the whole run.
    watts
        Power of one accelerator [W].
    price
        Of one accelerator-hour, in any currency.

    Examples
    --------
    >>> made = amounts(Span(10, 10, 10), 16e6, 16384, tokens=15.6e12, watts=700)
    >>> round(made.days.best, 1), f"{made.accelerator_hours.best:.3g}"
    (112.8, '4.44e+07')
    """
    rate = Span(tokens_per_step, tokens_per_step, tokens_per_step) / step_s
    each = rate * (1.0 / accelerators)
    if tokens is None:
        return Amounts(rate, each)
    days = step_s * (tokens / tokens_per_step / SECONDS_PER_DAY)
    hours = days * (HOURS_PER_DAY * accelerators)
    energy = None if watts is None else hours * PUE * (watts / WATT_HOURS_PER_MWH)
    return Amounts(rate, each, days, hours, energy, None if price is None else hours * price)
