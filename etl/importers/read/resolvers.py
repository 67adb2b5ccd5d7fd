"""The functions that configs call inside `${name:argument,...}`: arithmetic and comparisons, nothing else."""

import re
from collections.abc import Callable
from functools import reduce
from math import ceil, floor, prod
from typing import Any

from etl.importers import fields

Number = int | float


def _fold(step: Callable[[Number, Number], Number]) -> Callable[..., Any]:
    """A resolver that folds two or more numbers; None when an argument is not a number or the step cannot be taken."""

    def resolver(*arguments: Any) -> Number | None:
        values = [v for v in map(fields.number, arguments) if v is not None]
        if len(values) < max(1, len(arguments)):
            return None
        try:
            return reduce(step, values)
        except (ZeroDivisionError, OverflowError):
            return None

    return resolver


def _equal(left: Any, right: Any) -> bool:
    return left == right or str(left).strip("'\"") == str(right).strip("'\"")


def _rounded(how: Callable[[Number], int]) -> Callable[[Any], Any]:
    def resolver(raw: Any) -> int | None:
        value = fields.number(raw)
        return None if value is None else how(value)

    return resolver


def _product(*arguments: Any) -> Any:
    """The product, or None where its digits would run away."""
    values = [v for v in map(fields.number, arguments) if v is not None]
    return prod(values) if len(values) == len(arguments) and all(abs(v) < 10**30 for v in values) else None


_divide = _fold(lambda a, b: a / b)
_floor = _fold(lambda a, b: a // b)
_ceil = _fold(lambda a, b: -(-a // b))
_add = _fold(lambda a, b: a + b)
_subtract = _fold(lambda a, b: a - b)

# One readable table: the names frameworks register.
RESOLVERS: dict[str, Callable[..., Any]] = {
    "multiply": _product, "mul": _product, "prod": _product, "int_multiply": _product,
    "add": _add, "sum": _add, "sub": _subtract, "subtract": _subtract,
    "div": _divide, "divide": _divide, "int_div": _floor, "floor_div": _floor, "divide_floor": _floor,
    "ceil_div": _ceil, "divide_ceil": _ceil, "floor": _rounded(floor), "ceil": _rounded(ceil), "int": _rounded(int),
    "min": _fold(min), "max": _fold(max),
    "eq": _equal, "neq": lambda a, b: not _equal(a, b), "not": lambda a: not fields.truth(a),
    "if": lambda test, yes, no: yes if fields.truth(test) else no,
}  # fmt: skip
CALL = re.compile(r"([A-Za-z_][\w.]*):(?!/)(.*)", re.S)
