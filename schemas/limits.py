"""Bounds that no record and no layout goes beyond: one table for `check`, `predict` and `fit`."""

from __future__ import annotations

from dataclasses import dataclass
from math import inf

from schemas.tables import table


@dataclass(frozen=True)
class Limit:
    """The least and the most that a field can be."""

    least: float = 0.0
    most: float = inf


_TABLE = table("limits")

LIMITS: dict[str, Limit] = {
    name: Limit(**{k: float(v) for k, v in row.items()}) for name, row in _TABLE["limits"].items()
}
"""Limits by field."""

WIDEST_RANGE = float(_TABLE["widest_range"])
"""High over low from which a range of amounts says nothing."""

WIDEST_SHARE = float(_TABLE["widest_share"])
"""The same for a share of the peak."""
