"""Trends and tests over all runs: growth of clusters and compute, one slope against two, dense against MoE."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from analysis.records.facts import query
from analysis.trends.statistics import DRAWS, LEVEL, Array, Break, Gap, Growth, Interval, break_point, gap, growth

Row = dict[str, Any]
ENOUGH = 8
"""Fewer points than this get no fit: the page says that it cannot tell."""
FRONTIER = 10
"""A run belongs to the frontier if it was among this many largest when it was released (Epoch AI's definition)."""
LINE_POINTS = 25
INTERVAL = f"{LEVEL:.0%} interval by {DRAWS} resamples of the points"

Subset = Callable[[pd.DataFrame], pd.DataFrame]
COMPUTE: dict[str, tuple[str, Subset]] = {
    "compute-all": ("every run with a figure", lambda runs: runs),
    "compute-frontier": (
        f"among the {FRONTIER} largest at release",
        lambda runs: runs[runs["rank_at_release"] <= FRONTIER],
    ),
    "compute-disclosed": (
        "disclosed by their makers or computed from what they disclose",
        lambda runs: runs[runs["disclosed"]],
    ),
    "compute-frontier-disclosed": (
        "disclosed frontier runs",
        lambda runs: runs[runs["disclosed"] & (runs["rank_at_release"] <= FRONTIER)],
    ),
    "compute-frontier-without-largest": (
        "frontier runs without the largest of all",
        lambda runs: runs[(runs["rank_at_release"] <= FRONTIER) & (runs["value"] < runs["value"].max())],
    ),
}
SINCE = "2024-01-01"
"""The question of the plateau is about the runs from this day on; a break before it does not answer it."""
RECENT: dict[str, tuple[str, Subset]] = {
    "compute-frontier-before-2024": (
        f"among the {FRONTIER} largest at release, released before {SINCE}",
        lambda runs: runs[(runs["rank_at_release"] <= FRONTIER) & ~_recent(runs)],
    ),
    "compute-frontier-since-2024": (
        f"among the {FRONTIER} largest at release, released since {SINCE}",
        lambda runs: runs[(runs["rank_at_release"] <= FRONTIER) & _recent(runs)],
    ),
}
CLUSTERS: dict[str, tuple[str, Subset]] = {
    "cluster-size-runs": (
        f"runs among the {FRONTIER} largest at release",
        lambda rows: rows[(rows["kind"] == "run") & (rows["rank_at_date"] <= FRONTIER)],
    ),
    "cluster-size-all-runs": ("accelerators of every run", lambda rows: rows[rows["kind"] == "run"]),
    "cluster-size-built": (
        "largest clusters in operation so far",
        lambda rows: rows[(rows["kind"] == "cluster") & (rows["status"] == "operating") & rows["is_record"]],
    ),
}
MFU_GROUPS = ("dense", "moe")


def _recent(runs: pd.DataFrame) -> pd.Series[bool]:
    return pd.to_datetime(runs["released"]) >= pd.Timestamp(SINCE)


def decimal_years(dates: Sequence[Any] | pd.Series[Any]) -> Array:
    """Dates as decimal years.

    >>> [round(float(year), 2) for year in decimal_years(["2024-01-01", "2024-07-02"])]
    [2024.0, 2024.5]
    """
    stamps = pd.to_datetime(pd.Series(list(dates)))
    start = pd.to_datetime(stamps.dt.year.astype(str) + "-01-01")
    days = (stamps - start).dt.days.to_numpy(dtype=float)
    return np.asarray(stamps.dt.year.to_numpy(dtype=float) + days / np.where(stamps.dt.is_leap_year, 366.0, 365.0))


def date_text(year: float) -> str:
    """A decimal year as an ISO day.

    >>> date_text(2024.5)
    '2024-07-02'
    """
    whole = int(np.floor(year))
    start, end = pd.Timestamp(whole, 1, 1), pd.Timestamp(whole + 1, 1, 1)
    return str((start + (end - start) * (year - whole)).date())


def rows(connection: duckdb.DuckDBPyConnection) -> list[Row]:
    """Every row of result.trends; the database must hold the other results already."""
    compute, clusters = query(connection, "compute_series"), query(connection, "cluster_series")
    result = [*_series(compute, "released", COMPUTE, breaks=True), *_series(compute, "released", RECENT, breaks=False)]
    result += [*_series(clusters, "date", CLUSTERS, breaks=False)]
    return [*result, *_record(compute), *_gaps(query(connection, "mfu_by_run"))]


def _series(table: pd.DataFrame, date: str, subsets: dict[str, tuple[str, Subset]], *, breaks: bool) -> Iterator[Row]:
    for trend, (population, choose) in subsets.items():
        part = choose(table)
        frame = Frame.of(trend, part[date], len(part), f"log10 least squares; {population}; {INTERVAL}")
        if len(part) < ENOUGH:
            yield frame.row("points", value=float(len(part)), note=f"fewer than {ENOUGH} points: no fit")
            continue
        years, values = decimal_years(part[date]), part["value"].to_numpy(dtype=float)
        yield from _growth_rows(frame, growth(years, values, np.linspace(years.min(), years.max(), LINE_POINTS)))
        if breaks:
            yield from _break_rows(frame, break_point(years, values))


class Frame:
    """What all rows of one trend share."""

    def __init__(self, trend: str, n: int, window: tuple[str | None, str | None], method: str) -> None:
        self.shared = {"trend_id": trend, "n": n, "window_from": window[0], "window_to": window[1], "method": method}

    @classmethod
    def of(cls, trend: str, dates: pd.Series[Any], n: int, method: str) -> Frame:
        """A frame over dated points."""
        known = pd.to_datetime(dates)
        window = (str(known.min().date()), str(known.max().date())) if n else (None, None)
        return cls(trend, n, window, method)

    def row(self, statistic: str, **cells: Any) -> Row:
        """One statistic."""
        return self.shared | {"statistic": statistic} | cells

    def interval(self, statistic: str, result: Interval, unit: str, note: str | None = None) -> Row:
        """One statistic with its bounds."""
        return self.row(statistic, value=result.value, low=result.low, high=result.high, unit=unit, note=note)


def _growth_rows(frame: Frame, result: Growth) -> Iterator[Row]:
    yield frame.interval("growth_per_year", result.per_year, "1")
    yield frame.interval("doubling_months", result.doubling_months, "months")
    for year, best, low, high in zip(result.at, result.line, result.line_low, result.line_high, strict=True):
        yield frame.interval(f"fit@{date_text(float(year))}", Interval(float(best), float(low), float(high)), "")


def _break_rows(frame: Frame, result: Break) -> Iterator[Row]:
    when = date_text(result.date.value)
    yield frame.interval("break_date", result.date, "year", f"{when[:7]} ({date_text(result.date.low)[:7]} to "
                         f"{date_text(result.date.high)[:7]})")  # fmt: skip
    yield frame.interval("growth_before_break", result.before, "1")
    yield frame.interval("growth_after_break", result.after, "1")
    yield frame.row("bic_gain", value=result.bic_gain, note=_preference(result))
    yield frame.row("share_preferring_break", value=result.preferred_share, unit="1")


def _preference(result: Break) -> str:
    """What the criterion says in words; between the marks it cannot tell."""
    if result.bic_gain > 6 and result.preferred_share > 0.8:
        return "a break is preferred"
    if result.bic_gain < 0:
        return "one slope is enough"
    return "cannot tell"


def _record(compute: pd.DataFrame) -> Iterator[Row]:
    """When the last record of compute was set, with and without estimates, and how long ago the newest run is."""
    for trend, part in (("compute-record", compute), ("compute-record-disclosed", compute[compute["disclosed"]])):
        if part.empty:
            continue
        frame = Frame.of(trend, part["released"], len(part), "largest value so far by date of release")
        top = part.sort_values("value").iloc[-1]
        set_on = pd.Timestamp(top["released"])
        newest = pd.Timestamp(part["released"].max())
        months = (newest - set_on).days / 30.44
        yield frame.row("record_flop", value=float(top["value"]), unit="FLOP", note=f"{top['name']}, {set_on.date()}")
        yield frame.row("months_since_record", value=float(months), unit="months", note=f"until {newest.date()}")


def _gaps(table: pd.DataFrame) -> Iterator[Row]:
    """Dense against MoE in every convention, one value per run; 6ND also for steady states and whole runs apart."""
    parts = {str(convention): part for convention, part in table.groupby("convention")}
    parts |= {f"6nd-{scope}": part for scope, part in table[table["convention"] == "6nd"].groupby("scope")}
    for name, part in parts.items():
        groups = [part.loc[part["sparsity"] == group, "mfu"].to_numpy(dtype=float) for group in MFU_GROUPS]
        sizes = ", ".join(f"n {group} = {len(values)}" for group, values in zip(MFU_GROUPS, groups, strict=True))
        method = f"medians by run; {INTERVAL}; two-sided Mann-Whitney test"
        frame = Frame.of(f"mfu-gap-{name}", part["released"], len(part), method)
        for group, values in zip(MFU_GROUPS, groups, strict=True):
            yield frame.row(f"n_{group}", value=float(len(values)), note=sizes)
        if min(len(values) for values in groups) < ENOUGH:
            yield frame.row("points", value=float(len(part)), note=f"cannot tell: {sizes}")
            for group, values in zip(MFU_GROUPS, groups, strict=True):
                if len(values):
                    yield frame.row(f"median_{group}", value=float(np.median(values)), unit="1", note=sizes)
            continue
        yield from _gap_rows(frame, gap(*groups), sizes)


def _gap_rows(frame: Frame, result: Gap, sizes: str) -> Iterator[Row]:
    yield frame.interval("median_dense", result.first, "1", sizes)
    yield frame.interval("median_moe", result.second, "1", sizes)
    yield frame.interval("difference", result.difference, "1", sizes)
    yield frame.row("p_value", value=result.p_value, unit="1", note=sizes)
