"""The social card: the title and the first picture, made at build time."""

from __future__ import annotations

import re
from typing import Any

import vl_convert
from markupsafe import escape

from reports.drawing.theme import DARK, FONT
from reports.page.layout_picture import drawn
from reports.words import plain

_HEAD = (
    '<svg xmlns="http://www.w3.org/2000/svg" width="1200" height="630"><rect width="1200" height="630" fill="{paper}"/>'
)
_WORD = (
    '<text x="{x}" y="{y}" font-size="{size}" font-weight="{weight}" fill="{fill}" font-family="{font}">{text}</text>'
)
_WIDTH = 815.0
_LEFT = 50


def card(counts: dict[str, Any], layouts: list[dict[str, Any]]) -> bytes:
    """A PNG of 1200 by 630 pixels: the title in both languages above the layouts, one dot per accelerator.

    Parameters
    ----------
    counts
        The row of the query counts.
    layouts
        Rows of the query run_layouts, drawn side by side on one scale.
    """
    numbers = plain("page.card").format(runs=f"{counts['runs']:,}", cited=f"{counts['citations']:,}").en
    words = [
        (f"shardbook · {numbers}", 60, 24, 400, DARK.soft),
        (plain("page.title").en, 118, 46, 700, DARK.ink),
        (plain("page.title").zh, 168, 32, 700, DARK.ink),
    ]
    parts = [_HEAD.format(paper=DARK.paper), *(_word(*word) for word in words)]
    x = _LEFT
    for place, layout in enumerate(layouts):
        name = f"{layout['name']}: {layout['accelerators']:,}"
        parts.append(_word(name, 262, 20, 400, DARK.ink, x))
        picture, width = _painted(str(drawn(layout, _WIDTH, f"card-{place}")), x)
        parts.append(picture)
        x += max(round(width), 11 * len(name)) + 50
    return bytes(vl_convert.svg_to_png("".join([*parts, "</svg>"]), scale=1))


def _painted(picture: str, x: int) -> tuple[str, float]:
    """The picture with its colours and its place written into it, and its width."""
    match = re.search(r'viewBox="0 0 ([\d.]+) ([\d.]+)"', picture)
    width, height = (float(side) for side in match.groups()) if match else (0.0, 0.0)
    placed = re.sub(
        r' width="[\d.]+%"', f' x="{x}" y="280" width="{width:.1f}" height="{height:.1f}"', picture, count=1
    )
    placed = placed.replace('class="gap"', f'fill="{DARK.paper}"')
    return placed.replace('class="experts"', f'fill="none" stroke="{DARK.ink}" stroke-width="0.7"'), width


def _word(text: str, y: int, size: int, weight: int, fill: str, x: int = _LEFT) -> str:
    return _WORD.format(x=x, y=y, size=size, weight=weight, fill=fill, font=escape(FONT), text=escape(text))
