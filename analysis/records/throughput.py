"""Rates that a report's own numbers give: tokens per second, accelerator-hours, utilisation of a whole run."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.records.spans import Span, as_span

Facts = Mapping[str, Any]


def batch_tokens(facts: Facts) -> Span | None:
    """Tokens per optimizer step: sequences times length where both are stated, else the printed batch."""
    if "global_batch" in facts and "seq_len" in facts:
        return as_span(facts["global_batch"]) * float(facts["seq_len"])
    return as_span(facts["global_batch_tokens"]) if "global_batch_tokens" in facts else None


def tokens_per_s(facts: Facts) -> tuple[Span, str] | None:
    """Tokens per second of the whole phase [1/s] from what is printed, and the code of what it comes from."""
    if "reported_tokens_per_s" in facts:
        return as_span(facts["reported_tokens_per_s"]), "tokens-per-s"
    if "reported_tokens_per_s_per_accelerator" in facts and "accelerators" in facts:
        rate = as_span(facts["reported_tokens_per_s_per_accelerator"]) * as_span(facts["accelerators"])
        return rate, "tokens-per-s-per-accelerator"
    batch = batch_tokens(facts)
    if "reported_step_time_s" in facts and batch is not None:
        return batch / as_span(facts["reported_step_time_s"]), "batch-over-step-time"
    return None


def tokens_per_s_each(facts: Facts) -> Span | None:
    """Tokens per second and accelerator [1/s]; a rate printed per accelerator needs no count of them.

    >>> tokens_per_s_each({"reported_tokens_per_s_per_accelerator": 380}).best  # LLaMA, arXiv:2302.13971, section 2.4
    380
    """
    rate = tokens_per_s(facts)
    if rate is not None and "accelerators" in facts:
        return rate[0] / as_span(facts["accelerators"])
    if "reported_tokens_per_s_per_accelerator" in facts:
        return as_span(facts["reported_tokens_per_s_per_accelerator"])
    return None


def whole_hours(facts: Facts) -> Span:
    """Accelerator-hours [h] as printed, else accelerators x days x 24."""
    if "accelerator_hours" in facts:
        return as_span(facts["accelerator_hours"])
    return as_span(facts["accelerators"]) * as_span(facts["days"]) * 24.0


def implied_by_hours(tokens: Span, flop_per_token: float, hours: Span, peak_tflops: float) -> Span:
    """Utilisation that tokens and accelerator-hours imply.

    >>> round(implied_by_hours(Span(14.8e12, 14.8e12, 14.8e12), 249.81e9, as_span(2.664e6), 989.5).best, 3)
    0.39
    """
    return tokens * flop_per_token / (hours * 3600.0 * (peak_tflops * 1e12))
