"""Numbers with the uncertainty that their printed digits, or a stated range, give them."""

from __future__ import annotations

import math
from dataclasses import dataclass


@dataclass(frozen=True)
class Span:
    """A positive value with bounds; products and quotients carry the bounds along.

    >>> Span(2, 2, 2) * Span(3, 4, 5)
    Span(low=6, best=8, high=10)
    >>> Span(8, 8, 8) / Span(2, 4, 4)
    Span(low=2.0, best=2.0, high=4.0)
    """

    low: float
    best: float
    high: float

    def __mul__(self, other: Span | float) -> Span:
        o = as_span(other)
        return Span(self.low * o.low, self.best * o.best, self.high * o.high)

    def __rmul__(self, other: float) -> Span:
        return self * other

    def __truediv__(self, other: Span | float) -> Span:
        o = as_span(other)
        return Span(self.low / o.high, self.best / o.best, self.high / o.low)

    def overlaps(self, other: Span) -> bool:
        """Whether both could be the same number.

        >>> printed(0.41).overlaps(Span(0.414, 0.42, 0.43)), printed(0.41).overlaps(Span(0.42, 0.42, 0.43))
        (True, False)
        """
        return self.low <= other.high and other.low <= self.high


def as_span(value: Span | float) -> Span:
    """A plain number is exact.

    >>> as_span(3)
    Span(low=3, best=3, high=3)
    """
    return value if isinstance(value, Span) else Span(value, value, value)


COARSEST = 0.05
"""2T tokens are not read as 1.5T to 2.5T: a round number is taken as good to 5% at least."""


def printed(value: float) -> Span:
    """The interval that a printed number stands for: half a unit of its last digit either way, at most 5%.

    Trailing zeros of numbers from 10,000 on count as not printed (15,600,000,000,000 is 15.6T, good to 0.05T); below
    that every digit of an integer counts (400 TFLOP/s is good to 0.5). Shares are printed in whole percent at least:
    0.4 reads 0.395 to 0.405.

    >>> printed(0.41)
    Span(low=0.405, best=0.41, high=0.415)
    >>> printed(15.6e12) == Span(15.55e12, 15.6e12, 15.65e12)
    True
    >>> printed(400)
    Span(low=399.5, best=400, high=400.5)
    """
    mantissa, _, exponent = f"{value:.12e}".partition("e")
    digits = mantissa.rstrip("0")
    last = int(exponent) - len(digits.partition(".")[2])
    if value < 1e4:
        last = min(last, 0 if value > 1 else -2)
    half = min(0.5 * 10.0**last, COARSEST * value)
    places = max(0, 2 - last)
    return Span(round(value - half, places), value, round(value + half, places))


def ranged(best: float | None, low: float | None, high: float | None) -> Span | None:
    """A stated range, or the printed interval of a single number; None when nothing is stated.

    A range without a central value takes the geometric mean of its ends.

    >>> ranged(None, 2.0, 8.0)
    Span(low=2.0, best=4.0, high=8.0)
    """
    if low is None and high is None:
        return None if best is None else printed(best)
    ends = [end for end in (low, best, high) if end is not None]
    middle = math.sqrt(ends[0] * ends[-1]) if best is None else best
    return Span(ends[0] if low is None else low, middle, ends[-1] if high is None else high)
