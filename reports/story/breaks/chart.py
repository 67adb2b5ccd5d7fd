"""When growth may have changed: the interval of the break under each choice of runs."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing, dates


def intervals(breaks: pd.DataFrame, subsets: dict[str, str], domain: list[str], say: ChartWords) -> Drawing:
    """A row per choice of runs: the interval of the break, a mark at its best date, the preference in words."""
    labels = f"{json.dumps(subsets, ensure_ascii=False)}[datum.label]"
    y = (
        alt.Y("trend_id:N")
        .sort(list(subsets))
        .axis(title=None, labelExpr=labels, labelLimit=210, domain=False, ticks=False)
    )
    ends = pd.concat([breaks[["trend_id", end]].rename(columns={end: "date"}) for end in ("low", "high")])
    rule = alt.Chart(ends).mark_line(style="fit", aria=False, opacity=0.5, strokeWidth=5)
    mark = alt.Chart(breaks).mark_tick(style="fit", aria=False, size=18, thickness=3)
    word = alt.Chart(breaks).mark_text(style="soft-label", align="right", dy=-13, aria=False)
    return alt.layer(
        rule.encode(dates("date", domain), y, alt.Detail("trend_id:N")),
        mark.encode(dates("date", domain), y, tooltip=_tooltip(say)),
        word.encode(y, x=alt.value("width"), text=say.own("preference")),
    ).properties(height=44 * len(subsets))


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    return [
        alt.Tooltip("text:N", title=say("breaks.date")),
        alt.Tooltip(f"{say.own('preference')}:N", title=say("breaks.preference")),
    ]
