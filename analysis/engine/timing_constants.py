"""What the step time needs from the calibration, typed: one dataclass a subject of data/calibration."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, fields
from typing import Any, get_type_hints

from analysis.physics.efficiency import Efficiency
from analysis.records.constants import Table, flatten, read, subject


@dataclass(frozen=True)
class Power:
    """How a part with less power clocks lower.

    Attributes
    ----------
    exponent
        Share of the rate kept is this power of the share of power per FLOP/s [1].
    reference
        Power per peak FLOP/s of the generation's best part, by core family [W s/TFLOP].
    """

    exponent: float
    reference: Table


@dataclass(frozen=True)
class Products:
    """Large matrix products by kind of core.

    Attributes
    ----------
    gemm
        Share of the dense peak by core family and format [1].
    realised
        Share of the largest measured product, where a family has no constant of its own [1].
    rowwise
        Share of the FP8 rate that one scale per row keeps [1].
    highest_share
        Share of a dense peak that nothing exceeds [1].
    power
        Correction for parts with less power.
    """

    gemm: Mapping[str, Table]
    realised: float
    rowwise: float
    highest_share: float
    power: Power


@dataclass(frozen=True)
class Kernels:
    """Fused attention by kind of core: share of the dense 16-bit peak [1].

    Attributes
    ----------
    flash, flash_bias
        Without and with an additive bias, by core family.
    """

    flash: Table
    flash_bias: Table


@dataclass(frozen=True)
class ClassValues:
    """What stands in for facts that an accelerator's record lacks.

    Attributes
    ----------
    links
        Link columns by architecture, in the columns' units.
    peaks
        Peak columns by accelerator [TFLOP/s].
    vocab
        Vocabulary of a model that does not state it [entries].
    """

    links: Mapping[str, Table]
    peaks: Mapping[str, Table]
    vocab: float


@dataclass(frozen=True)
class Interval:
    """Factors on a prediction.

    Attributes
    ----------
    low, high
        The measured value lies between these times the prediction [1].
    """

    low: float
    high: float


@dataclass(frozen=True)
class ByKnowledge:
    """Intervals by how well a row is known.

    Attributes
    ----------
    both, one, neither
        Measured rows exist of the row's software and of its kind of accelerator, of one of them, of neither.
    """

    both: Interval
    one: Interval
    neither: Interval


@dataclass(frozen=True)
class Intervals:
    """Intervals of the step time by class of row, and what open inputs add.

    Attributes
    ----------
    dense, dense_waiting, moe
        By kind of model and knowledge; dense models apart where much of the step is not work.
    waiting_share
        Share of a step that is communication, idle time or fixed cost from which a row counts as waiting [1].
    recompute, unmeasured
        Factors on those where recompute is not stated, and where a kernel or a peak is not.
    """

    dense: ByKnowledge
    dense_waiting: ByKnowledge
    moe: ByKnowledge
    waiting_share: float
    recompute: Interval
    unmeasured: Interval


@dataclass(frozen=True)
class Measured:
    """How many measured rows the constants were fitted to.

    Attributes
    ----------
    cores
        Rows by core family.
    stacks
        Rows by software.
    known
        Rows from which a kind of accelerator or a software counts as known.
    """

    cores: Table
    stacks: Table
    known: float


@dataclass(frozen=True)
class FitSettings:
    """How the constants are fitted.

    Attributes
    ----------
    robust_width
        Log error at which the loss turns from square to linear [1].
    prior_weight
        Rows of one robust width that each prior counts as [1].
    evaluations
        Largest number of steps of the solver [1].
    tolerance
        Relative gain of the objective below which the solver stops [1].
    covered
        Share of left-out rows that an interval should hold [1].
    """

    robust_width: float
    prior_weight: float
    evaluations: float
    tolerance: float
    covered: float


@dataclass(frozen=True)
class Timing:
    """Everything the step time needs from the calibration."""

    efficiency: Efficiency
    products: Products
    kernels: Kernels
    class_values: ClassValues
    intervals: Intervals
    measured: Measured
    stacks: Mapping[str, Table]


def timing(calibration: Mapping[str, Any]) -> Timing:
    """The constants of the step time, typed.

    Parameters
    ----------
    calibration
        Nested constants by subject.

    Returns
    -------
    Timing
        One dataclass a subject.
    """
    sections = {name: subject(calibration, name) for name in TIMING}
    parts = {f.name: read(get_type_hints(Efficiency)[f.name], f.name, sections[f.name]) for f in fields(Efficiency)}
    return Timing(
        efficiency=Efficiency(**parts),
        products=read(Products, "products", sections["products"]),
        kernels=read(Kernels, "attention", sections["attention"]),
        class_values=read(ClassValues, "class_values", sections["class_values"]),
        intervals=read(Intervals, "intervals", sections["intervals"]),
        measured=read(Measured, "measured", sections["measured"]),
        stacks={name: flatten(habits) for name, habits in sections["stacks"].items()},
    )


TIMING = (*(f.name for f in fields(Efficiency)), "products", "class_values", "intervals", "measured", "stacks")
"""Subjects that the step time reads."""
