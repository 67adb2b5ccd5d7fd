"""Utilisation, set-up by set-up, under a convention the reader picks."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing
from reports.story.mfu.chart import chosen, convention, marks, share, top

_ROW = 17
_TURN = 0.5
"""Above this utilisation the number stands on the left of its mark, where there is room on any screen."""


def dots(points: pd.DataFrame, rows: dict[str, str], say: ChartWords) -> Drawing:
    """Every set-up with its name, highest first within its hardware generation."""
    labels = f"{json.dumps(rows, ensure_ascii=False)}[datum.label]"
    y = (
        alt.Y("key:N")
        .sort(field="order", op="min", order="ascending")
        .axis(title=None, labelExpr=labels, domain=False, ticks=False, labelPadding=6)
    )
    x = share(say, top(points))
    named = marks(points, say).encode(x("mfu"), y)
    words = alt.Chart(points).transform_filter(chosen()).mark_text(style="soft-label", aria=False)
    words.mark.align = alt.ExprRef(f"datum.mfu > {_TURN} ? 'right' : 'left'")
    words.mark.dx = alt.ExprRef(f"datum.mfu > {_TURN} ? -8 : 8")
    return (
        alt.layer(named, words.encode(x("mfu"), y, text="value:N"))
        .add_params(convention())
        .properties(height=alt.Step(_ROW))
    )
