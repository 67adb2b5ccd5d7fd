"""Arithmetic of layouts: the axes multiply to the accelerators, layers and heads divide."""

from __future__ import annotations

from collections.abc import Iterator
from math import prod
from typing import Any

from etl.checks.figures import plain_number, show
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path

AXES = ("dp", "tp", "pp", "cp")
EXPERT_AXES = ("etp", "ep", "edp", "pp")


def _model(subject: Subject) -> dict[str, Any]:
    record = subject.context.catalogue["model"].get(subject.value.get("model", ""))
    return record.value if record else {}


def _product(subject: Subject, path: Path, phase: dict[str, Any], axes: tuple[str, ...]) -> Iterator[Finding]:
    """The axes must multiply to the accelerators; while one is unknown, the others must divide them."""
    layout = phase.get("layout", {})
    # Where some accelerators generate, the layout is that of those that train.
    training = plain_number(subject.value.get("post_training", {}), "accelerators_training")
    total = training or plain_number(phase, "accelerators")
    known = {axis: layout[axis] for axis in axes if axis in layout}
    if total is None or len(known) < 2:
        return
    product = prod(known.values())
    # CP is often not named because there is none; where it exists but is not printed, not_disclosed says so.
    silent = [
        axis for axis in axes if axis not in known and not (axis == "cp" and "cp" not in phase.get("not_disclosed", ()))
    ]
    fits = total % product == 0 if silent else product == total
    if not fits:
        named = " * ".join(f"{axis} {value}" for axis, value in known.items())
        message = (
            f"{named} = {show(product)}, which {'does not divide' if silent else 'is not'} accelerators: {show(total)}"
        )
        also = [(*path, "layout", axis) for axis in known]
        yield subject.at(
            (*path, "layout"), message, _missing(product, total, axes, known), also=[*also, (*path, "accelerators")]
        )


def _missing(product: float, total: float, axes: tuple[str, ...], known: dict[str, int]) -> str:
    if "cp" in axes and "cp" not in known and total % product == 0:
        return (
            f"where the source prints cp: {total / product:g}, add it; where it does not say, name cp in not_disclosed"
        )
    return "compare each axis with the source; a misprint goes to conflicts, the value that holds into the field"


@check("SUM001", "axes-multiply", "run")
def axes_multiply(subject: Subject) -> Iterator[Finding]:
    """dp * tp * pp * cp must be the number of accelerators; an axis that is not known must leave a whole number."""
    for path, phase in subject.phases():
        yield from _product(subject, path, phase, AXES)


@check("SUM002", "expert-axes-multiply", "run")
def expert_axes_multiply(subject: Subject) -> Iterator[Finding]:
    """etp * ep * edp * pp must be the number of accelerators, where they are printed."""
    for path, phase in subject.phases():
        if "ep" in phase.get("layout", {}):
            yield from _product(subject, path, phase, EXPERT_AXES)


@check("SUM003", "layers-per-stage", "run")
def layers_per_stage(subject: Subject) -> Iterator[Finding]:
    """layers_per_stage must have one entry per pipeline stage (pp, or pp * vpp) and sum to the model's layers."""
    layers = _model(subject).get("layers")
    for path, phase in subject.phases():
        layout = phase.get("layout", {})
        split, pp = layout.get("layers_per_stage"), layout.get("pp")
        if not split:
            continue
        here = (*path, "layout", "layers_per_stage")
        if pp and len(split) not in {pp, pp * layout.get("vpp", 1)}:
            yield subject.at(
                here, f"layers_per_stage has {len(split)} entries, and pp is {pp}", "write one entry per stage"
            )
        if isinstance(layers, int) and sum(split) != layers:
            message = f"layers_per_stage sums to {sum(split)}, and the model has {layers} layers"
            yield subject.at(here, message, "compare both with the source")


@check("SUM004", "layers-divide", "run")
def layers_divide(subject: Subject) -> Iterator[Finding]:
    """The model's layers must divide by pp * vpp, unless layers_per_stage tells the split or is not disclosed."""
    layers = _model(subject).get("layers")
    for path, phase in subject.phases():
        layout = phase.get("layout", {})
        stages = layout.get("pp", 1) * layout.get("vpp", 1)
        told = "layers_per_stage" in layout or "layers_per_stage" in phase.get("not_disclosed", ())
        if isinstance(layers, int) and not told and layers % stages:
            message = f"{layers} layers do not divide by pp * vpp = {stages}"
            tip = "add layers_per_stage as the source prints it, or name it in not_disclosed"
            yield subject.at((*path, "layout", "pp"), message, tip)


@check("SUM007", "heads-divide", "run")
def heads_divide(subject: Subject) -> Iterator[Finding]:
    """The model's heads must divide by tp."""
    heads = _model(subject).get("heads")
    for path, phase in subject.phases():
        tp = phase.get("layout", {}).get("tp")
        if isinstance(heads, int) and tp and heads % tp:
            message = f"{heads} heads do not divide by tp = {tp}"
            yield subject.at((*path, "layout", "tp"), message, "compare the heads of the model and tp with the source")
