"""The statistics that the analysis left: read, never fitted here."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.numbers import exact, significant
from reports.source import Source, is_missing
from reports.words import Bi, phrase


def statistic(source: Source, trend: str, name: str) -> dict[str, Any] | None:
    """One number with its interval, n, window and method; None when it is not computed."""
    for row in source.rows("trends"):
        if row["trend_id"] == trend and row["statistic"] == name and row["value"] is not None:
            return row
    return None


def growth_words(row: dict[str, Any] | None) -> Bi:
    """A growth factor with interval, n and window, or the plain statement that there is none."""
    if row is None:
        return phrase("fitted.none")
    ends = {end: "–" if is_missing(row[end]) else significant(row[end], 2) for end in ("low", "high")}
    window = {"start": str(row["window_from"])[:7], "end": str(row["window_to"])[:7]}
    return phrase("fitted.growth", value=significant(row["value"], 2), n=exact(row["n"]), **ends, **window)


def lines(source: Source, trend: str) -> pd.DataFrame:
    """Fitted line and band of a trend: statistics `fit@<date>` with value, low and high become dated rows."""
    rows = [row for row in source.rows("trends") if row["trend_id"] == trend and row["statistic"].startswith("fit@")]
    dated = [
        {"date": row["statistic"][4:], "fit": row["value"], "low": row["low"], "high": row["high"]} for row in rows
    ]
    return pd.DataFrame(dated, columns=["date", "fit", "low", "high"]).assign(part=trend)
