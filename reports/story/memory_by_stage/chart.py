"""Memory of the stages of a layout against their card."""

from __future__ import annotations

from collections.abc import Iterable

import altair as alt
import pandas as pd

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing

STAGE_PARTS = ("weights", "gradients", "optimizer", "activations", "working", "overhead")


def ordered(parts: Iterable[str]) -> list[str]:
    """Parts in the fixed order of every memory picture, what is not in it last."""
    return sorted(
        set(parts), key=lambda part: (STAGE_PARTS.index(part) if part in STAGE_PARTS else len(STAGE_PARTS), part)
    )


def stages(parts: pd.DataFrame, totals: pd.DataFrame, say: ChartWords) -> Drawing:
    """A bar per pipeline stage from the first to the last, parts in a fixed order, against the card."""
    end = float(totals[["value", "card", "high"]].astype(float).max().max()) * 1.22
    x = alt.X("value:Q").scale(domain=[0, end], nice=False).axis(title=say("memory_by_stage.axis"), tickCount=6)
    y = alt.Y("stage:O").axis(title=None, domain=False, ticks=False)
    hue = alt.Color("part:N").scale(domain=ordered(parts["part"]), range="ordinal").legend(None)
    tips = [alt.Tooltip("stage:O"), alt.Tooltip("part:N"), alt.Tooltip("value:Q", format=".1f")]
    bars = alt.Chart(parts).mark_bar(aria=False).encode(x, y, alt.Order("order:Q"), hue, tooltip=tips)
    one = alt.Chart(totals.head(1))
    card = one.mark_rule(style="capacity", aria=False).encode(x=alt.X("card:Q"))
    band = one.transform_filter("isValid(datum.low)").mark_rect(style="band", aria=False)
    return alt.layer(band.encode(x=alt.X("low:Q"), x2="high"), bars, card, *_totals(totals, x, y)).properties(
        height=alt.Step(18)
    )


def _totals(totals: pd.DataFrame, x: alt.X, y: alt.Y) -> list[alt.Chart]:
    """Total and headroom at the end of each bar, on a halo of paper."""
    text = alt.Chart(totals)
    styles = ("halo", "label")
    return [
        text.mark_text(style=style, align="left", dx=4, aria=False).encode(x, y, text="label:N") for style in styles
    ]
