"""Memory: the states of a model against one card, and the stages of a layout against theirs."""

from __future__ import annotations

from collections.abc import Iterable

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
    word = card.mark_text(style="label", align="left", dx=4, baseline="top", aria=False).encode(
        alt.X("hbm_gb:Q"), y=alt.value(0), text=say.own("card_label")
    )
    return alt.layer(bars, rule, word).properties(height=64)


def ordered(parts: Iterable[str]) -> list[str]:
    """Parts in the fixed order of every memory picture, what is not in it last."""
    return sorted(
        set(parts), key=lambda part: (STAGE_PARTS.index(part) if part in STAGE_PARTS else len(STAGE_PARTS), part)
    )


def stages(parts: pd.DataFrame, totals: pd.DataFrame, say: Voice) -> Drawing:
    """A bar per pipeline stage from the first to the last, parts in a fixed order, against the card."""
    names = ordered(parts["part"])
    x = alt.X("value:Q").axis(title=say("layouts.axis"), tickCount=6)
    y = alt.Y("stage:O").axis(title=None, domain=False, ticks=False)
    bars = alt.Chart(parts).mark_bar(aria=False).encode(
        x, y, alt.Order("order:Q"), color=alt.Color("part:N").scale(domain=names, range="ordinal").legend(None),
        tooltip=[alt.Tooltip("stage:O"), alt.Tooltip("part:N"), alt.Tooltip("value:Q", format=".1f")],
    )  # fmt: skip
    text = alt.Chart(totals)
    words = [
        text.mark_text(style=style, align="left", dx=4, aria=False).encode(x, y, text="label:N")
        for style in ("halo", "label")
    ]
    card = alt.Chart(totals.head(1)).mark_rule(style="capacity", aria=False).encode(x=alt.X("card:Q"))
    span = alt.Chart(totals.head(1)).transform_filter("isValid(datum.low)")
    band = span.mark_rect(style="band", aria=False).encode(x=alt.X("low:Q"), x2="high")
    return alt.layer(band, bars, card, *words).properties(height=alt.Step(18))


def _part() -> alt.Color:
    return alt.Color("part:N").scale(domain=list(PARTS), range="ordinal").legend(None)


def _tooltip(say: Voice) -> list[alt.Tooltip]:
    return [alt.Tooltip(f"{say.own('part')}:N", title=say("fit.part")), alt.Tooltip("gb:Q", format=",.0f", title="GB")]
