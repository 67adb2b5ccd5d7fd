"""Memory of the stages of a layout against their card."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing

STAGE_PARTS = ("weights", "gradients", "optimizer", "activations", "working", "overhead")
_COLUMN = 92
"""Room for the totals [px]."""


def ordered(parts: Iterable[str]) -> list[str]:
    """Parts in the fixed order of every memory picture, what is not in it last."""
    return sorted(
        set(parts), key=lambda part: (STAGE_PARTS.index(part) if part in STAGE_PARTS else len(STAGE_PARTS), part)
    )


def stages(parts: pd.DataFrame, totals: pd.DataFrame, end: float, say: ChartWords) -> Drawing:
    """A bar per pipeline stage from the first to the last, parts in a fixed order, against the card.

    `end` is the end of the axis [GiB], the same for every picture; totals stand in a column of their own on the right.
    """
    scale = alt.Scale(domain=[0, end], nice=False, rangeMax=alt.ExprRef(f"width - {_COLUMN}"))
    x = alt.X("value:Q").scale(scale).axis(title=say("memory_by_stage.axis"), tickCount=5, titleAnchor="start")
    y = alt.Y("stage:O").axis(title=None, domain=False, ticks=False)
    hue = alt.Color("part:N").scale(domain=ordered(parts["part"]), range="ordinal").legend(None)
    tips = [alt.Tooltip("stage:O"), alt.Tooltip("part:N"), alt.Tooltip("value:Q", format=".1f")]
    bars = alt.Chart(parts).mark_bar(aria=False).encode(x, y, alt.Order("order:Q"), hue, tooltip=tips)
    one = alt.Chart(totals.head(1))
    card = [one.mark_rule(style=style, aria=False).encode(x=alt.X("card:Q")) for style in ("capacity-halo", "capacity")]
    band = one.transform_filter("isValid(datum.low)").mark_rect(style="band", aria=False)
    text = alt.Chart(totals).mark_text(style="label", align="right", aria=False)
    column = text.encode(y, x=alt.value("width"), text="label:N")
    return alt.layer(band.encode(x=alt.X("low:Q"), x2="high"), bars, *card, column).properties(height=alt.Step(18))
