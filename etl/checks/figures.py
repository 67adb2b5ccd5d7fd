"""Numbers as printed: how exact a figure is, and the plain numbers in a record."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

from etl.checks.subject import Subject
from etl.yaml.nodes import Path, find


def exactness(text: str) -> float:
    """Half a unit in the last digit that a printed number commits to, relative to the number.

    Trailing zeros of a whole number may be rounding, so they commit to nothing.

    Parameters
    ----------
    text : the number as written

    Returns
    -------
    relative half-width, 0.5 when nothing can be said

    >>> round(exactness("15.6e12"), 4), round(exactness("2048"), 6), exactness("2000")
    (0.0032, 0.000244, 0.25)
    """
    digits = re.split("[eE]", text.lstrip("-"))[0]
    if not re.fullmatch(r"\d+(\.\d+)?", digits) or float(digits) == 0:
        return 0.5
    decimals = len(digits.partition(".")[2])
    zeros = 0 if decimals else len(digits) - len(digits.rstrip("0"))
    unit = 10.0 ** (zeros - decimals)
    return min(0.5, unit / 2 / float(digits))


def plain_number(block: Mapping[str, Any], name: str) -> float | None:
    """The number at a key, or None when it is absent or a range.

    >>> plain_number({"days": 54, "tokens": {"low": 1, "high": 2}}, "tokens")
    """
    value = block.get(name)
    return value if isinstance(value, int | float) and not isinstance(value, bool) else None


def items(block: Mapping[str, Any], name: str) -> list[Any]:
    """The list at a key, and an empty one when something else stands there.

    >>> items({"aliases": ["a"]}, "aliases"), items({"aliases": None}, "aliases")
    (['a'], [])
    """
    value = block.get(name)
    return value if isinstance(value, list) else []


def working_parameters(model: Mapping[str, Any]) -> float | None:
    """Parameters that work on one token: the active ones, or all of a model that is not a mixture of experts.

    >>> working_parameters({"sparsity": "dense", "params_total": 8e9}), working_parameters({"params_total": 6e11})
    (8000000000.0, None)
    """
    total = plain_number(model, "params_total") if model.get("sparsity") == "dense" else None
    return plain_number(model, "params_active") or total


def printed(block: Mapping[str, Any]) -> dict[str, float]:
    """The plain numbers of a block, by key; ranges are left out.

    >>> printed({"days": 54, "tokens": {"low": 1, "high": 2}, "name": "main"})
    {'days': 54}
    """
    return {name: value for name in block if (value := plain_number(block, name)) is not None}


def spread(subject: Subject, *paths: Path) -> float:
    """How far a product of printed numbers may be off, as a fraction: their exactness added up."""
    total = 0.0
    for path in paths:
        node = find(subject.record.doc.root, path) if subject.record.doc.root else None
        total += exactness(node.text) if node and node.is_number else 0.0
    return total


def show(value: float) -> str:
    """A number for a sentence: whole numbers with separators, others with four digits.

    >>> show(16384), show(2.788e6), show(0.41), show(1.56e13)
    ('16,384', '2,788,000', '0.41', '1.56e+13')
    """
    return f"{value:,.0f}" if float(value).is_integer() and abs(value) < 1e9 else f"{value:.4g}"
