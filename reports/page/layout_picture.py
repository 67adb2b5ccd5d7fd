"""A layout as a picture: one dot per accelerator, a colour per pipeline stage, a box per scale-up domain."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, isqrt
from typing import Any

from markupsafe import Markup

from reports.numbers import exact
from reports.words import Bi, phrase, sentences

_STOPS = ((0x2F, 0x6D, 0xC0), (0x7F, 0x5B, 0xB5), (0xB8, 0x4F, 0x8A), (0xC9, 0x5A, 0x2E), (0x9A, 0x74, 0x10))
"""Colours from the first stage to the last; each at least 3:1 on the light and on the dark paper."""
_DOT, _JOINED, _APART, _BOX, _STAGE = 2.4, 0.25, 0.8, 1.5, 3.0
"""Pitch of the dots, gaps between dots of one TP group, of two groups, of two boxes, of two stages [px]."""
_LARGEST_BOX = 128
"""A larger domain (a TPU pod) encloses the picture instead of boxing its parts."""
_LOOSE = 16
"""Dots drawn together where no box is known."""
_MOST_OUTLINES = 160


@dataclass(frozen=True)
class Grid:
    """Where the dots of a layout go.

    Attributes
    ----------
    box
        Accelerators drawn together: a scale-up domain, or a handful where no domain divides the stage.
    columns, rows
        Dots of one box.
    boxes, lines, wide
        Boxes of one stage, the lines that they take, boxes on a full line.
    """

    box: int
    columns: int
    rows: int
    boxes: int
    lines: int
    wide: int
    boxed: bool

    @property
    def step(self) -> tuple[float, float]:
        """Width and height of a box with its gap [px]."""
        return self.columns * _DOT + _BOX, self.rows * _DOT + _BOX


def grid(layout: dict[str, Any], width: float) -> Grid:
    """Fold the boxes of a stage into lines of the given width.

    >>> one = {"accelerators": 16384, "pp": 16, "tp": 8, "domain": 8, "ep": None, "etp": None}
    >>> made = grid(one, 810)  # 128 boxes of 2 x 2.4 + 1.5 = 6.3 px take 806.4 px
    >>> made.boxes, made.columns, made.rows, made.lines
    (128, 2, 4, 1)
    >>> grid(one, 800).lines
    2
    """
    stage = layout["accelerators"] // layout["pp"]
    domain = layout["domain"]
    boxed = bool(domain) and domain <= _LARGEST_BOX and stage % domain == 0
    box = domain if boxed else max(n for n in range(1, _LOOSE + 1) if stage % n == 0)
    rows = next(n for n in range(max(isqrt(box - 1) + 1, 1), box + 1) if box % n == 0)
    columns, boxes = box // rows, stage // box
    most = max(int(width // (columns * _DOT + _BOX)), 1)
    group = _group(layout, box, boxed)
    wide = min(most, boxes)
    if group and group <= wide < boxes:
        wide -= wide % group
    return Grid(box, columns, rows, boxes, ceil(boxes / wide), wide, boxed)


def _group(layout: dict[str, Any], box: int, boxed: bool) -> int:
    """Boxes that share one set of experts; 0 when a set stays inside a box or its place is not known."""
    if not boxed or not layout["ep"] or (layout["etp"] is None and (layout["tp"] or 1) > 1):
        return 0
    size = layout["ep"] * (layout["etp"] or 1)
    return size // box if size > box and size % box == 0 else 0


def drawn(layout: dict[str, Any], width: float, name: str) -> Markup:
    """The picture as SVG in the page's own colours.

    Parameters
    ----------
    layout
        A row of the query run_layouts.
    width
        Room for the dots [px].
    name
        Start of the ids inside; unique on the page.
    """
    made = grid(layout, width)
    across, down = made.step
    height = made.lines * down
    total = layout["pp"] * (height + _STAGE) - _STAGE
    whole = made.wide * across - _BOX
    size = f'viewBox="0 0 {_n(whole)} {_n(total - _BOX)}" width="{100 * whole / width:.2f}%"'
    tile = f'width="{_n(across)}" height="{_n(down)}" patternUnits="userSpaceOnUse"'
    parts = [
        f'<svg class="dots" xmlns="http://www.w3.org/2000/svg" {size} role="img" aria-labelledby="{name}-t" '
        f'data-dots="{layout["accelerators"]}">',
        f'<defs><pattern id="{name}-box" {tile}>',
        f'<path class="gap" d="{_gaps(made, layout["tp"] or 1)}"/></pattern></defs>',
    ]
    for stage in range(layout["pp"]):
        parts.append(_stage(made, stage * (height + _STAGE), colour(stage, layout["pp"]), name))
    parts.append(_outlines(made, layout, height + _STAGE))
    return Markup("".join([*parts, "</svg>"]))  # noqa: S704  (numbers and ids of ours)


def _stage(made: Grid, top: float, fill: str, name: str) -> str:
    """Full lines of a stage and its last, shorter one: colour below, the gaps between dots above."""
    across, down = made.step
    rest = made.boxes - (made.lines - 1) * made.wide
    blocks = [(0, made.lines - 1, made.wide), (made.lines - 1, 1, rest)] if rest < made.wide else []
    drawn_parts = []
    for line, lines, boxes in blocks or [(0, made.lines, made.wide)]:
        if lines:
            size = f'width="{_n(boxes * across)}" height="{_n(lines * down)}"'
            place = f'<g transform="translate(0 {_n(top + line * down)})">'
            drawn_parts.append(f'{place}<rect {size} fill="{fill}"/><rect {size} fill="url(#{name}-box)"/></g>')
    return "".join(drawn_parts)


def _gaps(made: Grid, tp: int) -> str:
    """The paper between dots: thin inside a TP group, wider between groups, widest around the box."""
    across, down = made.step
    path = [_rect(across - _BOX, 0, _BOX, down), _rect(0, down - _BOX, across, _BOX)]
    for row in range(made.rows):
        for column in range(made.columns):
            rank = row * made.columns + column
            for other, flat in ((rank + 1, column + 1 < made.columns), (rank + made.columns, False)):
                if (flat or (other == rank + made.columns and row + 1 < made.rows)) and other < made.box:
                    gap = _JOINED if rank // tp == other // tp else _APART
                    x, y = column * _DOT, row * _DOT
                    path.append(
                        _rect(x + _DOT - gap / 2, y, gap, _DOT) if flat else _rect(x, y + _DOT - gap / 2, _DOT, gap)
                    )
    return "".join(path)


def _outlines(made: Grid, layout: dict[str, Any], step: float) -> str:
    """A line around the boxes that hold one set of experts."""
    group = _group(layout, made.box, made.boxed)
    if not group or made.wide % group or layout["pp"] * made.boxes // group > _MOST_OUTLINES:
        return ""
    across, down = made.step
    path = [
        _rect(place % made.wide * across - 0.4, stage * step + place // made.wide * down - 0.4,
              group * across - _BOX + 0.8, down - _BOX + 0.8)
        for stage in range(layout["pp"])
        for place in range(0, made.boxes, group)
    ]  # fmt: skip
    return f'<path class="experts" d="{"".join(path)}"/>'


def colour(stage: int, stages: int) -> str:
    """The colour of a stage, even steps from the first to the last.

    >>> colour(0, 16), colour(15, 16)
    ('#2f6dc0', '#9a7410')
    """
    place = 0.0 if stages < 2 else stage / (stages - 1) * (len(_STOPS) - 1)
    low = min(int(place), len(_STOPS) - 2)
    mixed = (round(a + (b - a) * (place - low)) for a, b in zip(_STOPS[low], _STOPS[low + 1], strict=True))
    return "#" + "".join(f"{part:02x}" for part in mixed)


def _rect(x: float, y: float, width: float, height: float) -> str:
    return f"M{_n(x)} {_n(y)}h{_n(width)}v{_n(height)}h-{_n(width)}z"


def _n(value: float) -> str:
    return f"{value:.2f}".rstrip("0").rstrip(".")


def caption(layout: dict[str, Any]) -> Bi:
    """What the picture shows, in words: degrees, stages, boxes, where TP and the experts lie."""
    made = grid(layout, 800)
    degrees = " × ".join(f"{axis.upper()} {exact(layout[axis])}" for axis in ("tp", "cp", "pp", "dp") if layout[axis])
    parts = [phrase("picture.degrees", n=exact(layout["accelerators"]), degrees=degrees)]
    parts.append(phrase("picture.stages", n=layout["pp"]) if layout["pp"] > 1 else phrase("picture.one_stage"))
    if made.boxed:
        parts.append(phrase("picture.boxes", n=exact(made.boxes * layout["pp"]), size=made.box))
    elif layout["domain"]:
        parts.append(phrase("picture.pod", size=exact(layout["domain"])))
    parts.extend(_where(layout, made))
    if layout["derived"]:
        parts.append(phrase("picture.derived"))
    return sentences(*parts, mark=Bi("; ", "；"))


def _where(layout: dict[str, Any], made: Grid) -> list[Bi]:
    """Where tensor parallelism and the experts lie."""
    tp, group = layout["tp"], _group(layout, made.box, made.boxed)
    words = []
    if tp == 1:
        words.append(phrase("picture.no_tp"))
    elif tp and made.boxed:
        words.append(phrase("picture.tp_inside" if tp <= made.box else "picture.tp_across", tp=tp))
    if group:
        words.append(phrase("picture.experts", ep=layout["ep"], boxes=group))
    return words
