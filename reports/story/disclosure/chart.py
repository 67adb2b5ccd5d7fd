"""Who still discloses what: the share of runs that state each fact, year by year."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing

_ROOM = 320
"""Narrower plots print the shares without their sign [px]."""


def by_year(shares: pd.DataFrame, facts: dict[str, str], say: ChartWords) -> Drawing:
    """A dot per fact and year as large as the share, the share printed beside it."""
    labels = f"{json.dumps(facts, ensure_ascii=False)}[datum.label]"
    y = alt.Y("fact:N").sort(list(facts)).axis(title=None, labelExpr=labels, domain=False, ticks=False)
    x = alt.X("year_label:N").axis(
        title=None,
        orient="top",
        domain=False,
        ticks=False,
        grid=False,
        labelExpr=f"width < {_ROOM} ? slice(datum.label, 0, 4) : split(datum.label, '|')",
        # The second line of a label grows downwards, into the first row of the plot, unless it is lifted by its height.
        labelPadding=alt.ExprRef(f"width < {_ROOM} ? 4 : 18"),
        labelFlush=False,
    )
    bars = (
        alt.Chart(shares).mark_rect(style="share", aria=False).encode(x, y, opacity=_strength(), tooltip=_tooltip(say))
    )
    word = alt.Chart(shares).mark_text(style="label", aria=False)
    wide = word.transform_filter(f"width >= {_ROOM}").encode(x, y, text="text:N")
    tight = word.transform_filter(f"width < {_ROOM}").encode(x, y, text="tight:N")
    return alt.layer(bars, wide, tight).properties(height=alt.Step(22))


def _strength() -> alt.Opacity:
    return alt.Opacity("share:Q").scale(domain=[0, 1], range=[0.03, 0.55]).legend(None)


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    return [
        alt.Tooltip(f"{say.own('fact')}:N", title=say("disclosure.fact")),
        alt.Tooltip("year:Q", format="d", title=say("disclosure.year")),
        alt.Tooltip("text:N", title=say("disclosure.share")),
        alt.Tooltip("families:Q", title="n"),
    ]
