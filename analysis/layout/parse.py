"""Cells of a table of layouts as numbers, switches and categories, with the reason where a cell says nothing usable."""

from __future__ import annotations

from collections.abc import Callable
from math import inf
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.layout.columns import BY_NAME
from analysis.layout.reasons import Mask as Mask
from analysis.layout.reasons import Reasons
from schemas.limits import LIMITS

Array = npt.NDArray[np.float64]

LARGEST = {name: limit.most for name, limit in LIMITS.items() if limit.most < inf and name in BY_NAME}
"""Values above these are treated as typing errors; other columns may reach 1e7."""

SWITCHES = {"true": 1.0, "1": 1.0, "1.0": 1.0, "yes": 1.0, "false": 0.0, "0": 0.0, "0.0": 0.0, "no": 0.0}


BLANK = {"", "nan", "none", "null", "n/a", "-"}


def cells(series: pd.Series[Any]) -> npt.NDArray[np.object_]:
    """The cells of a column as written."""
    return series.to_numpy(dtype=object)


def is_numeric(series: pd.Series[Any]) -> bool:
    """Whether a column already holds numbers, so that NaN is its only blank."""
    return pd.api.types.is_numeric_dtype(series.dtype)


def distinct_texts(series: pd.Series[Any]) -> tuple[npt.NDArray[np.intp], list[str]]:
    """The distinct texts of a column, stripped, and for each cell which one it has; blank cells have -1.

    >>> codes, texts = distinct_texts(pd.Series(["a", " ", None, "a", "b "]))
    >>> codes.tolist(), texts
    ([0, 1, -1, 0, 2], ['a', '', 'b'])
    """
    codes, distinct = pd.factorize(series)
    return codes, [str(text).strip() for text in distinct]


def _parsed(series: pd.Series[Any]) -> tuple[Array, Mask]:
    codes, texts = distinct_texts(series)
    parsed = pd.to_numeric(pd.Series([*texts, ""], dtype=object), errors="coerce").to_numpy(dtype=float)
    wrong = np.isnan(parsed) & ~np.isin([*(text.lower() for text in texts), ""], list(BLANK))
    return parsed[codes], wrong[codes]


def numbers(series: pd.Series[Any], name: str, reasons: Reasons, *, least: float = 1.0, whole: bool = True) -> Array:
    """Numbers of a column; NaN with a reason for text, negative, broken or absurd cells, NaN alone for blank ones.

    >>> why = Reasons(4)
    >>> [float(x) for x in numbers(pd.Series(["8", "", "abc", "-2"]), "tp", why)]
    [8.0, nan, nan, nan]
    >>> list(why.text())
    ['', '', "tp is not a number: 'abc'", 'tp must be at least 1, found -2']
    """
    if is_numeric(series):
        values = series.to_numpy(dtype=float, na_value=np.nan)
        not_number = np.zeros(len(values), dtype=bool)
    else:
        values, not_number = _parsed(series)
    most = LARGEST.get(name, 1e7)
    low, high = values < least, values > most
    broken = (values != np.floor(values)) & ~np.isnan(values) & ~high & whole
    reasons.add(not_number, "not-a-number", name, text=cells(series))
    reasons.add(low, "too-small", name, least=least, value=values)
    reasons.add(high, "too-large", name, value=values)
    reasons.add(broken & ~low, "not-whole", name, value=values)
    return np.where(not_number | low | high | broken, np.nan, values)


class TextColumn:
    """A column of texts that several questions are asked about: each distinct text is looked at once per question."""

    def __init__(self, series: pd.Series[Any]) -> None:
        self._codes, texts = distinct_texts(series)
        self._texts = [text.lower() for text in texts]

    def map(self, read: Callable[[str], float]) -> Array:
        """A code per cell: `read` sees each distinct text once, lower case and stripped; blank cells give NaN."""
        codes = [np.nan if text in BLANK else read(text) for text in self._texts]
        return np.asarray([*codes, np.nan], dtype=float)[self._codes]


def categories(series: pd.Series[Any], read: Callable[[str], float]) -> Array:
    """A code per cell: `read` sees each distinct text once, lower case and stripped; blank cells give NaN.

    >>> [float(x) for x in categories(pd.Series(["A", "b", None, "a"]), {"a": 1.0, "b": 2.0}.__getitem__)]
    [1.0, 2.0, nan, 1.0]
    """
    return TextColumn(series).map(read)


def switches(series: pd.Series[Any], name: str, reasons: Reasons) -> Array:
    """1 for true, 0 for false, NaN for blank; other texts get a reason."""
    if is_numeric(series):
        values = series.to_numpy(dtype=float, na_value=np.nan)
        values = np.where(np.isnan(values) | np.isin(values, (0.0, 1.0)), values, -1.0)
    else:
        values = categories(series, lambda text: SWITCHES.get(text, -1.0))
    reasons.add(values < 0, "not-a-switch", name, text=cells(series))
    return np.where(values < 0, np.nan, values)
