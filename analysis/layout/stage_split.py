"""The stated split of layers over pipeline stages."""

from __future__ import annotations

import re
from typing import Any

import numpy as np
import pandas as pd

from analysis.layout.parse import BLANK, Array, cells
from analysis.layout.reasons import Reasons

ITEM = r"\d{1,4}(?:\s*\*\s*\d{1,4})?"
WRITTEN = re.compile(rf"[\[(\s]*(?:{ITEM}(?:[,;\s-]+{ITEM})*)?[\])\s,;-]*")
"""How a split may be written; four digits are more layers or stages than any model has."""


def counts(text: str) -> list[float]:
    """Layers per stage as written: numbers between brackets, commas or blanks, `n*m` for m stages of n layers.

    >>> counts("[7, 8*14, 7]")[:3], len(counts("[7, 8*14, 7]"))
    ([7.0, 8.0, 8.0], 16)
    >>> counts("seven and eight"), counts("8*999999999999")
    ([], [])
    """
    out: list[float] = []
    if not WRITTEN.fullmatch(text):
        return out
    for layers, times in re.findall(r"(\d+)(?:\s*\*\s*(\d+))?", text):
        out += [float(layers)] * int(times or 1)
    return out


def read_stage_layers(column: pd.Series[Any], number: dict[str, Array], reasons: Reasons) -> Array:
    """One row per row and one column per stage, NaN where not stated; with a reason where it contradicts the row.

    A list of pp*vpp chunks is added up per stage: chunk j lies on stage j modulo pp.
    """
    codes, distinct = pd.factorize(column.astype(object))
    texts = [cell if isinstance(cell, tuple) else str(cell).strip() for cell in distinct]
    parsed = [[float(count) for count in cell] if isinstance(cell, tuple) else counts(cell) for cell in texts]
    width = max((len(values) for values in parsed), default=0)
    table = np.full((len(parsed) + 1, width), np.nan)
    for place, values in enumerate(parsed):
        table[place, : len(values)] = values
    chunks = table[codes]
    unread = np.array(
        [not values and str(cell).lower() not in BLANK for cell, values in zip(texts, parsed, strict=True)]
    )
    name = "layers_per_stage"
    reasons.add(np.append(unread, False)[codes], "unclear", name, text=cells(column), choices="7,8*14,7")
    stated = ~np.isnan(chunks).all(axis=1) if width else np.zeros(len(codes), dtype=bool)
    given, total = (~np.isnan(chunks)).sum(axis=1), np.nansum(chunks, axis=1)
    pp, vpp, layers = number["pp"], number["vpp"], number["layers"]
    fits = (given == pp) | (given == pp * vpp)
    reasons.add(stated & ~fits, "split-entries", name, entries=given, pp=pp)
    reasons.add(stated & (total != layers), "split-total", name, total=total, layers=layers)
    return _folded(chunks, np.where(stated & fits, pp, np.nan)) if stated.any() else np.full((len(codes), 0), np.nan)


def _folded(chunks: Array, pp: Array) -> Array:
    """Chunks added up per stage."""
    stages = int(np.nanmax(pp, initial=1.0))
    position = np.arange(chunks.shape[1])[None, :] % np.where(np.isnan(pp), 1.0, pp)[:, None]
    folded = [np.nansum(np.where(position == stage, chunks, 0.0), axis=1) for stage in range(stages)]
    used = np.arange(stages)[None, :] < np.nan_to_num(pp)[:, None]
    return np.where(used, np.stack(folded, axis=1), np.nan)
