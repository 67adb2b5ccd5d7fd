"""The parallel axes: one table of their names, order and part in the number of accelerators."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

from schemas.tables import table


@dataclass(frozen=True)
class Axis:
    """One way of dividing the work.

    Attributes
    ----------
    name : key in a layout, such as `tp`
    title : words for it
    factor : its degree is a factor of the number of accelerators
    expert_factor : the same for the layers of experts
    traffic : it has collectives of its own
    unset : what a degree means that no source prints; `withheld` is one unless the record lists it as not disclosed
    """

    name: str
    title: str
    factor: bool
    expert_factor: bool
    traffic: bool
    unset: Literal["unknown", "one", "withheld"]


AXES: tuple[Axis, ...] = tuple(Axis(**row) for row in table("axes")["axes"])
"""Every axis, in the order of `axes.yaml`: from the most to the least communication."""

BY_NAME: dict[str, Axis] = {axis.name: axis for axis in AXES}

FACTORS: tuple[str, ...] = tuple(axis.name for axis in AXES if axis.factor)
"""Axes whose degrees multiply to the accelerators: tp, cp, pp, dp."""

EXPERT_FACTORS: tuple[str, ...] = tuple(axis.name for axis in AXES if axis.expert_factor)
"""Axes whose degrees multiply to the accelerators in the layers of experts: etp, ep, pp, edp."""

WITH_TRAFFIC: tuple[str, ...] = tuple(axis.name for axis in AXES if axis.traffic)
"""Axes with collectives of their own, from the most to the least communication: tp, ep, cp, pp, dp."""
