"""Which constraint empties a space of layouts, and the nearest relaxation that opens it."""

from __future__ import annotations

import numpy as np

from analysis.plan.question import Question


def few_tokens(ask: Question) -> str:
    """A context-parallel degree that leaves too little of a sequence."""
    return f"CP {ask.fixed.get('cp')} leaves {ask.seq_len / float(ask.fixed['cp']):g} tokens a rank; take a smaller cp"


def degrees(ask: Question) -> str:
    """Given degrees that do not divide the accelerators."""
    given = " x ".join(f"{axis.upper()} {ask.fixed[axis]}" for axis in ("tp", "cp", "pp", "dp") if axis in ask.fixed)
    product = int(np.prod([int(ask.fixed[axis]) for axis in ("tp", "cp", "pp", "dp") if axis in ask.fixed]))
    near = max(1, round(ask.accelerators / product)) * product
    world = f"{ask.accelerators:,} accelerators"
    equation = f"{given} = {product:,}" if " x " in given else given
    return f"{equation} does not divide {world}; the nearest number that it divides: {near:,}"


def heads(ask: Question) -> str:
    """A tensor-parallel degree that does not divide the heads."""
    return f"TP {ask.fixed.get('tp')} does not divide {ask.model['heads']} heads; leave tp open"


def sequence(ask: Question) -> str:
    """A sequence that the given degrees do not divide."""
    given = ", ".join(f"{axis.upper()} {ask.fixed[axis]}" for axis in ("tp", "cp") if axis in ask.fixed)
    near = max(1, round(ask.seq_len / 128)) * 128
    by = given or "any degree"
    return f"a sequence of {ask.seq_len:,} tokens does not divide by {by}; the nearest that does: {near:,}"


def batch(ask: Question, degrees: list[int]) -> str:
    """A batch that no data-parallel degree divides."""
    least = min(degrees)
    near = max(1, round(ask.global_batch / least)) * least
    return (
        f"a global batch of {ask.global_batch:,} divides by no DP that {ask.accelerators:,} accelerators leave "
        f"(at least {least}); the nearest batch that does: {near:,}"
    )


def layers(ask: Question) -> str:
    """Stages that do not divide the layers."""
    given = ", ".join(f"{axis.upper()} {ask.fixed[axis]}" for axis in ("pp", "vpp") if axis in ask.fixed)
    return f"{ask.model['layers']} layers do not divide by {given or 'any number of stages'}; leave pp and vpp open"
