"""The verdict, the case it is about, and the list of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, Literal

from analysis.records.spans import Span

STATUSES = ("plausible", "strained", "impossible", "unknown")
Scope = Literal["run", "phase"]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check: what was found, between which bounds, and one sentence with the numbers."""

    status: str
    why: str
    why_zh: str
    value: float | None = None
    low: float | None = None
    high: float | None = None
    unit: str | None = None
    ratio_hint: str | None = None
    missing: str | None = None
    check_name: str = ""

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is one of {', '.join(STATUSES)}, not {self.status!r}")


def found(
    status: str, why: str, why_zh: str, span: Span | None = None, unit: str | None = None, cause: str | None = None
) -> Verdict:
    """A verdict from its two sentences and the span that decides it."""
    value, low, high = (span.best, span.low, span.high) if span else (None, None, None)
    return Verdict(status, f"{why}.", f"{why_zh}。", value, low, high, unit, cause)


class MissingFactError(Exception):
    """A check needs facts that the record does not state."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class Case:
    """The facts of one run or phase by name; quantities are `Span`, everything else as stated."""

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = {name: value for name, value in facts.items() if value is not None}

    def __contains__(self, name: str) -> bool:
        return name in self.facts

    def get(self, name: str, default: Any = None) -> Any:
        """The fact, or `default` where it is not stated."""
        return self.facts.get(name, default)

    def need(self, *names: str) -> Any:
        """The facts, or `MissingFactError` with the names of those that are not stated."""
        absent = [name for name in names if name not in self.facts]
        if absent:
            raise MissingFactError(absent)
        values = [self.facts[name] for name in names]
        return values[0] if len(values) == 1 else values


Rule = Callable[[Case], Verdict | None]
CHECKS: dict[str, tuple[Scope, Rule]] = {}


def check(name: str, scope: Scope) -> Callable[[Rule], Rule]:
    """Register a check under its name for runs as a whole or for each phase."""

    def register(rule: Rule) -> Rule:
        CHECKS[name] = (scope, rule)
        return rule

    return register


def check_names(scope: Scope | None = None) -> list[str]:
    """Names of the registered checks, in order of registration."""
    return [name for name, (where, _) in CHECKS.items() if scope in (None, where)]


COUNTED = ("enough of the architecture to count parameters", "足以计算参数量的模型结构")
WORK = ("active parameters, or the architecture", "激活参数量或模型结构")
WORDS = {
    "exact_total": COUNTED,
    "exact_active": COUNTED,
    "exact_active_without_embedding": COUNTED,
    "flop_6nd": WORK,
    "flop_best": WORK,
    "peak_tflops": ("the accelerator's peak in this precision", "该精度下的单卡峰值"),
    "scale_up_domain": ("how many accelerators share the fast links", "高速互连域的大小"),
}
"""Facts that no record has as a field, in English and Chinese; every other fact is called by its field."""


def unstated(absent: Sequence[str]) -> Verdict:
    """The verdict on a check whose facts are not stated: it names them, each once."""
    said = list(dict.fromkeys(WORDS.get(name, (name, name)) for name in absent))
    english, chinese = (", ".join(words) for words in zip(*said, strict=True))
    return Verdict("unknown", f"Not stated: {english}.", f"未披露：{chinese}。", missing=", ".join(absent))


def judge(facts: Mapping[str, Any], scope: Scope) -> Iterator[Verdict]:
    """Run every check of the scope; a check whose facts are not stated says `unknown` and names them."""
    case = Case(facts)
    for name, (where, rule) in CHECKS.items():
        if where != scope:
            continue
        try:
            found = rule(case)
        except MissingFactError as error:
            found = unstated(error.names)
        if found is not None:
            yield Verdict(**{**found.__dict__, "check_name": name})


RATIOS: tuple[tuple[float, str], ...] = (
    (2.0, "a factor 2: a sparse peak, FP8 against BF16, GPU packages against GCDs, or causal against full attention"),
    (4 / 3, "a factor 4/3: recomputation counted as work (8ND for 6ND)"),
    (3.0, "a factor 3: 6ND against 2ND"),
    (3.17, "a factor 3.17: the peak of an A100 taken for an H100"),
    (8.0, "a factor 8: nodes against accelerators"),
    (4.0, "a factor 4: nodes of four, or two factors of 2"),
)


BATCH_RAMP = "early steps were smaller: a batch ramp, or a shorter sequence"
"""Why steps x the largest batch exceeds the tokens."""


def hint(ratio: float, tolerance: float = 0.06) -> str | None:
    """The usual cause of a mismatch by this factor, either way round.

    >>> hint(0.75)
    'a factor 4/3: recomputation counted as work (8ND for 6ND)'
    >>> hint(1.1) is None
    True
    """
    factor = max(ratio, 1 / ratio)
    near = [(abs(factor / known - 1), text) for known, text in RATIOS if abs(factor / known - 1) <= tolerance]
    return min(near)[1] if near else None


Band = tuple[float, float]


def compare(stated: Span, computed: Span, near: Band, possible: Band) -> tuple[str, float, str | None]:
    """Hold a stated value against the computed one: (status, ratio computed / stated, usual cause of that ratio).

    Overlapping intervals, or a ratio inside `near`, are plausible; inside `possible` strained; else impossible.

    >>> compare(Span(1, 1, 1), Span(2, 2, 2), near=(0.9, 1.1), possible=(0.5, 2.5))[:2]
    ('strained', 2.0)
    """
    ratio = computed.best / stated.best
    if stated.overlaps(computed) or near[0] <= ratio <= near[1]:
        return "plausible", ratio, None
    return ("strained" if possible[0] <= ratio <= possible[1] else "impossible"), ratio, hint(ratio)


def text_of(number: Span | float) -> str:
    """A number for a sentence: counts whole with thousands separators, large physical values in scientific form.

    >>> text_of(16384), text_of(3.8e25), text_of(0.5)
    ('16,384', '3.8e25', '0.5')
    """
    value = number.best if isinstance(number, Span) else number
    if value != 0 and (abs(value) >= 1e9 or abs(value) < 1e-3):
        mantissa, exponent = f"{value:.3e}".split("e")
        return f"{mantissa.rstrip('0').rstrip('.')}e{int(exponent)}"
    if abs(value) >= 1000 or value == int(value):
        return f"{value:,.0f}"
    return f"{value:.3g}"


def percent(value: Span | float) -> str:
    """A fraction as a percentage with three digits at most.

    >>> percent(0.41), percent(3.68)
    ('41%', '368%')
    """
    best = value.best if isinstance(value, Span) else value
    return f"{100 * best:.3g}%"
