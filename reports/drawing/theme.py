"""One look: colours by meaning, and the Vega-Lite configuration of the light, the dark and the script-free page."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

FONT = 'system-ui, "Noto Sans", "PingFang SC", "Microsoft YaHei", "Noto Sans CJK SC", "Noto Sans SC", sans-serif'
HUES = ("dense", "moe", "undisclosed", "cluster")
SHAPES = ("circle", "diamond", "triangle-up", "square")


@dataclass(frozen=True)
class Palette:
    """Colours of one theme. Hues are those of Okabe and Ito, which readers with any colour vision tell apart."""

    ink: str
    soft: str
    grid: str
    paper: str
    dense: str
    moe: str
    undisclosed: str
    accent: str
    band: str
    fit: str
    parts: tuple[str, ...]


LIGHT = Palette(
    ink="#1b1f24",
    soft="#57606a",
    grid="#d8dee4",
    paper="#ffffff",
    dense="#0072b2",
    moe="#c4500a",
    undisclosed="#6e7781",
    accent="#7b3f8c",
    band="#1b1f24",
    fit="#00795a",
    parts=("#0b5394", "#7cc0ee", "#8a2f06", "#f0b840", "#2f7d5d", "#b7a3d3"),
)
DARK = Palette(
    ink="#e6edf3",
    soft="#a3adb8",
    grid="#363d46",
    paper="#14181d",
    dense="#56b4e9",
    moe="#f0943a",
    undisclosed="#9aa4af",
    accent="#d59be6",
    band="#e6edf3",
    fit="#3fbf95",
    parts=("#4aa0e8", "#cfe8fb", "#d9651f", "#ffdf8a", "#2f9e77", "#e6d0f7"),
)
# The script-free pictures take their colours from the page, so they follow its theme.
PAGE = Palette(
    ink="var(--ink)",
    soft="var(--soft)",
    grid="var(--grid)",
    paper="var(--paper)",
    dense="var(--dense)",
    moe="var(--moe)",
    undisclosed="var(--undisclosed)",
    accent="var(--accent)",
    band="var(--ink)",
    fit="var(--fit)",
    parts=tuple(f"var(--part-{place})" for place in range(6)),
)


def config(palette: Palette) -> dict[str, Any]:
    """The Vega-Lite configuration: everything about looks that a chart does not say itself.

    >>> config(LIGHT)["background"]
    '#ffffff'
    """
    return {
        "background": palette.paper,
        "font": FONT,
        "padding": 2,
        "axis": _axis(palette),
        "axisX": {"gridDash": [1, 3], "labelFlush": True, "titleAnchor": "end"},
        "axisY": {"titleAngle": 0, "titleAlign": "left", "titleAnchor": "end", "titleBaseline": "bottom", "titleY": -8},
        "legend": {"disable": True, "aria": False},
        "view": {"stroke": None},
        "range": {
            "category": [palette.dense, palette.moe, palette.undisclosed, palette.accent],
            "ordinal": list(palette.parts),
        },
        "point": {"opacity": 1, "size": 62, "strokeWidth": 1.6},
        "text": {"fontSize": 11, "color": palette.ink, "font": FONT},
        "bar": {"stroke": palette.paper, "strokeWidth": 1},
        "style": _styles(palette),
    }


def _axis(palette: Palette) -> dict[str, Any]:
    return {
        "aria": False,
        "labelColor": palette.soft,
        "titleColor": palette.soft,
        "titleFontWeight": "normal",
        "titleFontSize": 12,
        "labelFontSize": 11,
        "labelAngle": 0,
        "labelLimit": 190,
        "labelOverlap": "greedy",
        "labelSeparation": 5,
        "gridColor": palette.grid,
        "domainColor": palette.grid,
        "tickColor": palette.grid,
        "titlePadding": 8,
    }


def _styles(palette: Palette) -> dict[str, Any]:
    return {
        "band": {"color": palette.band, "opacity": 0.09},
        "range": {"opacity": 0.75, "strokeWidth": 1.4},
        "frontier": {"color": palette.ink, "strokeWidth": 1.2, "opacity": 0.7},
        "fit": {"color": palette.fit, "strokeWidth": 2},
        "fit-band": {"color": palette.fit, "opacity": 0.16},
        "capacity-halo": {"color": palette.paper, "strokeWidth": 6},
        "capacity": {"color": palette.ink, "strokeWidth": 2},
        "usable": {"color": palette.ink, "strokeWidth": 1.5, "strokeDash": [2, 3]},
        "median": {"color": palette.ink, "opacity": 1},
        "quartiles": {"color": palette.ink, "strokeWidth": 6, "opacity": 0.22},
        "undisclosed": {"color": palette.undisclosed, "filled": False},
        "crossed": {"color": palette.ink, "size": 150, "filled": True, "opacity": 0.9},
        "chosen": {"stroke": palette.ink, "strokeWidth": 2.2, "size": 260, "filled": False, "opacity": 1},
        "chosen-label": {"color": palette.ink, "fontSize": 12, "fontWeight": "bold"},
        "chosen-halo": {
            "color": palette.paper,
            "stroke": palette.paper,
            "strokeWidth": 4,
            "strokeJoin": "round",
            "fontSize": 12,
            "fontWeight": "bold",
        },
        "label": {"color": palette.ink, "fontSize": 11},
        "share": {"color": palette.dense},
        "halo": {
            "color": palette.paper,
            "stroke": palette.paper,
            "strokeWidth": 3,
            "strokeJoin": "round",
            "fontSize": 11,
        },
        "soft-label": {"color": palette.soft, "fontSize": 11},
        "accent-label": {"color": palette.accent, "fontSize": 11},
    }
