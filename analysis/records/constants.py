"""Constants of the calibration: from subjects of {value, unit, ...} to numbers and dataclasses, and back.

A calibration is a mapping by subject, as the files of data/calibration are named; inside it names nest down to leaves
that have a `value`. A dotted name joins them: `links.scale_up_share`.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import is_dataclass
from typing import Any, TypeVar, get_args, get_origin, get_type_hints

Leaf = Mapping[str, Any]
Table = Mapping[str, float]
"""One number per architecture."""
T = TypeVar("T")


class MissingConstantError(Exception):
    """A constant that the engine needs and the calibration lacks; the text names it and a way out."""


class Values(dict[str, Any]):
    """Constants by dotted name; a missing one raises an error that names it.

    >>> Values({"a": 1.0})["b"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    analysis.records.constants.MissingConstantError: data/calibration lacks b; ...
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
    >>> from analysis.engine.timing_constants import Interval
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
    analysis.records.constants.MissingConstantError: data/calibration/hosts.yaml is missing; ...
    """
    if name not in calibration:
        raise MissingConstantError(f"data/calibration/{name}.yaml is missing; restore it from the repository")
    found: Mapping[str, Any] = calibration[name]
    return found
