"""A row per entry: a mark at its value, a rule over its interval, its name above."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing

_STEP = 36


@dataclass(frozen=True)
class Axis:
    """The shared logarithmic axis: ticks, how they are written, what must be on it, and the key of its title."""

    title: str
    ticks: tuple[float, ...]
    label: str
    shown: tuple[float, float]
    rule: float | None = None


def forest(rows: pd.DataFrame, filled: str, hollow: str, axis: Axis, say: ChartWords) -> Drawing:
    """Two groups of entries, one of filled and one of hollow marks.

    Parameters
    ----------
    rows
        id, group, value, low, high (the last two may be empty), text and detail (both shown in the tooltip), label_en
        and label_zh.
    filled, hollow
        The two values of `group`.
    axis
        Its ends give way to the data.
    """
    ends = rows[["value", "low", "high"]].to_numpy(dtype=float)
    domain = [min(axis.shown[0], float(np.nanmin(ends))), max(axis.shown[1], float(np.nanmax(ends)))]
    scale = alt.Scale(type="log", domain=domain, nice=False)
    drawn = alt.Axis(values=list(axis.ticks), title=say(axis.title), labelExpr=axis.label)
    y = alt.Y("id:N").sort(list(rows["id"])).axis(None)
    hues = [filled, "-", "--", hollow]
    known = alt.Chart(rows).transform_filter("isValid(datum.low)")
    rule = known.mark_rule(style="range", aria=False).encode(
        alt.X("low:Q").scale(scale).axis(drawn), alt.X2("high"), y, _hue(alt.Stroke, hues)
    )
    inside = alt.condition(alt.datum.group == filled, _hue(alt.Fill, hues), alt.value("transparent"))
    marks = (
        alt.Chart(rows)
        .mark_point(aria=False)
        .encode(
            alt.X("value:Q").scale(scale).axis(drawn),
            y,
            _hue(alt.Stroke, hues),
            fill=inside,
            tooltip=[alt.Tooltip("text:N", title=say(axis.title)), alt.Tooltip(f"{say.own('detail')}:N", title=" ")],
        )
    )
    words = (
        alt.Chart(rows)
        .mark_text(style="soft-label", align="left", baseline="bottom", dy=-6, lineBreak="\n", aria=False)
        .encode(y, x=alt.value(0), text=say.own("label"))
    )
    layers = [rule, marks, words]
    if axis.rule is not None:
        at = alt.Chart(pd.DataFrame({"at": [axis.rule]})).mark_rule(style="usable", aria=False)
        layers.insert(0, at.encode(alt.X("at:Q").scale(scale).axis(drawn)))
    return alt.layer(*layers).properties(height=_STEP * len(rows))


def _hue(channel: type[alt.Fill] | type[alt.Stroke], hues: list[str]) -> Any:
    return channel("group:N").scale(domain=hues).legend(None)
