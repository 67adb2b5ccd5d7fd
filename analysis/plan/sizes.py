"""Plans over numbers of accelerators: ranges, deadlines, prices and budgets."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace

from analysis.plan.question import EmptySpaceError, Question
from analysis.plan.ranking import Plan, plan
from analysis.records.load import Catalogue
from analysis.records.spans import Span
from analysis.whatif.amounts import Amounts, amounts
from analysis.whatif.fit import chip_figures
from schemas.refusal import RefusalError

MOST_SIZES = 24


@dataclass(frozen=True)
class Price:
    """Of one accelerator-hour."""

    amount: float
    currency: str


@dataclass(frozen=True)
class Wishes:
    """What a plan has to meet: tokens of the run, price of an accelerator-hour, days, money."""

    tokens: float | None = None
    price: Price | None = None
    deadline: float | None = None
    budget: float | None = None


def parse_price(text: str | None) -> Price | None:
    """A price with its currency.

    Raises
    ------
    RefusalError
        No currency, or no number.

    >>> parse_price("2.50 USD")
    Price(amount=2.5, currency='USD')
    """
    if text is None:
        return None
    written = re.fullmatch(r"\s*([A-Za-z€$£¥]*)\s*(\d+(?:\.\d+)?)\s*([A-Za-z€$£¥]*)(?:\s*/\s*h(?:our)?)?\s*", text)
    currency = (written[1] or written[3]) if written else ""
    if written is None or not currency:
        raise RefusalError(
            f"--price takes an amount per accelerator-hour with its currency, such as '2.50 USD', not {text!r}"
        )
    return Price(float(written[2]), currency)


def parse_sizes(text: str) -> list[int]:
    """Numbers of accelerators: one, a list, or a range that doubles.

    Raises
    ------
    RefusalError
        Not written so.

    >>> parse_sizes("1024"), parse_sizes("256..2048"), parse_sizes("8,16")
    ([1024], [256, 512, 1024, 2048], [8, 16])
    """
    plain = text.replace("_", "").strip()
    span = re.fullmatch(r"(\d{1,8})\s*\.\.\s*(\d{1,8})", plain)
    if span:
        first, last = int(span[1]), int(span[2])
        sizes = [first * 2**n for n in range(MOST_SIZES) if first * 2**n < last] + [last]
    elif re.fullmatch(r"\d{1,8}(?:\s*,\s*\d{1,8})*", plain):
        sizes = [int(one) for one in plain.split(",")]
    else:
        sizes = []
    if not sizes or min(sizes) < 1:
        raise RefusalError(f"--accelerators takes a number such as 1024, or a range such as 256..4096, not {text!r}")
    return sizes


def sweep(question: Question, sizes: Sequence[int], catalogue: Catalogue) -> list[Plan]:
    """A plan for each size; sizes without a layout are left out.

    Raises
    ------
    EmptySpaceError
        No size has one; what keeps the largest from it.
    """
    plans: list[Plan] = []
    failed: EmptySpaceError | None = None
    for size in sizes:
        try:
            plans.append(plan(replace(question, accelerators=size), catalogue))
        except EmptySpaceError as error:
            failed = error
    if not plans and failed is not None:
        raise failed
    return plans


def takes(one: Plan, wishes: Wishes, catalogue: Catalogue) -> Amounts:
    """What the run takes with the fastest layout of a plan."""
    best, ask = one.ranked.iloc[0], one.question
    step = Span(*(float(best[f"step_time_s{end}"]) for end in ("_low", "", "_high")))
    watts = chip_figures(ask.accelerator, catalogue).get("tdp", float("nan"))
    per_step = float(ask.global_batch) * ask.seq_len
    price = None if wishes.price is None else wishes.price.amount
    known = watts if watts == watts else None
    return amounts(step, per_step, ask.accelerators, wishes.tokens, known, price)


def chosen(plans: Sequence[Plan], wishes: Wishes, catalogue: Catalogue) -> Plan:
    """The smallest cluster in time, the fastest within the budget, else the largest.

    Raises
    ------
    RefusalError
        A wish that no plan meets, or that lacks the tokens or the price that it is about.
    """
    if (wishes.deadline is not None or wishes.budget is not None) and wishes.tokens is None:
        raise RefusalError("--deadline and --budget are about a run; add --tokens")
    if wishes.budget is not None and wishes.price is None:
        raise RefusalError("--budget needs --price, such as '2.50 USD'")
    left = list(plans)
    if wishes.budget is not None:
        paid = [(one, cost) for one in plans if (cost := takes(one, wishes, catalogue).cost) is not None]
        left = [one for one, cost in paid if cost.best <= wishes.budget]
        if not left:
            least, currency = min(cost.best for _, cost in paid), wishes.price.currency if wishes.price else ""
            raise RefusalError(f"the cheapest of {len(plans)} sizes costs {least:,.0f} {currency}; raise --budget")
    if wishes.deadline is None:
        return left[-1]
    in_time = [one for one in left if (days := takes(one, wishes, catalogue).days) and days.best <= wishes.deadline]
    if not in_time:
        spans = [days for one in left if (days := takes(one, wishes, catalogue).days) is not None]
        raise RefusalError(
            f"the fastest of {len(left)} sizes takes {min(span.best for span in spans):.1f} days; "
            "give more accelerators, or a later --deadline"
        )
    return in_time[0]
