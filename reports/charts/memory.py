"""Memory: the states of a model against one card, and the stages of a layout against theirs."""

from __future__ import annotations

from collections.abc import Iterable
from typing import Literal

import altair as alt
import pandas as pd

from reports.charts.grammar import Drawing
from reports.voice import Voice

PARTS = ("weights", "gradients", "master", "moments")
STAGE_PARTS = ("weights", "gradients", "optimizer", "activations", "working", "overhead")


def states(parts: pd.DataFrame, say: Voice) -> Drawing:
    """One bar, part after part from zero, and a rule where one card ends."""
    end = float(parts["gb_end"].max()) * 1.02
    scale = alt.Scale(domain=[0, max(end, float(parts["hbm_gb"].max()) * 1.1)], nice=False)
    axis = alt.Axis(title=say("fit.axis"), format=",.0f", tickCount=6)
    x = alt.X("start:Q").scale(scale).axis(axis)
    bars = alt.Chart(parts).mark_bar(height=34, aria=False).encode(
        x, alt.X2("gb_end"), color=_part(), y=alt.value(30), tooltip=_tooltip(say)
    )  # fmt: skip
    card = alt.Chart(parts.head(1))
    rule = card.mark_rule(style="capacity", aria=False).encode(alt.X("hbm_gb:Q"), y=alt.value(4), y2=alt.value(56))
    inside = float(parts["hbm_gb"].max()) > end / 2
    side: Literal["left", "right"] = "right" if inside else "left"
    text = card.mark_text(style="label", align=side, dx=-4 if inside else 4, baseline="top", aria=False)
    word = text.encode(alt.X("hbm_gb:Q"), y=alt.value(0), text=say.own("card_label"))
    return alt.layer(bars, rule, word).properties(height=64)


def ordered(parts: Iterable[str]) -> list[str]:
    """Parts in the fixed order of every memory picture, what is not in it last."""
    return sorted(
        set(parts), key=lambda part: (STAGE_PARTS.index(part) if part in STAGE_PARTS else len(STAGE_PARTS), part)
    )


def stages(parts: pd.DataFrame, totals: pd.DataFrame, say: Voice) -> Drawing:
    """A bar per pipeline stage from the first to the last, parts in a fixed order, against the card."""
    end = float(totals[["value", "card", "high"]].astype(float).max().max()) * 1.22
    x = alt.X("value:Q").scale(domain=[0, end], nice=False).axis(title=say("layouts.axis"), tickCount=6)
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


def _part() -> alt.Color:
    return alt.Color("part:N").scale(domain=list(PARTS), range="ordinal").legend(None)


def _tooltip(say: Voice) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{say.own('part')}:N", title=say("fit.part")), alt.Tooltip("gb:Q", format=",.0f", title="GB")]
