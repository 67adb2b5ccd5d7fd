"""Ways in which a printed value goes wrong, and the value that each would make right."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import combinations
from typing import Any

from analysis.records.spans import Span, as_span, printed
from schemas.reasons import count

Facts = Mapping[str, Any]

DEGREES = ("tp", "cp", "pp", "dp", "ep", "etp", "edp", "vpp")
COUNTS = ("accelerators", "seq_len", "global_batch", "micro_batch", "sequences_per_dp", "microbatches", "steps")
AMOUNTS = (
    "tokens", "compute_flop", "accelerator_hours", "days", "global_batch_tokens", "reported_mfu", "reported_hfu",
    "reported_tflops_per_accelerator", "reported_tokens_per_s", "reported_tokens_per_s_per_accelerator",
    "reported_step_time_s", "params_total", "params_active",
)  # fmt: skip
FIELDS = (*DEGREES, *COUNTS, *AMOUNTS)
"""Printed values that a repair may change."""

NODES = {
    "accelerators": "nodes",
    "reported_tokens_per_s_per_accelerator": "nodes",
    "accelerator_hours": "node-hours",
}
"""Values that may be of nodes instead of accelerators, and what that slip is called."""

COSTS = {
    "as-elsewhere": 0.5,
    "nodes": 1.0,
    "per-trillion": 1.0,
    "sparse-peak": 1.0,
    "transposed": 1.0,
    "swapped-parameters": 1.0,
    "node-hours": 1.3,
    "samples": 1.2,
    "digit": 1.5,
    "digits-swapped": 1.5,
    "power-of-ten": 1.6,
    "factor-2": 2.0,
    "solved": 3.0,
}
"""How unlikely each slip is: a judgement, after the misprints in docs/findings.md. Two changes add their costs."""


@dataclass(frozen=True)
class Edit:
    """Printed values replaced by others: how it may have gone wrong, and what would be right."""

    kind: str
    values: tuple[tuple[str, float], ...]

    @property
    def cost(self) -> float:
        """How unlikely the slip is."""
        return sum(COSTS[kind] for kind in self.kind.split("+"))

    def of(self, facts: Facts) -> dict[str, Any]:
        """The facts with the values replaced; amounts keep the width of printed digits."""
        changed = {
            name: printed(value) if isinstance(facts.get(name), Span) else int(value) if value == int(value) else value
            for name, value in self.values
        }
        return {**facts, **changed}

    def text(self, facts: Facts) -> str:
        """The change in words.

        >>> Edit("digit", (("dp", 8.0),)).text({"dp": 4})
        'dp 4 -> 8'
        """
        return ", ".join(f"{name} {count(as_span(facts[name]).best)} -> {count(value)}" for name, value in self.values)

    def __add__(self, other: Edit) -> Edit:
        return Edit(f"{self.kind}+{other.kind}", (*self.values, *other.values))


def edits(facts: Facts, elsewhere: Facts | None = None) -> Iterator[Edit]:
    """Every single slip that could have made one of the printed values.

    Parameters
    ----------
    facts
        Printed values by name.
    elsewhere
        Values of the same fields that other sources or sibling runs print.
    """
    known = {name: float(as_span(facts[name]).best) for name in FIELDS if name in facts}
    for name, value in (elsewhere or {}).items():
        if name in known and value != known[name]:
            yield Edit("as-elsewhere", ((name, float(value)),))
    yield from _misread(known)
    yield from _transposed(known)
    for name, value in known.items():
        yield from (Edit(kind, ((name, other),)) for kind, other in _slips(name, value) if other != value and other > 0)


def _misread(known: Mapping[str, float]) -> Iterator[Edit]:
    """Values that are right of something else than the field they are in."""
    if "accelerator_hours" in known and "tokens" in known:
        yield Edit("per-trillion", (("accelerator_hours", known["accelerator_hours"] * known["tokens"] / 1e12),))
    if "tokens" in known and "seq_len" in known:
        yield Edit("samples", (("tokens", known["tokens"] * known["seq_len"]),))
        yield Edit("samples", (("tokens", known["tokens"] / known["seq_len"]),))
    if "global_batch_tokens" in known and "seq_len" in known:
        yield Edit("samples", (("global_batch_tokens", known["global_batch_tokens"] * known["seq_len"]),))
    for name in ("reported_mfu", "reported_hfu", "reported_tflops_per_accelerator"):
        if name in known:
            yield from (Edit("sparse-peak", ((name, known[name] * factor),)) for factor in (2.0, 0.5))
    for name, kind in NODES.items():
        if name in known:
            yield from (Edit(kind, ((name, known[name] * factor),)) for factor in (8.0, 4.0, 1 / 8, 1 / 4))


def _transposed(known: Mapping[str, float]) -> Iterator[Edit]:
    """Two degrees in each other's place, or total and active parameters."""
    for first, second in combinations([name for name in DEGREES[:5] if name in known], 2):
        if known[first] != known[second]:
            yield Edit("transposed", ((first, known[second]), (second, known[first])))
    if "params_total" in known and "params_active" in known:
        yield Edit("swapped-parameters", (("params_total", known["params_active"]),
                                          ("params_active", known["params_total"])))  # fmt: skip


def _slips(name: str, value: float) -> Iterator[tuple[str, float]]:
    """What a finger does to a number."""
    whole = name in DEGREES or name in COUNTS
    for text in _digits(value):
        yield "digit", text
    for text in _swaps(value):
        yield "digits-swapped", text
    if not whole:
        yield from (("power-of-ten", value * factor) for factor in (10.0, 0.1, 1000.0, 0.001))
    yield from (("factor-2", other) for other in (2 * value, value / 2) if not whole or other == int(other))


def _written(value: float) -> tuple[str, int]:
    """Digits that are printed of a number, and the power of ten of the last.

    >>> _written(15.6e12), _written(0.41)
    (('156', 11), ('41', -2))
    """
    mantissa, _, exponent = f"{value:.5e}".partition("e")
    digits = mantissa.replace(".", "").rstrip("0") or "0"
    return digits, int(exponent) - len(digits) + 1


def _digits(value: float) -> Iterator[float]:
    digits, power = _written(value)
    for place in range(len(digits)):
        for digit in "0123456789":
            if digit != digits[place] and not (place == 0 and digit == "0"):
                yield float(f"{digits[:place]}{digit}{digits[place + 1 :]}e{power}")


def _swaps(value: float) -> Iterator[float]:
    digits, power = _written(value)
    for place in range(len(digits) - 1):
        if digits[place] != digits[place + 1]:
            swapped = f"{digits[:place]}{digits[place + 1]}{digits[place]}{digits[place + 2 :]}"
            if swapped[0] != "0":
                yield float(f"{swapped}e{power}")
