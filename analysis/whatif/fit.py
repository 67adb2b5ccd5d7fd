"""What-if: does a layout fit, where do its bytes and seconds go, and what limits it; one or several side by side."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.engine.breakdown import Breakdown, break_down, states_gib
from analysis.layout.columns import MODEL, in_base_units
from analysis.layout.from_record import leanest
from analysis.records.facts import Facts
from analysis.records.load import Catalogue
from analysis.records.spans import Span
from analysis.whatif.amounts import Amounts, amounts
from analysis.whatif.completion import LayoutError, complete
from analysis.whatif.divisibility import contradictions, without_effect
from analysis.whatif.neighbours import Neighbour
from analysis.whatif.remarks import assumed, remarks, unknown_software
from analysis.whatif.sensitivity import Flip
from schemas.capacity import GIB

Row = dict[str, Any]
EXIT_CODES = {"could-fit": 0, "does-not-fit": 1, "unknown": 3}


@dataclass(frozen=True)
class Fit:
    """One layout, what the engine finds, and what follows from it in words."""

    layout: Row
    breakdown: Breakdown
    card_gib: float
    states: float | None
    verdict: str
    why: str
    remarks: list[str]
    amounts: Amounts | None = None
    peak_tflops: float = float("nan")
    nearest: list[Neighbour] = field(default_factory=list)
    flips: list[Flip] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and texts; what is not known is null."""
        step = {name: _plain(value) for name, value in self.breakdown.prediction.items() if name != "id"}
        stages = self.breakdown.memory_gib
        return {
            "layout": {k: v for k, v in self.layout.items() if k not in MODEL and k != "id"},
            "verdict": self.verdict,
            "why": self.why,
            "card_gib": _plain(self.card_gib),
            "states_at_least_gib": self.states,
            **step,
            "mfu_divides_by_tflops": _plain(self.peak_tflops),
            "amounts": amounts_json(self.amounts),
            "memory_gib_by_stage": {part: [round(float(v), 4) for v in stages[part]] for part in stages},
            "seconds_by_part": self.breakdown.seconds,
            "communication": [link.__dict__ for link in self.breakdown.traffic],
            "remarks": self.remarks,
            "flips": [flip.__dict__ for flip in self.flips],
            "nearest_measured": [{k: _plain(v) for k, v in one.__dict__.items()} for one in self.nearest],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


def amounts_json(made: Amounts | None) -> dict[str, Any] | None:
    """Amounts as plain numbers with their bounds; null where they are not known."""
    if made is None:
        return None
    spans = {name: value for name, value in made.__dict__.items() if value is not None}
    return {name: {"low": span.low, "best": span.best, "high": span.high} for name, span in spans.items()}


def fit(model: Facts, layout: Row, catalogue: Catalogue, tokens: float | None = None) -> Fit:
    """Judge one layout of one model.

    Parameters
    ----------
    model
        Architecture facts.
    layout
        Columns of a layout row; see `complete` for what is derived.
    catalogue
        Accelerators and constants.
    tokens
        Of the whole run, where days, hours and energy are wanted.

    Raises
    ------
    LayoutError
        The degrees do not multiply, or do not divide what they cut.
    """
    row = {name: model[name] for name in MODEL if name in model} | complete(layout) | {"id": "fit"}
    wrong = [*without_effect(layout, row), *contradictions(row)]
    if wrong:
        raise LayoutError("; ".join(wrong))
    breakdown = break_down(row, catalogue)
    states = states_gib([leanest(row)[0]], catalogue)[0]
    card = card_gib(str(row["accelerator"]), catalogue)
    verdict, why = _judge(breakdown, states, card)
    sentences = [*remarks(row, breakdown, states, card), *assumed(layout, row), *unknown_software(row, catalogue)]
    part = chip_figures(str(row["accelerator"]), catalogue)
    made = _amounts(row, breakdown, part.get("tdp", float("nan")), tokens)
    peak = part.get(_divisor(str(row.get("precision"))), float("nan")) / TERA
    return Fit(row, breakdown, card, states, verdict, why, sentences, made, peak)


TERA = 1e12


def _divisor(precision: str) -> str:
    """The peak that MFU divides by: of the 16-bit format, or of single precision where the products run in it.

    >>> [_divisor(word) for word in ("bf16", "fp8", "fp16", "fp32", "tf32")]
    ['bf16', 'bf16', 'fp16', 'fp32', 'tf32']
    """
    return precision if precision in ("fp16", "fp32", "tf32") else "bf16"


def chip_figures(accelerator: str, catalogue: Catalogue) -> dict[str, float]:
    """Figures of one accelerator in base units; empty where it is not on record."""
    table = in_base_units(catalogue.accelerators)
    if accelerator not in table.index:
        return {}
    return {str(name): float(table[name].to_dict()[accelerator]) for name in table}


def _amounts(row: Row, breakdown: Breakdown, watts: float, tokens: float | None) -> Amounts | None:
    """Speeds and what a run takes; None where the step time is not known."""
    step = [float(breakdown.prediction[f"step_time_s{end}"]) for end in ("_low", "", "_high")]
    if not np.isfinite(step).all():
        return None
    per_step = float(row["global_batch"]) * float(row["seq_len"])
    power = watts if np.isfinite(watts) else None
    return amounts(Span(*step), per_step, float(row["accelerators"]), tokens, power)


def card_gib(accelerator: str, catalogue: Catalogue) -> float:
    """Memory of the accelerator that a program can have [GiB]; NaN when not known."""
    return float(in_base_units(catalogue.accelerators)["card"].get(accelerator, float("nan"))) / GIB


def _judge(breakdown: Breakdown, states: float | None, card: float) -> tuple[str, str]:
    step = breakdown.prediction
    peak, low, high = (float(step[name]) for name in ("memory_gib", "memory_gib_low", "memory_gib_high"))
    if states is not None and states > card:
        return "does-not-fit", f"weights, gradients and optimizer alone take {states:.1f} GiB of {card:.1f} GiB"
    if not np.isfinite(peak) or not np.isfinite(card):
        return "unknown", breakdown.missing or "the memory of the accelerator is not known"
    shown = f"modelled peak {peak:.1f} GiB ({low:.1f} to {high:.1f}) of {card:.1f} GiB"
    if low > card:
        return "does-not-fit", f"{shown}: even the low end is more than the card has"
    return "could-fit", f"{shown}{': it likely does not fit' if peak > card else ''}"
