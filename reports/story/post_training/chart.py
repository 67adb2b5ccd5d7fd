"""Compute of post-training as a share of the base's pretraining, over time."""

from __future__ import annotations

import json

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing, dates, fill, stroke, worded, words

HEIGHT = 340
PURPOSES = ("rl", "sft", "distillation")
_SHAPES = ("circle", "square", "triangle-up")


def shares(
    points: pd.DataFrame, labels: pd.DataFrame, domain: list[str], span: tuple[int, int], say: ChartWords
) -> Drawing:
    """Shares on a log axis in percent, shape by purpose; a rule where only a range is known."""
    x = dates("released", domain)
    ticks = [10.0**power for power in range(span[0], span[1] + 1)]
    names = json.dumps([f"{100 * tick:.10f}".rstrip("0").rstrip(".") + "%" for tick in ticks])
    label = f"{names}[round(log(datum.value) / LN10) - {span[0]}]"
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    y = alt.Y("share:Q").scale(scale).axis(values=ticks, title=say("post_training.axis"), labelExpr=label)
    shape = alt.Shape("purpose:N").scale(domain=list(PURPOSES), range=list(_SHAPES)).legend(None)
    codes = {f"{column}_word": worded(column, points[column], say) for column in ("purpose", "share_basis")}
    titles = {
        "name": say.title("name"),
        "text": say("post_training.axis"),
        "when": say.title("released"),
        "purpose_word": say.title("purpose"),
        "share_basis_word": say("words.status_title"),
    }
    tips = [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]
    spans = alt.Chart(points).transform_filter("datum.is_range").mark_rule(style="range", aria=False)
    marks = alt.Chart(points).transform_calculate(**codes).mark_point(aria=False)
    return alt.layer(
        spans.encode(x, alt.Y("share_low:Q"), alt.Y2("share_high"), stroke=stroke()),
        marks.encode(x, y, stroke(), shape, fill=fill(), tooltip=tips),
        *words(labels, x, y),
    ).properties(height=HEIGHT)
