"""Layouts as a typed table: numbers as numbers, words as words, splits as tuples; nothing becomes text on the way."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd

from analysis.layout.columns import BY_NAME, NUMERIC, REQUIRED

Layout = Mapping[str, Any]
"""One layout: column to value. A count is a number, a switch a bool, a word a text, `layers_per_stage` a tuple of
counts and `recompute` a word or a tuple of modules; what is not stated is absent."""


def table_of(layouts: Sequence[Layout]) -> pd.DataFrame:
    """Layouts as the table that `read_rows` reads; facts that are not stated are NaN or None.

    >>> table = table_of([{"tp": 8, "precision": "bf16", "layers_per_stage": (7, 8)}])
    >>> table["tp"][0], table["precision"][0], table["layers_per_stage"][0], table["pp"][0]
    (np.float64(8.0), 'bf16', (7, 8), np.float64(nan))
    """
    names = dict.fromkeys(("id", *REQUIRED, *(name for layout in layouts for name in layout)))
    return pd.DataFrame({name: _column(name, [layout.get(name) for layout in layouts]) for name in names})


def _column(name: str, values: list[Any]) -> Any:
    if name in BY_NAME and BY_NAME[name].kind in NUMERIC:
        return np.asarray([np.nan if value is None else float(value) for value in values], dtype=float)
    cells = np.empty(len(values), dtype=object)
    for row, value in enumerate(values):
        cells[row] = tuple(value) if isinstance(value, list) else value
    return cells
