"""Numbers as a reader wants them: rounded on purpose, units apart, the same digits in both languages."""

from __future__ import annotations

from math import floor, log10
from typing import Any

from reports.source import is_missing
from reports.words import Bi

_SUPERSCRIPTS = str.maketrans("-0123456789", "⁻⁰¹²³⁴⁵⁶⁷⁸⁹")
_PREFIXES = ((1e12, "T"), (1e9, "B"), (1e6, "M"))
_DATE_LENGTH = {"year": 4, "month": 7, "day": 10}
NOTHING = "–"
_SHARES = {"mfu", "hfu", "goodput", "bubble", "disclosed", "share"}
"""Words of a column's name that make its value a share, printed in percent."""


def significant(value: float, digits: int = 3) -> str:
    """A number with so many significant digits, never in exponents between 1e-4 and 1e15.

    >>> significant(1234567), significant(0.04567, 2), significant(16384, 5)
    ('1,230,000', '0.046', '16,384')
    """
    if value == 0:
        return "0"
    places = digits - 1 - floor(log10(abs(value)))
    rounded = round(value, places)
    return f"{rounded:,.{max(places, 0)}f}"


def scientific(value: float, digits: int = 2) -> str:
    """A number as mantissa times a power of ten.

    >>> scientific(3.8e25), scientific(1e24), scientific(2.79e24, 3)
    ('3.8×10²⁵', '10²⁴', '2.79×10²⁴')
    """
    mantissa, exponent = f"{value:.{digits - 1}e}".split("e")
    power = "10" + str(int(exponent)).translate(_SUPERSCRIPTS)
    mantissa = mantissa.rstrip("0").rstrip(".") if "." in mantissa else mantissa
    return power if mantissa == "1" else f"{mantissa}×{power}"


def short(value: float) -> str:
    """A large count with a letter: thousands keep their digits.

    >>> short(405.85e9), short(16384), short(15.6e12)
    ('406B', '16,384', '15.6T')
    """
    for size, letter in _PREFIXES:
        if abs(value) >= size:
            return f"{significant(value / size)}{letter}"
    return exact(value)


def size(value: float) -> str:
    """Bytes with a decimal prefix.

    >>> size(9e11), size(2.5e6)
    ('900 GB', '2.5 MB')
    """
    for unit, letter in ((1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB")):
        if value >= unit:
            return f"{exact(float(f'{value / unit:.3g}'))} {letter}"
    return f"{exact(value)} B"


def exact(value: float) -> str:
    """A number as its source prints it: all digits, thousands grouped.

    >>> exact(16384.0), exact(0.41), exact(3.8e25)
    ('16,384', '0.41', '3.8×10²⁵')
    """
    if abs(value) >= 1e15:
        return scientific(value, 4)
    return f"{value:,.0f}" if float(value).is_integer() else f"{value:,.10g}"


def percent(share: float, digits: int = 0) -> str:
    """A share in percent.

    >>> percent(0.4125), percent(0.4125, 1)
    ('41%', '41.2%')
    """
    return f"{100 * share:.{digits}f}%"


def day(value: Any, precision: str | None = "day") -> str:
    """A date as precisely as it is known.

    >>> day("2024-07-01", "month")
    '2024-07'
    """
    return NOTHING if is_missing(value) else str(value)[: _DATE_LENGTH.get(precision or "day", 10)]


def interval(low: Any, high: Any, write: Any = significant) -> str:
    """Two ends of a range, '' when either is missing.

    >>> interval(2e25, 2e26, scientific)
    '2×10²⁵–2×10²⁶'
    """
    return "" if is_missing(low) or is_missing(high) else f"{write(low)}–{write(high)}"


def cell(value: Any, unit: str = "", column: str = "") -> str:
    """Any value of the database as text.

    >>> cell(0.41, "1", "mfu_6nd"), cell(None), cell(True), cell([7, 8, 8])
    ('41.0%', '–', 'yes', '7, 8, 8')
    >>> cell(1, "", "shared_experts")
    '1'
    """
    if is_missing(value):
        return NOTHING
    if isinstance(value, bool):
        return "yes" if value else "no"
    if hasattr(value, "__len__") and not isinstance(value, str):
        return ", ".join(cell(item) for item in value)
    if not isinstance(value, (int, float)) and not hasattr(value, "dtype"):
        return str(value)[:10] if hasattr(value, "year") else str(value)
    return _number(float(value), unit, column)


def _number(value: float, unit: str, column: str) -> str:
    if _SHARES & set(column.split("_")):
        return percent(value, 1)
    if unit == "FLOP" or abs(value) >= 1e15:
        return scientific(value, 3)
    return short(value) if abs(value) >= 1e9 else exact(value)


def joined(parts: list[Bi], mark: Bi) -> Bi:
    """Several pairs in a row, each language with its own comma.

    >>> joined([Bi.same("a"), Bi.same("b")], Bi(", ", "、")).zh
    'a、b'
    """
    return Bi(mark.en.join(part.en for part in parts), mark.zh.join(part.zh for part in parts))
