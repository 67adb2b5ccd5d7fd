"""How many accelerators: what runs used, what clusters hold, and the largest of each so far."""

from __future__ import annotations

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing, dates, fill, fitted, powers, shape, stroke, worded, words

HEIGHT = 420


def over_time(
    points: pd.DataFrame,
    records: pd.DataFrame,
    labels: pd.DataFrame,
    fit: pd.DataFrame,
    domain: list[str],
    span: tuple[int, int],
    say: ChartWords,
) -> Drawing:
    """Dated sizes on a log axis, a rule where a source gives a range, two step lines for the largest so far."""
    x = dates("date", domain)
    y = powers("accelerators", say.axis("accelerators"), *span)
    steps = alt.Chart(records).mark_line(interpolate="step-after", aria=False, strokeWidth=1.2, opacity=0.75)
    spans = (
        alt.Chart(points)
        .transform_filter("isValid(datum.accelerators_low) && isValid(datum.accelerators_high)")
        .mark_rule(style="range", aria=False)
    )
    known = alt.Chart(points).transform_filter("isValid(datum.accelerators)")
    marks = known.transform_calculate(status_word=worded("status", points["status"], say)).mark_point(aria=False)
    return alt.layer(
        steps.encode(x, y, stroke=stroke(), detail="hue:N"),
        *fitted(fit, x),
        spans.encode(x, alt.Y("accelerators_low:Q"), alt.Y2("accelerators_high"), stroke=stroke()),
        marks.encode(x, y, stroke(), shape(), fill=fill(), strokeDash=_planned(), tooltip=_tooltip(say)),
        *words(labels, x, y),
    ).properties(height=HEIGHT)


def _planned() -> object:
    """A dashed outline for what is not built yet."""
    planned = alt.FieldOneOfPredicate(field="status", oneOf=["construction", "announced"])
    return alt.condition(planned, alt.value([2, 2]), alt.value([1, 0]))


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    titles = {
        "name": say.title("name"),
        "organization": say.title("organization"),
        "accelerators_text": say.axis("accelerators"),
        "accelerator": say.title("accelerator"),
        "when": say.title("date"),
        "status_word": say("words.status_title"),
    }
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def power(
    points: pd.DataFrame, labels: pd.DataFrame, domain: list[str], span: tuple[int, int], say: ChartWords
) -> Drawing:
    """Dated sizes in megawatts on a log axis; dashed is planned."""
    x, y = dates("date", domain), powers("power_mw", say("clusters.megawatts"), *span)
    marks = alt.Chart(points).transform_calculate(status_word=worded("status", points["status"], say))
    titles = {
        "name": say.title("name"),
        "organization": say.title("organization"),
        "power_text": say("clusters.megawatts"),
        "when": say.title("date"),
        "status_word": say("words.status_title"),
    }
    tips = [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]
    drawn = marks.mark_point(aria=False).encode(
        x, y, stroke(), shape(), fill=fill(), strokeDash=_planned(), tooltip=tips
    )
    return alt.layer(drawn, *words(labels, x, y)).properties(height=HEIGHT)
