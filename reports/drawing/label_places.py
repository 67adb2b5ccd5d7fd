"""From dated figures to the places of their names on a logarithmic plot."""

from __future__ import annotations

from datetime import date
from math import ceil, floor, log10
from typing import Any

import pandas as pd

from reports.drawing.labels import Point, place
from reports.source import records

_LONGEST = 26


def date_domain(dates: pd.Series) -> list[str]:
    """From the first of January of the first year to the end of the year after the last date.

    >>> date_domain(pd.Series(["2020-06-01", "2024-07-23"]))
    ['2020-01-01', '2025-07-01']
    """
    first, last = int(min(dates)[:4]), int(max(dates)[:4])
    return [f"{first}-01-01", f"{last + 1}-07-01"]


def powers_of(values: pd.Series, room: int = 0) -> tuple[int, int]:
    """The powers of ten around all values, with some to spare at the top.

    >>> powers_of(pd.Series([64.0, 200_000.0]))
    (1, 6)
    """
    known = values.dropna()
    return floor(log10(known.min())), max(ceil(log10(known.max())), floor(log10(known.min())) + 1) + room


def label_frame(
    points: pd.DataFrame, named: pd.DataFrame, x: str, y: str, domain: list[str], powers: tuple[int, int], height: float
) -> pd.DataFrame:
    """Names of the given rows with offsets and the narrowest plot that has room for them; no row where none fits."""
    spots = [Point(*_spot(row[x], row[y], domain, powers), _short(row["name"])) for row in _known(named, y)]
    marks = [_spot(row[x], row[y], domain, powers) for row in _known(points, y)]
    placed = place(spots, marks, height)
    rows = [
        {
            x: row[x],
            y: row[y],
            "text": _short(row["name"]),
            "dx": spot.dx,
            "dy": spot.dy,
            "align": spot.align,
            "min_width": spot.min_width,
            **{name: row[name] for name in ("run_id", "status") if name in row},
        }
        for row, spot in zip(_known(named, y), placed, strict=True)
        if spot
    ]
    known = [name for name in ("run_id", "status") if name in named]
    return pd.DataFrame(rows, columns=[x, y, "text", "dx", "dy", "align", "min_width", *known])


def _short(name: str) -> str:
    """A name that fits beside a mark."""
    return name if len(name) <= _LONGEST else f"{name[: _LONGEST - 1].rstrip(' ,')}…"


def _known(frame: pd.DataFrame, y: str) -> list[dict[str, Any]]:
    return records(frame[frame[y].notna()])


def _spot(day: object, value: object, domain: list[str], powers: tuple[int, int]) -> tuple[float, float]:
    start, end, here = (date.fromisoformat(str(text)).toordinal() for text in (domain[0], domain[1], day))
    low, high = powers
    return (here - start) / (end - start), 1 - (log10(float(str(value))) - low) / (high - low)
