"""The social card: title and counts as a picture, made at build time."""

from __future__ import annotations

from typing import Any

import vl_convert
from markupsafe import escape

from reports.drawing.theme import DARK, FONT
from reports.words import plain

_HEIGHTS = (90, 150, 120, 210, 160, 230, 190)
_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><rect width="1200" height="630" fill="{paper}"/>'
)
_WORD = (
    '<text x="80" y="{y}" font-size="{size}" font-weight="{weight}" fill="{fill}" font-family="{font}">{text}</text>'
)
_BAR = '<rect x="{x}" y="{y}" width="36" height="{height}" fill="{fill}"/>'


def card(counts: dict[str, Any]) -> bytes:
    """A PNG of 1200 by 630 pixels."""
    words = [
        ("shardbook", 130, 34, 700, DARK.moe),
        (plain("page.title").en, 225, 58, 700, DARK.ink),
        (plain("page.title").zh, 300, 48, 700, DARK.ink),
        (
            plain("page.card").format(runs=f"{counts['runs']:,}", cited=f"{counts['citations']:,}").en,
            560,
            30,
            400,
            DARK.soft,
        ),
    ]
    picture = [_HEAD.format(paper=DARK.paper), *(_word(*word) for word in words)]
    bars = (_bar(place, height) for place, height in enumerate(_HEIGHTS))
    return bytes(vl_convert.svg_to_png("".join([*picture, *bars, "</svg>"]), scale=1))


def _word(text: str, y: int, size: int, weight: int, fill: str) -> str:
    return _WORD.format(y=y, size=size, weight=weight, fill=fill, font=escape(FONT), text=escape(text))


def _bar(place: int, height: int) -> str:
    return _BAR.format(x=740 + 56 * place, y=570 - height, height=height, fill=DARK.dense if place % 3 else DARK.moe)
