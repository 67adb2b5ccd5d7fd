"""Training compute over time: figures with their ranges, the record line, and the runs that published nothing."""

from __future__ import annotations

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing, dates, fill, fitted, powers, shape, stroke, worded, words

HEIGHT = 440


def over_time(
    points: pd.DataFrame,
    records: pd.DataFrame,
    undisclosed: pd.DataFrame,
    labels: pd.DataFrame,
    fit: pd.DataFrame,
    domain: list[str],
    span: tuple[int, int],
    say: ChartWords,
) -> Drawing:
    """Compute on a log axis; hollow triangles along the top edge stand for runs without any published figure."""
    x = dates("released", domain)
    y = powers("compute_flop", say.axis("compute_flop"), *span)
    steps = alt.Chart(records).mark_line(style="frontier", interpolate="step-after", aria=False)
    spans = (
        alt.Chart(points)
        .transform_filter("isValid(datum.compute_flop_low) && isValid(datum.compute_flop_high)")
        .mark_rule(style="range", aria=False)
    )
    known = alt.Chart(points).transform_filter("isValid(datum.compute_flop)")
    marks = known.transform_calculate(status_word=worded("status", points["status"], say)).mark_point(aria=False)
    nothing = alt.Chart(undisclosed).mark_point(style="undisclosed", shape="triangle-down", size=38, aria=False)
    return alt.layer(
        steps.encode(x, y),
        *fitted(fit, x),
        spans.encode(x, alt.Y("compute_flop_low:Q"), alt.Y2("compute_flop_high"), stroke=stroke()),
        marks.encode(x, y, stroke(), shape(), fill=fill(), tooltip=_tooltip(say)),
        nothing.encode(x, y=alt.value(6), tooltip=_named(say)),
        *words(labels, x, y),
    ).properties(height=HEIGHT)


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    titles = {
        "name": say.title("name"),
        "organization": say.title("organization"),
        "compute_flop_text": say.axis("compute_flop"),
        "when": say.title("released"),
        "status_word": say("words.status_title"),
    }
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def _named(say: ChartWords) -> list[alt.Tooltip]:
    titles = {"name": say.title("name"), "organization": say.title("organization"), "when": say.title("released")}
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]
