"""Units and their factors to base units (B, B/s, FLOP, FLOP/s, s, W, J)."""

from __future__ import annotations

from dataclasses import dataclass

from schemas.tables import table


@dataclass(frozen=True)
class Unit:
    """One unit: its base unit, and how many of those it is."""

    base: str
    factor: float


UNITS: dict[str, Unit] = {
    name: Unit(row["base"], float(row["factor"])) for name, row in table("units")["units"].items()
}

SUFFIXES: dict[str, str] = dict(sorted(table("units")["suffixes"].items(), key=lambda pair: -len(pair[0])))
"""Unit by the end of a column's name, longest end first."""

GIB = UNITS["GiB"].factor
"""Bytes of a gibibyte, 2**30."""

GB = UNITS["GB"].factor
"""Bytes of a gigabyte, 10**9."""

SECONDS_PER_DAY = UNITS["d"].factor

HOURS_PER_DAY = UNITS["d"].factor / UNITS["h"].factor


def split(column: str) -> tuple[str, Unit] | None:
    """Divide a column's name into the quantity and the unit that its end promises.

    Parameters
    ----------
    column : name of a column

    Returns
    -------
    name without the end (as it is where the name is nothing but a unit), and the unit; None where it ends in no unit

    >>> split("scale_out_gbit_s")
    ('scale_out', Unit(base='B/s', factor=125000000.0))
    >>> split("tokens_per_s")[1].base
    'tokens/s'
    >>> split("layers")
    """
    suffix = next((end for end in SUFFIXES if f"_{column}".endswith(end)), None)
    return (column.removesuffix(suffix), UNITS[SUFFIXES[suffix]]) if suffix else None
