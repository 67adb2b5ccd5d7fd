"""Frames a chart can draw: long by convention, words in both languages, offsets that keep points apart."""

from __future__ import annotations

from collections.abc import Callable, Hashable
from typing import Any

import pandas as pd

from reports.numbers import day, exact, percent, scientific
from reports.source import is_missing
from reports.words import plain

CONVENTIONS = {
    "6nd": "mfu_6nd",
    "model-flops": "mfu_model_flops",
    "causal": "mfu_causal",
    "as-reported": "mfu_reported",
}
DEFAULT_CONVENTION = "6nd"
_SWARM_STEP = 0.012


def dates_as_text(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Dates as ISO text, which a browser reads as UTC and never shifts; `when` is as precise as the source."""
    when = [day(value, precision) for value, precision in zip(frame[column], frame["precision"], strict=True)]
    return frame.drop(columns="precision").assign(**{column: [day(value) for value in frame[column]]}, when=when)


def in_words(frame: pd.DataFrame, column: str, family: str) -> pd.DataFrame:
    """Add <column>_en and <column>_zh: the words of a vocabulary of the text files for the column's codes."""
    pairs = [plain(f"{family}.{value}") for value in frame[column]]
    return frame.assign(**{f"{column}_en": [pair.en for pair in pairs], f"{column}_zh": [pair.zh for pair in pairs]})


def filled(frame: pd.DataFrame) -> pd.DataFrame:
    """Add `mark`: reported when the value stands in a document of the developers, computed otherwise."""
    known = frame["status"].isin(["reported", "operating"])
    return frame.assign(mark=["reported" if value else "computed" for value in known])


def mfu_long(frame: pd.DataFrame) -> pd.DataFrame:
    """One row per set-up and convention, with the row of the chart it belongs to and a swarm offset."""
    parts = [_one_convention(frame, name, column) for name, column in CONVENTIONS.items()]
    return pd.concat(parts, ignore_index=True) if parts else frame


def _one_convention(frame: pd.DataFrame, convention: str, column: str) -> pd.DataFrame:
    kept = frame[frame[column].notna()]
    long = kept[
        ["run_id", "phase", "name", "hue", "architecture", "accelerator", "precision", "mfu_basis", "scope", "outlier"]
    ].assign(
        convention=convention,
        mfu=kept[column].astype(float).round(4),
        mark="reported" if convention == "as-reported" else "computed",
        value=[percent(value, 1) for value in kept[column]],
    )
    return long.sort_values(["mfu", "run_id", "phase"], ascending=[False, True, True])


def swarm(frame: pd.DataFrame, by: list[str]) -> pd.DataFrame:
    """Add `offset`: points of one group that would cover one another move apart, symmetrically."""
    frame = frame.assign(bin=(frame["mfu"] / _SWARM_STEP).round().astype(int))
    place = frame.groupby([*by, "bin"]).cumcount()
    side = place.map(lambda n: (n + 1) // 2 * (1 if n % 2 else -1))
    return frame.assign(offset=side).drop(columns="bin")


def with_all(frame: pd.DataFrame) -> pd.DataFrame:
    """Dense and MoE points twice: in the row of all generations and in their own."""
    known = frame[frame["hue"].isin(["dense", "moe"])]
    return pd.concat([known.assign(architecture="all"), known], ignore_index=True)


def ranges_as_text(frame: pd.DataFrame, column: str) -> pd.DataFrame:
    """Add `<column>_text`: the figure and its range in words of digits, for tooltips and tables."""
    write = scientific if column.endswith("flop") else exact
    return frame.assign(**{f"{column}_text": [_range_text(row, column, write) for row in frame.to_dict("records")]})


def _range_text(row: dict[Hashable, Any], column: str, write: Callable[[float], str]) -> str:
    best, low, high = (row[f"{column}{end}"] for end in ("", "_low", "_high"))
    ends = "" if is_missing(low) or is_missing(high) else f"{write(low)}–{write(high)}"
    if is_missing(best):
        return ends
    return f"{write(best)} ({ends})" if ends else write(best)


def running_record(frame: pd.DataFrame, date: str, value: str) -> pd.DataFrame:
    """The rows that exceeded everything before them, in the order of dates."""
    ordered = frame[frame[value].notna()].sort_values([date, value])
    return ordered[ordered[value] > ordered[value].cummax().shift(fill_value=0)]
