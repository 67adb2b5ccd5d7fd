"""Where words fit beside points: a greedy placement made before the page exists, for several widths of the plot."""

from __future__ import annotations

from dataclasses import dataclass

WIDTHS = (560.0, 430.0, 250.0)
_CHARACTER = 6.1
_LINE = 13.0


@dataclass(frozen=True)
class Point:
    """A labelled point: x and y as shares of the plot (y from the top), the word, and whether it must stay."""

    x: float
    y: float
    text: str


@dataclass(frozen=True)
class Place:
    """Offsets of one word and the narrowest plot on which it still touches nothing."""

    dx: float
    dy: float
    align: str
    min_width: float


_Box = tuple[float, float, float, float]
_CANDIDATES = (
    (8, 0, "left"),
    (-8, 0, "right"),
    (0, -11, "center"),
    (0, 12, "center"),
    (8, -9, "left"),
    (-8, 10, "right"),
)


def place(points: list[Point], obstacles: list[tuple[float, float]], height: float) -> list[Place | None]:
    """Find a place for each word, the first in the list first; None where there is none.

    Parameters
    ----------
    points
        Words in order of importance.
    obstacles
        Every mark of the plot, as shares of its width and height.
    height
        Height of the plot [px].

    >>> place([Point(0.5, 0.5, "here")], [(0.5, 0.5)], 300)
    [Place(dx=8, dy=0, align='left', min_width=0)]
    """
    placed: list[Place | None] = []
    for index, point in enumerate(points):
        others = [(points[i], spot) for i, spot in enumerate(placed[:index]) if spot]
        placed.append(_best(point, others, obstacles, height))
    return placed


def _best(
    point: Point, others: list[tuple[Point, Place]], obstacles: list[tuple[float, float]], height: float
) -> Place | None:
    best: Place | None = None
    for dx, dy, align in _CANDIDATES:
        spot = Place(dx, dy, align, 0)
        free = _narrowest(point, spot, others, obstacles, height)
        if free is not None and (best is None or free < best.min_width):
            best = Place(dx, dy, align, free)
    return best


def _narrowest(
    point: Point, spot: Place, others: list[tuple[Point, Place]], obstacles: list[tuple[float, float]], height: float
) -> float | None:
    """The narrowest tried width on which the word is free, 0 when it is free on all, None when on none."""
    free = None
    for width in WIDTHS:
        box = _box(point, spot, width, height)
        taken = [_box(other, place, width, height) for other, place in others if place.min_width <= width]
        marks = [_mark(x, y, width, height) for x, y in obstacles if (x, y) != (point.x, point.y)]
        inside = box[0] >= -4 and box[2] <= width + 2 and box[1] >= -12
        if not inside or any(_touch(box, other) for other in taken + marks):
            break
        free = width
    return 0 if free == WIDTHS[-1] else free


def _box(point: Point, spot: Place, width: float, height: float) -> _Box:
    length = sum(_CHARACTER if ord(letter) < 0x2E80 else 2 * _CHARACTER for letter in point.text)
    x, y = point.x * width + spot.dx, point.y * height + spot.dy
    left = {"left": x, "right": x - length, "center": x - length / 2}[spot.align]
    return left, y - _LINE / 2, left + length, y + _LINE / 2


def _mark(x: float, y: float, width: float, height: float) -> _Box:
    return x * width - 4, y * height - 4, x * width + 4, y * height + 4


def _touch(one: _Box, other: _Box) -> bool:
    return one[0] < other[2] and other[0] < one[2] and one[1] < other[3] and other[1] < one[3]
