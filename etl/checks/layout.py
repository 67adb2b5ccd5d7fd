"""Arithmetic of layouts: the axes multiply to the accelerators, layers and heads divide."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etl.checks.figures import plain_number, printed, show
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path
from schemas.identities import Outcome, apply


def _model(subject: Subject) -> dict[str, Any]:
    record = subject.context.catalogue["model"].get(subject.value.get("model", ""))
    return record.value if record else {}


def _outcome(subject: Subject, phase: dict[str, Any], name: str) -> Outcome | None:
    """One identity on the numbers of a phase and its model."""
    values = printed(_model(subject)) | printed(phase) | phase.get("layout", {})
    # Where some accelerators generate, the layout is that of those that train.
    training = plain_number(subject.value.get("post_training", {}), "accelerators_training")
    return apply(name, values | ({"accelerators": training} if training else {}), phase.get("not_disclosed", ()))


def _product(subject: Subject, path: Path, phase: dict[str, Any], name: str) -> Iterator[Finding]:
    """The axes must multiply to the accelerators; while one is unknown, the others must divide them."""
    outcome = _outcome(subject, phase, name)
    if outcome is None or outcome.holds or len(outcome.known) < 2:
        return
    axes = " * ".join(f"{axis} {value}" for axis, value in outcome.known.items())
    relation = "does not divide" if outcome.unknown else "is not"
    message = f"{axes} = {show(outcome.left)}, which {relation} accelerators: {show(outcome.right)}"
    also = [*((*path, "layout", axis) for axis in outcome.known), (*path, "accelerators")]
    yield subject.at((*path, "layout"), message, _missing(outcome), also=also)


def _missing(outcome: Outcome) -> str:
    rest = outcome.right / outcome.left
    if "cp" in outcome.identity.left and "cp" not in outcome.known and rest.is_integer():
        return f"where the source prints cp: {rest:g}, add it; where it does not say, name cp in not_disclosed"
    return "compare each axis with the source; a misprint goes to conflicts, the value that holds into the field"


@check("SUM001", "axes-multiply", "run")
def axes_multiply(subject: Subject) -> Iterator[Finding]:
    """tp * cp * pp * dp must be the number of accelerators; an axis that is not known must leave a whole number."""
    for path, phase in subject.phases():
        yield from _product(subject, path, phase, "axes-multiply")


@check("SUM002", "expert-axes-multiply", "run")
def expert_axes_multiply(subject: Subject) -> Iterator[Finding]:
    """etp * ep * pp * edp must be the number of accelerators, where they are printed."""
    for path, phase in subject.phases():
        if "ep" in phase.get("layout", {}):
            yield from _product(subject, path, phase, "expert-axes-multiply")


@check("SUM003", "layers-per-stage", "run")
def layers_per_stage(subject: Subject) -> Iterator[Finding]:
    """layers_per_stage must have one entry per pipeline stage (pp, or pp * vpp) and sum to the model's layers."""
    for path, phase in subject.phases():
        here = (*path, "layout", "layers_per_stage")
        count, total = (_outcome(subject, phase, name) for name in ("stages-count", "layers-sum"))
        if count is not None and not count.holds:
            message = f"layers_per_stage has {show(count.left)} entries, and pp is {phase['layout']['pp']}"
            yield subject.at(here, message, "write one entry per stage")
        if total is not None and not total.holds:
            message = f"layers_per_stage sums to {show(total.left)}, and the model has {show(total.right)} layers"
            yield subject.at(here, message, "compare both with the source")


@check("SUM004", "layers-divide", "run")
def layers_divide(subject: Subject) -> Iterator[Finding]:
    """The model's layers must divide by pp * vpp, unless layers_per_stage gives the split or is not disclosed."""
    for path, phase in subject.phases():
        outcome = _outcome(subject, phase, "layers-divide")
        stated = "layers_per_stage" in phase.get("layout", {}) or "layers_per_stage" in phase.get("not_disclosed", ())
        if outcome is not None and not outcome.holds and not stated:
            message = f"{show(outcome.left)} layers do not divide by pp * vpp = {show(outcome.right)}"
            tip = "add layers_per_stage as the source prints it, or name it in not_disclosed"
            yield subject.at((*path, "layout", "pp"), message, tip)


@check("SUM007", "heads-divide", "run")
def heads_divide(subject: Subject) -> Iterator[Finding]:
    """The model's heads must divide by tp."""
    for path, phase in subject.phases():
        outcome = _outcome(subject, phase, "heads-divide")
        if outcome is not None and not outcome.holds:
            message = f"{show(outcome.left)} heads do not divide by tp = {show(outcome.right)}"
            yield subject.at((*path, "layout", "tp"), message, "compare the heads of the model and tp with the source")
