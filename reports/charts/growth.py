"""Growth factors per year with their intervals, ours beside published ones."""

from __future__ import annotations

from typing import Any

import altair as alt
import numpy as np
import pandas as pd

from reports.charts.grammar import Drawing
from reports.voice import Voice

_STEP = 46
_TICKS = [1, 2, 3, 4, 5, 6, 8, 10, 15, 20]


def forest(rows: pd.DataFrame, names: list[str], say: Voice) -> Drawing:
    """A mark per factor, filled when published and hollow when computed here, a rule for the interval."""
    ends = rows[["growth", "low", "high"]].to_numpy(dtype=float)
    scale = alt.Scale(type="log", domain=[min(1.0, float(np.nanmin(ends))), float(np.nanmax(ends)) * 1.1], nice=False)
    axis = alt.Axis(values=_TICKS, title=say("growth.axis"), labelExpr="'×' + datum.label")
    y = alt.Y("id:N").sort(names).axis(None)
    known = alt.Chart(rows).transform_filter("isValid(datum.low)")
    rule = known.mark_rule(style="range", aria=False).encode(
        alt.X("low:Q").scale(scale).axis(axis), alt.X2("high"), y, _hue(alt.Stroke)
    )
    shown = alt.condition(alt.datum.whose == "published", _hue(alt.Fill), alt.value("transparent"))
    marks = (
        alt.Chart(rows)
        .mark_point(aria=False)
        .encode(alt.X("growth:Q").scale(scale).axis(axis), y, _hue(alt.Stroke), fill=shown, tooltip=_tooltip(say))
    )
    words = (
        alt.Chart(rows)
        .mark_text(style="soft-label", align="left", baseline="bottom", dy=-7, lineBreak="\n", aria=False)
        .encode(y, x=alt.value(0), text=say.own("label"))
    )
    return alt.layer(rule, marks, words).properties(height=_STEP * len(names))


def _hue(channel: type[alt.Fill] | type[alt.Stroke]) -> Any:
    return channel("whose:N").scale(domain=["published", "-", "--", "ours"]).legend(None)


def _tooltip(say: Voice) -> list[alt.Tooltip]:
    return [alt.Tooltip("text:N", title=say("growth.axis")), alt.Tooltip("window:N", title=say("growth.window"))]
