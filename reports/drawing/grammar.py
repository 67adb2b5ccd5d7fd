"""The mark grammar of the site: hue and shape say dense, MoE or cluster; filled is reported, hollow is not."""

from __future__ import annotations

import json
from collections.abc import Iterable

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.theme import HUES, SHAPES
from reports.numbers import exact, scientific

Drawing = alt.LayerChart | alt.FacetChart


def stroke() -> alt.Stroke:
    """Hue by what the mark is; the theme has the colours."""
    return alt.Stroke("hue:N").scale(domain=list(HUES)).legend(None)


def shape() -> alt.Shape:
    """Marker by what the mark is, so that the hue is never alone."""
    return alt.Shape("hue:N").scale(domain=list(HUES), range=list(SHAPES)).legend(None)


def fill() -> object:
    """Filled when reported, hollow otherwise."""
    hue = alt.Fill("hue:N").scale(domain=list(HUES)).legend(None)
    return alt.condition(alt.datum.mark == "reported", hue, alt.value("transparent"))


def dates(column: str, domain: list[str]) -> alt.X:
    """A date axis in UTC: a day stays the same day in every time zone."""
    scale = alt.Scale(type="utc", domain=domain, nice=False)
    return alt.X(f"{column}:T").scale(scale).axis(format="%Y", tickCount="year", title=None)


def powers(column: str, title: str, lowest: int, highest: int) -> alt.Y:
    """A logarithmic axis with a tick at every power of ten, written as a power or, up to ten million, as a count."""
    ticks = [float(10**power) for power in range(lowest, highest + 1)]
    names = [scientific(tick) if highest > 7 else exact(tick) for tick in ticks]
    label = f"{json.dumps(names, ensure_ascii=False)}[round(log(datum.value) / LN10) - {lowest}]"
    scale = alt.Scale(type="log", domain=[ticks[0], ticks[-1]], nice=False)
    return alt.Y(f"{column}:Q").scale(scale).axis(values=ticks, title=title, labelExpr=label)


def words(labels: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Names at the offsets computed for them, on a halo of paper; a narrow plot keeps those that fit."""
    text = alt.Chart(labels).transform_filter("width >= datum.min_width")
    layers = [text.mark_text(style=style, aria=False).encode(x, y, text="text:N") for style in ("halo", "label")]
    for layer in layers:
        for side in ("dx", "dy", "align"):
            layer.mark[side] = alt.ExprRef(f"datum.{side}")
    return layers


def worded(column: str, codes: Iterable[str], say: ChartWords) -> str:
    """An expression that turns the codes of a column into words, so that the data holds codes alone."""
    words = {code: say.code(code) for code in sorted(set(codes))}
    return f"{json.dumps(words, ensure_ascii=False)}[datum.{column}]"


def fitted(fit: pd.DataFrame, x: alt.X) -> list[alt.Chart]:
    """A fitted line on its interval, part by part; nothing when nothing is fitted."""
    if fit.empty:
        return []
    chart = alt.Chart(fit)
    band = chart.mark_area(style="fit-band", aria=False, clip=True).encode(
        x, alt.Y("low:Q"), alt.Y2("high"), alt.Detail("part:N")
    )
    return [band, chart.mark_line(style="fit", aria=False, clip=True).encode(x, alt.Y("fit:Q"), alt.Detail("part:N"))]
