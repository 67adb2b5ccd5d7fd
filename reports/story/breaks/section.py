"""Is there a break in the growth of compute? The same test under several choices of runs."""

from __future__ import annotations

from datetime import date, timedelta
from typing import Any

import pandas as pd

from reports.drawing.figure import Cell, Figure, Table, draw, words_of
from reports.drawing.fitted import lines, statistic
from reports.numbers import NOTHING, exact, percent, scientific, significant
from reports.source import Source, is_missing
from reports.story.breaks import chart as charts
from reports.words import Bi, phrase, plain

MAIN = "compute-frontier"
SUBSETS = (MAIN, "compute-frontier-disclosed", "compute-frontier-without-largest", "compute-all", "compute-disclosed")
PREFERENCES = {"a break is preferred": "break", "one slope is enough": "one", "cannot tell": "cannot"}
_STATISTICS = (
    "growth_per_year",
    "break_date",
    "growth_before_break",
    "growth_after_break",
    "bic_gain",
    "share_preferring_break",
)


def preference(source: Source, trend: str = MAIN) -> str:
    """What the test says: break, one or cannot; '' when it did not run."""
    row = statistic(source, trend, "bic_gain")
    return PREFERENCES.get(str(row["note"]), "cannot") if row else ""


def values(source: Source) -> dict[str, Any]:
    """Numbers of the plateau's sentences; empty when nothing is fitted."""
    growth, since = (
        statistic(source, MAIN, "growth_per_year"),
        statistic(source, "compute-record", "months_since_record"),
    )
    fit = lines(source, MAIN)
    if growth is None or since is None or fit.empty:
        return {}
    last = fit.iloc[-1]
    return {
        "growth": factor(growth), "growth_n": growth["n"], "months": exact(round(since["value"])),
        "from": str(growth["window_from"])[:7], "to": str(growth["window_to"])[:7],
        "due": scientific(last["fit"]), "due_low": scientific(last["low"]), "due_high": scientific(last["high"]),
        **_break(source),
    }  # fmt: skip


def _break(source: Source) -> dict[str, str]:
    statistics = {name: statistic(source, MAIN, name) for name in _STATISTICS}
    when, share = statistics["break_date"], statistics["share_preferring_break"]
    return {
        "break": _month(when["value"]) if when else NOTHING,
        "break_low": _month(when["low"]) if when else NOTHING,
        "break_high": _month(when["high"]) if when else NOTHING,
        "before": factor(statistics["growth_before_break"]),
        "after": factor(statistics["growth_after_break"]),
        "share": percent(share["value"]) if share else NOTHING,
    }


def figures(source: Source) -> tuple[Figure, ...]:
    """Break dates with intervals by subset; nothing when no test ran."""
    rows = [{"trend_id": trend, **{name: statistic(source, trend, name) for name in _STATISTICS}} for trend in SUBSETS]
    tested = [row for row in rows if row["break_date"] and row["bic_gain"]]
    if not tested:
        return ()
    words = words_of("breaks", preference(source) or "cannot", **values(source), n=len(tested), agree=_agree(tested))
    frame = pd.DataFrame(_row(row) for row in tested)
    subsets = [str(row["trend_id"]) for row in tested]
    names = {lang: {name: plain(f"breaks.subset.{name}")[lang] for name in subsets} for lang in ("en", "zh")}
    domain = [f"{min(frame['low'])[:4]}-01-01", f"{int(max(frame['high'])[:4]) + 1}-01-01"]
    specs = draw(lambda say: charts.intervals(frame, names[say.lang], domain, say), source.fields, words.long)
    return (Figure("compute-breaks", words, specs=specs, table=_table(tested), queries=("trends",), folded=True),)


def _agree(tested: list[dict[str, Any]]) -> int:
    """How many subsets say the same as the main one."""
    return sum(row["bic_gain"]["note"] == tested[0]["bic_gain"]["note"] for row in tested)


def _row(row: dict[str, Any]) -> dict[str, Any]:
    when, answer = (
        row["break_date"],
        plain(f"breaks.answer.{PREFERENCES.get(str(row['bic_gain']['note']), 'cannot')}"),
    )
    share = row["share_preferring_break"]
    answer = answer.format(share=percent(share["value"]) if share else NOTHING)
    ends = {end: _day(when[end] if not is_missing(when[end]) else when["value"]) for end in ("value", "low", "high")}
    return {
        "trend_id": row["trend_id"], "date": ends["value"], "low": ends["low"], "high": ends["high"],
        "text": f"{ends['value'][:7]} ({ends['low'][:7]} – {ends['high'][:7]})",
        "preference_en": answer.en, "preference_zh": answer.zh,
    }  # fmt: skip


def _table(tested: list[dict[str, Any]]) -> Table:
    columns = ("subset", "n", "one_slope", "before", "after", "date", "share", "preference")
    heads = tuple((column, phrase(f"breaks.head.{column}")) for column in columns)
    return Table(heads, tuple(_line(row) for row in tested))


def _line(row: dict[str, Any]) -> tuple[Cell, ...]:
    answer, share, n = _row(row), row["share_preferring_break"], row["bic_gain"]["n"]
    return (
        Cell(plain(f"breaks.subset.{row['trend_id']}"), row["trend_id"]),
        Cell(Bi.same(exact(n)), n, number=True),
        *(
            Cell(Bi.same(factor(row[name])), row[name]["value"] if row[name] else None)
            for name in ("growth_per_year", "growth_before_break", "growth_after_break")
        ),
        Cell(Bi.same(answer["text"]), answer["date"]),
        Cell(Bi.same(percent(share["value"]) if share else NOTHING), share["value"] if share else None, number=True),
        Cell(Bi(answer["preference_en"], answer["preference_zh"]), row["bic_gain"]["value"]),
    )


def factor(row: dict[str, Any] | None) -> str:
    """A growth factor with its interval.

    >>> factor({"value": 5.577, "low": 3.658, "high": 9.18})
    '×5.6 (3.7–9.2)'
    """
    if row is None:
        return NOTHING
    ends = "" if is_missing(row["low"]) else f" ({_small(row['low'])}–{_small(row['high'])})"
    return f"×{significant(row['value'], 2)}{ends}"


def _small(value: float) -> str:
    return "<0.01" if value < 0.01 else significant(value, 2)


def _day(year: float) -> str:
    """A decimal year as a day.

    >>> _day(2024.5)
    '2024-07-02'
    """
    start, end = date(int(year), 1, 1), date(int(year) + 1, 1, 1)
    return str(start + timedelta(days=int((end - start).days * (year % 1))))


def _month(year: float) -> str:
    return _day(year)[:7]
