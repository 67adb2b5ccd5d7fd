"""The verdict, the case it is about, and the list of checks."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any, Literal

from analysis.records.provenance import Provenance
from analysis.records.spans import Span
from schemas.identities import IDENTITIES, within
from schemas.reasons import cause_of

STATUSES = ("plausible", "strained", "impossible", "unknown")
Scope = Literal["run", "phase"]
Values = dict[str, Any]


@dataclass(frozen=True)
class Verdict:
    """The outcome of one check: a status, the code and the values of its sentence, and the bounds that decide.

    `schemas.reasons` makes the sentence; `cause` is the code of the usual cause of a mismatch by this ratio.
    `explained` is what the record itself says of the contradiction; `decisive` tells whether the check compares two
    printed numbers. `slack` holds the factors by which one of the printed `inputs` may fall and rise before the status
    changes.
    """

    status: str
    reason: str
    values: Values = field(default_factory=dict)
    span: Span | None = None
    unit: str | None = None
    cause: str | None = None
    check_name: str = ""
    explained: str | None = None
    decisive: bool = False
    slack: tuple[float, float] | None = None
    inputs: tuple[str, ...] = ()

    def __post_init__(self) -> None:
        if self.status not in STATUSES:
            raise ValueError(f"status is one of {', '.join(STATUSES)}, not {self.status!r}")


class MissingFactError(Exception):
    """A check needs facts that the record does not state."""

    def __init__(self, names: list[str]) -> None:
        super().__init__(", ".join(names))
        self.names = names


class Case(Mapping[str, Any]):
    """The stated facts of one run or phase by name; quantities are `Span`, everything else as stated.

    `used` collects the facts that a check reads, so that its verdict can name those that are not stated at first hand.
    """

    def __init__(self, facts: Mapping[str, Any]) -> None:
        self.facts = {name: value for name, value in facts.items() if value is not None}
        self.provenance: Provenance = self.facts.pop("provenance", Provenance())
        self.used: set[str] = set()

    def __getitem__(self, name: str) -> Any:
        value = self.facts[name]
        self.used.add(name)
        return value

    def __contains__(self, name: object) -> bool:
        return name in self.facts

    def __iter__(self) -> Iterator[str]:
        return iter(self.facts)

    def __len__(self) -> int:
        return len(self.facts)

    def need(self, *names: str) -> Any:
        """The facts, or `MissingFactError` with the names of those that are not stated."""
        absent = [name for name in names if name not in self.facts]
        if absent:
            raise MissingFactError(absent)
        values = [self[name] for name in names]
        return values[0] if len(values) == 1 else values


Rule = Callable[[Case], Verdict | None]


@dataclass(frozen=True)
class Check:
    """A registered check.

    `decisive` checks compare two numbers that were printed apart: without one of them nothing about a run was tested,
    and being inside bounds, dividing, or fitting a card does not make it plausible. `identity` names the equation whose
    bands decide, where it is one of schemas/identities.yaml.
    """

    scope: Scope
    rule: Rule
    decisive: bool
    identity: str | None = None


CHECKS: dict[str, Check] = {}


def check(name: str, scope: Scope, *, decisive: bool = False, identity: str | None = None) -> Callable[[Rule], Rule]:
    """Register a check under its name for runs as a whole or for each phase."""

    def register(rule: Rule) -> Rule:
        CHECKS[name] = Check(scope, rule, decisive, identity)
        return rule

    return register


def unstated(names: list[str]) -> Verdict:
    """The verdict on a check whose facts are not stated."""
    return Verdict("unknown", "facts", {"facts": names})


def judge(facts: Mapping[str, Any], scope: Scope) -> Iterator[Verdict]:
    """Run every check of the scope; one whose facts are not stated is `unknown` and names them."""
    case = Case(facts)
    for name, one in CHECKS.items():
        if one.scope != scope:
            continue
        case.used.clear()
        try:
            verdict = one.rule(case)
        except MissingFactError as error:
            verdict = unstated(error.names)
        if verdict is not None:
            weighed = _weighed(verdict, case.provenance.of(case.used))
            slack = slack_of(verdict, one.identity)
            inputs = tuple(sorted(case.used & PRINTED)) if slack else ()
            yield replace(weighed, check_name=name, decisive=one.decisive, slack=slack, inputs=inputs)


PRINTED = frozenset({
    "tokens", "steps", "global_batch", "global_batch_tokens", "largest_batch_tokens", "seq_len", "days", "compute_flop",
    "accelerator_hours", "accelerators", "params_total", "params_active", "reported_mfu", "reported_hfu",
    "reported_tflops_per_accelerator", "reported_tokens_per_s", "reported_tokens_per_s_per_accelerator",
    "reported_step_time_s", "reported_peak_tflops",
})  # fmt: skip
"""Printed values that a verdict can hang on."""


def slack_of(verdict: Verdict, identity: str | None) -> tuple[float, float] | None:
    """Factors by which the computed side may fall and rise before the status changes.

    >>> slack_of(Verdict("plausible", "compared", {"ratio": 1.0}), "tokens-of-steps")
    (0.94, 1.07)
    """
    ratio = verdict.values.get("ratio")
    if identity is None or not ratio:
        return None
    one = IDENTITIES[identity]
    if verdict.status == "impossible":
        return (one.possible[0] / ratio, 1.0) if ratio > 1 else (1.0, one.possible[1] / ratio)
    low, high = one.near if verdict.status == "plausible" else one.possible
    if verdict.status == "strained":
        low, high = (one.near[1], high) if ratio > 1 else (low, one.near[0])
    return min(low / ratio, 1.0), max(high / ratio, 1.0)


def _weighed(verdict: Verdict, provenance: Provenance) -> Verdict:
    """A verdict of what is known at first hand.

    A contradiction with an estimate says nothing about the report; one with a value from another's table may be that
    table's mistake. A contradiction whose field is among the record's conflicts is explained there.
    """
    if verdict.status not in ("strained", "impossible"):
        return verdict
    basis = provenance.basis
    status = verdict.status
    if "estimated" in basis.values():
        status = "unknown"
    elif basis and status == "impossible":
        status = "strained"
    values = verdict.values | ({"rests_on": basis} if basis else {})
    explained = "; ".join(dict.fromkeys(provenance.disputed.values())) or None
    return replace(verdict, status=status, values=values, explained=explained)


def not_judged(scope: Scope) -> Iterator[Verdict]:
    """Every check of a scope as `unknown`, for runs of post-training: the checks are about pretraining."""
    for name, one in CHECKS.items():
        if one.scope == scope:
            yield Verdict("unknown", "post-training", check_name=name, decisive=one.decisive)


def compare(identity: str, stated: Span, computed: Span) -> tuple[str, float, str | None]:
    """Compare a stated value with the computed one: (status, ratio computed / stated, code of its usual cause).

    Overlapping intervals, or a ratio inside the identity's band `near`, are plausible; inside `possible` strained; else
    impossible.

    >>> compare("compute-of-tokens", Span(1, 1, 1), Span(2, 2, 2))
    ('strained', 2.0, 'factor-2')
    """
    one, ratio = IDENTITIES[identity], computed.best / stated.best
    if stated.overlaps(computed) or within(ratio, one.near):
        return "plausible", ratio, None
    return ("strained" if within(ratio, one.possible) else "impossible"), ratio, cause_of(ratio)
