"""Communication by axis: bytes on one panel, time on another, never summed where they overlap."""

from __future__ import annotations

import json
from math import ceil, floor, log10
from typing import Any

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing
from reports.numbers import size

_STEP = 34
_HUES = ("dense", "moe")
AXES = ("tp", "ep", "cp", "pp", "dp")


def traffic(rows: pd.DataFrame, names: dict[str, str], say: ChartWords) -> Drawing:
    """Bytes that one accelerator sends per step, log scale; a dot per run, axis and link, filled inside a domain."""
    values = rows["sent"]
    ends = [10.0 ** floor(log10(values.min())), 10.0 ** ceil(log10(values.max()))]
    ticks = [10.0**power for power in range(round(log10(ends[0])), round(log10(ends[1])) + 1)]
    written = json.dumps([size(tick) for tick in ticks])
    labels = f"{written}[round(log(datum.value) / LN10) - {round(log10(ends[0]))}]"
    scale = alt.Scale(type="log", domain=ends, nice=False)
    x = alt.X("sent:Q").scale(scale).axis(values=ticks, title=say("communication.bytes"), labelExpr=labels)
    inside = alt.condition(alt.datum.link == "scale-up", _hue(alt.Fill), alt.value("transparent"))
    marks = alt.Chart(rows).mark_point(size=90, aria=False)
    encoded = marks.encode(
        x, _axes(rows, names), _offset(), _hue(alt.Stroke), _shape(), fill=inside, tooltip=_sent(say)
    )
    return alt.layer(encoded).properties(height=_STEP * rows["dimension"].nunique())


def time(rows: pd.DataFrame, names: dict[str, str], say: ChartWords) -> Drawing:
    """Seconds per step, linear from zero: a thin rule to the whole time, a dot where the exposed part ends."""
    end = float(rows[["seconds", "exposed_s"]].max().max()) * 1.05
    scale = alt.Scale(domain=[0, end], nice=False)
    x = alt.X("zero:Q").scale(scale).axis(title=say("communication.seconds"), tickCount=6)
    place = (_axes(rows, names), _offset(), _hue(alt.Stroke))
    whole = alt.Chart(rows).mark_rule(style="range", aria=False).encode(x, alt.X2("seconds"), *place)
    mark = alt.Chart(rows).mark_point(size=60, aria=False).encode(*place, _shape(), tooltip=_tooltip(say))
    ends = mark.encode(alt.X("seconds:Q"), fill=alt.value("transparent"))
    exposed = mark.encode(alt.X("exposed_s:Q"), _hue(alt.Fill))
    return alt.layer(whole, ends, exposed).properties(height=_STEP * rows["dimension"].nunique())


def _hue(channel: type[alt.Fill] | type[alt.Stroke]) -> Any:
    return channel("hue:N").scale(domain=list(_HUES)).legend(None)


def _shape() -> alt.Shape:
    return alt.Shape("hue:N").scale(domain=list(_HUES), range=["circle", "diamond"]).legend(None)


def _axes(rows: pd.DataFrame, names: dict[str, str]) -> alt.Y:
    order = [axis for axis in AXES if axis in set(rows["dimension"])]
    labels = f"{json.dumps(names, ensure_ascii=False)}[datum.label]"
    return alt.Y("dimension:N").sort(order).axis(title=None, labelExpr=labels, domain=False, ticks=False, grid=True)


def _offset() -> alt.YOffset:
    return alt.YOffset("hue:N").scale(domain=list(_HUES))


def _sent(say: ChartWords) -> list[alt.Tooltip]:
    titles = {
        "name": say.title("name"),
        "dimension": say.title("dimension"),
        "sent_text": say("communication.bytes"),
        "link": say("communication.link"),
    }
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    titles = {
        "name": say.title("name"),
        "dimension": say.title("dimension"),
        "bytes_text": say("communication.bytes"),
        "placement": say("communication.link"),
        "seconds_text": say("communication.seconds"),
        "exposed_text": say("communication.exposed"),
    }
    return [alt.Tooltip(f"{column}:N", title=title) for column, title in titles.items()]
