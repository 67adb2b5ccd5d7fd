"""The states of a model against the memory of one card."""

from __future__ import annotations

from typing import Literal

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing

PARTS = ("weights", "gradients", "master", "moments")


def states(parts: pd.DataFrame, say: ChartWords) -> Drawing:
    """One bar, part after part from zero, and a rule where one card ends."""
    end = float(parts["gb_end"].max()) * 1.02
    scale = alt.Scale(domain=[0, max(end, float(parts["hbm_gb"].max()) * 1.1)], nice=False)
    axis = alt.Axis(title=say("states.axis"), format=",.0f", tickCount=6)
    x = alt.X("start:Q").scale(scale).axis(axis)
    bars = alt.Chart(parts).mark_bar(height=34, aria=False).encode(
        x, alt.X2("gb_end"), color=_part(), y=alt.value(30), tooltip=_tooltip(say)
    )  # fmt: skip
    card = alt.Chart(parts.head(1))
    rules = [
        card.mark_rule(style=style, aria=False).encode(alt.X("hbm_gb:Q"), y=alt.value(4), y2=alt.value(56))
        for style in ("capacity-halo", "capacity")
    ]
    inside = float(parts["hbm_gb"].max()) > end / 2
    side: Literal["left", "right"] = "right" if inside else "left"
    text = card.mark_text(style="label", align=side, dx=-4 if inside else 4, baseline="top", aria=False)
    word = text.encode(alt.X("hbm_gb:Q"), y=alt.value(0), text=say.own("card_label"))
    return alt.layer(bars, *rules, word).properties(height=64)


def _part() -> alt.Color:
    return alt.Color("part:N").scale(domain=list(PARTS), range="ordinal").legend(None)


def _tooltip(say: ChartWords) -> list[alt.Tooltip]:
    return [
        alt.Tooltip(f"{say.own('part')}:N", title=say("states.part")),
        alt.Tooltip("gb:Q", format=",.0f", title="GB"),
    ]
