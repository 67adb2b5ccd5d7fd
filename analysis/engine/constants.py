"""Constants of the calibration: from subjects of {value, unit, ...} to typed dataclasses, and back with new values.

A calibration is a mapping by subject, as the files of data/calibration are named; inside it names nest down to leaves
that have a `value`. A dotted name joins them: `links.scale_up_share`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, fields, is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

from analysis.physics.efficiency import Efficiency

Leaf = Mapping[str, Any]
Table = Mapping[str, float]
"""One number per architecture."""
T = TypeVar("T")


class MissingConstantError(Exception):
    """A constant that the engine needs and the calibration lacks; the text names it and a way out."""


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


class Values(dict[str, Any]):
    """Constants by dotted name; a missing one raises an error that names it.

    >>> Values({"a": 1.0})["b"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    analysis.engine.constants.MissingConstantError: data/calibration lacks b; ...
    """

    def __missing__(self, key: str) -> Any:
        raise MissingConstantError(f"data/calibration lacks {key}; take the files that belong to this version")


def leaves(section: Mapping[str, Any], prefix: str = "") -> Iterator[tuple[str, Leaf]]:
    """Every constant of a section with its dotted name, in file order.

    >>> [name for name, _ in leaves({"gemm": {"hopper": {"bf16": {"value": 0.76, "unit": "1"}}}})]
    ['gemm.hopper.bf16']
    """
    for key, item in section.items():
        if "value" in item:
            yield f"{prefix}{key}", item
        else:
            yield from leaves(item, f"{prefix}{key}.")


def flatten(section: Mapping[str, Any]) -> Values:
    """Values of a section by dotted name.

    >>> flatten({"link": {"scale_up_share": {"value": 0.75, "unit": "1"}}})
    {'link.scale_up_share': 0.75}
    """
    return Values({name: float(leaf["value"]) for name, leaf in leaves(section)})


def with_values(section: Mapping[str, Any], values: Mapping[str, float], prefix: str = "") -> dict[str, Any]:
    """The section with some values replaced, all else as it was.

    >>> with_values({"a": {"value": 1.0, "unit": "s"}}, {"a": 2.0})
    {'a': {'value': 2.0, 'unit': 's'}}
    """
    out: dict[str, Any] = {}
    for key, item in section.items():
        if "value" in item:
            out[key] = dict(item) | ({"value": values[prefix + key]} if prefix + key in values else {})
        else:
            out[key] = with_values(item, values, f"{prefix}{key}.")
    return out


_TYPES: dict[Any, dict[str, Any]] = {}


def _types(kind: Any) -> dict[str, Any]:
    """Types of a dataclass's fields; looked up once, since the fit asks for them at every step."""
    if kind not in _TYPES:
        _TYPES[kind] = get_type_hints(kind)
    return _TYPES[kind]


def read(kind: type[T], subject: str, section: Mapping[str, Any]) -> T:
    """A subject of the calibration as the dataclass that describes it.

    Parameters
    ----------
    kind
        Dataclass whose fields are numbers, tables or dataclasses.
    subject
        Name of the section, for messages.
    section
        Nested constants; what the dataclass does not name is left alone.

    Returns
    -------
    An instance of `kind`.

    Raises
    ------
    MissingConstantError
        When the section lacks a field; the sentence names it.

    Examples
    --------
    >>> read(Interval, "intervals.dense", {"low": {"value": 0.9}, "high": {"value": 1.1}})
    Interval(low=0.9, high=1.1)
    """
    types = _types(kind)
    given = {name: _field(types[name], f"{subject}.{name}", section.get(name)) for name in types}
    return kind(**given)


def _field(kind: Any, name: str, item: Any) -> Any:
    if item is None:
        raise MissingConstantError(f"data/calibration lacks {name}; take the files that belong to this version")
    if isinstance(kind, type) and is_dataclass(kind):
        return read(kind, name, item)
    if get_origin(kind) is not None and len(get_args(kind)) == 2 and get_args(kind)[0] is str:
        return {key: _field(get_args(kind)[1], f"{name}.{key}", below) for key, below in item.items()}
    return float(item["value"])


def subject(calibration: Mapping[str, Any], name: str) -> Mapping[str, Any]:
    """The constants of one file of data/calibration.

    >>> subject({"links": {}}, "hosts")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    analysis.engine.constants.MissingConstantError: data/calibration/hosts.yaml is missing; ...
    """
    if name not in calibration:
        raise MissingConstantError(f"data/calibration/{name}.yaml is missing; restore it from the repository")
    found: Mapping[str, Any] = calibration[name]
    return found


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
    parts = {f.name: read(_types(Efficiency)[f.name], f.name, sections[f.name]) for f in fields(Efficiency)}
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
