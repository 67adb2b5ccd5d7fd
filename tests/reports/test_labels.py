"""Names beside points: none covers another, the important one wins."""

from hypothesis import given
from hypothesis import strategies as st

from reports.drawing.labels import WIDTHS, Place, Point, _box, _touch, place

SHARES = st.floats(0.05, 0.9)


@given(st.lists(st.tuples(SHARES, SHARES), min_size=1, max_size=12, unique=True))
def test_no_two_placed_names_touch_on_any_width_that_shows_both(spots):
    points = [Point(x, y, f"run {number}") for number, (x, y) in enumerate(spots)]
    placed = [(point, spot) for point, spot in zip(points, place(points, spots, 400), strict=True) if spot]
    for width in WIDTHS:
        boxes = [_box(point, spot, width, 400) for point, spot in placed if spot.min_width <= width]
        assert not any(_touch(one, other) for i, one in enumerate(boxes) for other in boxes[:i])


def test_the_first_name_gets_its_place_and_a_name_on_top_of_it_does_not():
    first, second = place([Point(0.5, 0.5, "a" * 20), Point(0.501, 0.5, "b" * 20)], [], 300)
    assert isinstance(first, Place)
    assert second is None or (second.dx, second.dy) != (first.dx, first.dy)
