"""The calibration file as numbers: nested sections of {value, unit, ...} become one flat mapping of dotted names."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

import yaml

Leaf = Mapping[str, Any]


class MissingConstantError(Exception):
    """A constant that the engine needs and the calibration file lacks; the text names it and a way out."""


class Values(dict[str, Any]):
    """Constants or sections by name; one that is not there is told in a sentence.

    >>> Values({"a": 1.0})["b"]  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    analysis.engine.constants.MissingConstantError: data/calibration.yaml lacks b; ...
    """

    def __missing__(self, key: str) -> Any:
        raise MissingConstantError(f"data/calibration.yaml lacks {key}; take the file that belongs to this version")


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


def to_yaml(calibration: Mapping[str, Any], indent: int = 0) -> str:
    """The calibration file's text: sections as blocks, one constant a line.

    >>> print(to_yaml({"timing": {"a": {"value": 0.5, "unit": "s"}}}), end="")
    timing:
      a: {value: 0.5, unit: s}
    """
    lines = []
    for key, item in calibration.items():
        if "value" in item:
            flow = yaml.safe_dump(dict(item), sort_keys=False, default_flow_style=True, width=10**6, allow_unicode=True)
            lines.append(f"{' ' * indent}{key}: {flow.strip()}\n")
        else:
            lines.append(f"{' ' * indent}{key}:\n{to_yaml(item, indent + 2)}")
    return "".join(lines)
