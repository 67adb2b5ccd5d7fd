"""Utilisation, dense against MoE at a glance, under a convention the reader picks."""

from __future__ import annotations

import json
from collections.abc import Callable

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.frames import DEFAULT_CONVENTION
from reports.drawing.grammar import Drawing, fill, shape, stroke, worded

_TOP = 0.7
_STEP = 44


def strip(
    points: pd.DataFrame, groups: pd.DataFrame, bands: pd.DataFrame, rows: dict[str, str], say: ChartWords
) -> Drawing:
    """Every set-up as a mark, one row per generation and sparsity; textbook bands behind, medians in front."""
    y = _rows(list(rows.values()))
    x = share(say, top(points))
    band = (
        alt.Chart(bands)
        .mark_rect(style="band", aria=False)
        .encode(x("low"), alt.X2("high"), y("top"), alt.Y2("bottom"))
    )
    dots = marks(points, say).encode(x("mfu"), y("place"))
    summary = alt.Chart(groups).transform_filter(chosen())
    quartiles = summary.mark_rule(style="quartiles", aria=False).encode(x("q25"), alt.X2("q75"), y("place"))
    median = summary.mark_tick(style="median", aria=False, size=30, thickness=2).encode(x("median"), y("place"))
    words = summary.mark_text(style="soft-label", align="right", dy=-17, aria=False).encode(
        y("place"), x=alt.datum(top(points)), text=say.own("summary")
    )
    crossed = alt.Chart(points).transform_filter(f"{chosen()} && datum.outlier")
    cross = crossed.mark_point(style="crossed", shape="cross", angle=45, aria=False).encode(x("mfu"), y("place"))
    layers = alt.layer(band, quartiles, dots, cross, median, words)
    return layers.add_params(convention()).properties(height=_STEP * len(rows))


def marks(points: pd.DataFrame, say: ChartWords) -> alt.Chart:
    """Marks of the chosen convention: hue and shape by sparsity, filled where printed."""
    words = {f"{column}_word": worded(column, points[column], say) for column in ("mark", "convention", "scope")}
    chart = alt.Chart(points).transform_filter(chosen()).transform_calculate(**words).mark_point(aria=False)
    encoded: alt.Chart = chart.encode(stroke=stroke(), shape=shape(), fill=fill(), tooltip=_tooltip(say))
    return encoded


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    titles = {
        "name": say.title("name"),
        "phase": say.title("phase"),
        "value": say("mfu.axis"),
        "convention_word": say.title("convention"),
        "scope_word": say("mfu.scope"),
        "mark_word": say("words.status_title"),
        "accelerator": say.title("accelerator"),
        "precision": say.title("precision"),
    }
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def convention() -> alt.Parameter:
    """The convention that the reader picks."""
    return alt.param(name="convention", value=DEFAULT_CONVENTION)


def chosen() -> str:
    """Keeps the rows of the picked convention."""
    return "datum.convention === convention"


def _rows(names: list[str]) -> Callable[[str], alt.Y]:
    """Named rows from the top, numbered from zero, so that a mark can stand a little above or below its row."""
    labels = f"{json.dumps(names, ensure_ascii=False)}[datum.value]"
    scale = alt.Scale(domain=[len(names) - 0.5, -0.5], nice=False, zero=False)
    axis = alt.Axis(title=None, grid=False, labelExpr=labels, domain=False, ticks=False, values=list(range(len(names))))
    return lambda column: alt.Y(f"{column}:Q", scale=scale, axis=axis)


def top(points: pd.DataFrame) -> float:
    """End of the axis: nothing lies beyond it."""
    return max(_TOP, float(points["mfu"].max()) * 1.03)


def share(say: ChartWords, top: float) -> Callable[[str], alt.X]:
    """Utilisation on x, from zero, the same for every layer."""
    ticks = [place / 10 for place in range(11) if place / 10 <= top]
    scale = alt.Scale(domain=[0, top], nice=False)
    axis = alt.Axis(format=".0%", title=say("mfu.axis"), values=ticks)
    return lambda column: alt.X(f"{column}:Q", scale=scale, axis=axis)
