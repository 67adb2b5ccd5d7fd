"""Equations that the numbers of one run must obey: one table for checks, verdicts and what-if layouts."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass
from math import inf, lcm, prod
from typing import Any, Literal

from schemas.axes import BY_NAME
from schemas.tables import table

Band = tuple[float, float]
Status = Literal["plausible", "strained", "impossible"]
BINARY_MILLION = 2**20 / 1e6
"""A batch printed as "16M" may mean 16 * 2**20."""

WORDS = {"equals": "=", "divides": "is a multiple of", "at-most": "<=", "sums": "sums to", "entries": "has entries"}


@dataclass(frozen=True)
class Identity:
    """One equation between fields of a run.

    Attributes
    ----------
    name : key in `identities.yaml`
    left, right : fields whose values are multiplied
    relation : equals, divides (right divides left), at-most, sums, entries
    source : where the equation comes from
    or_right : fields whose product the right side may be instead
    times : factor of the left side
    exact : both sides are whole numbers and must agree to the last digit
    binary : the right side may be printed in millions of 2**20
    strict, near, possible : bounds of left / right for checks, and for plausible and strained verdicts
    excused : remainder to the next multiple that is strained rather than impossible; -1 for any
    """

    name: str
    left: tuple[str, ...]
    relation: Literal["equals", "divides", "at-most", "sums", "entries"]
    right: tuple[str, ...]
    source: str
    or_right: tuple[str, ...] = ()
    times: float = 1.0
    exact: bool = False
    binary: bool = False
    strict: Band = (1.0, 1.0)
    near: Band = (1.0, 1.0)
    possible: Band = (1.0, 1.0)
    excused: int = 0

    @property
    def equation(self) -> str:
        """The identity in one line.

        >>> IDENTITIES["axes-multiply"].equation
        'tp * cp * pp * dp = accelerators'
        """
        word = {
            "equals": "=",
            "divides": "is a multiple of",
            "at-most": "<=",
            "sums": "sums to",
            "entries": "has entries",
        }
        factor = f" * {self.times:g}" if self.times != 1 else ""
        return f"{' * '.join(self.left)}{factor} {word[self.relation]} {' * '.join(self.right)}"

    @property
    def fields(self) -> tuple[str, ...]:
        """Every field that takes part, each once."""
        return tuple(dict.fromkeys((*self.left, *self.right, *self.or_right)))


@dataclass(frozen=True)
class Outcome:
    """What an identity gives for the numbers of one run.

    Attributes
    ----------
    identity : the equation
    left, right : values of both sides; of the left one the known factors alone
    known : the left side's printed fields and their values
    unknown : fields of the left side that may have any value
    holds : whether the numbers obey it, strictly
    """

    identity: Identity
    left: float
    right: float
    known: Mapping[str, Any]
    unknown: tuple[str, ...]
    holds: bool

    @property
    def ratio(self) -> float:
        """Left over right."""
        return self.left / self.right if self.right else inf

    @property
    def status(self) -> Status:
        """The verdict: strict identities are plausible or impossible, others have bands."""
        one = self.identity
        if self.holds or within(self.ratio, one.near):
            return "plausible"
        if one.relation == "divides":
            excused = one.excused < 0 or -self.left % self.right <= one.excused
        else:
            excused = within(self.ratio, one.possible)
        return "strained" if excused else "impossible"


def sequence_chunks(tp: int, cp: int, sequence_parallel: bool) -> int:
    """Equal parts that a sequence is cut into: two per context-parallel rank, and with sequence parallelism one per
    tensor-parallel rank.

    Parameters
    ----------
    tp, cp : degrees
    sequence_parallel : whether tensor-parallel ranks divide the sequence as well

    Returns
    -------
    the number of parts

    >>> sequence_chunks(8, 4, True), sequence_chunks(8, 1, False), sequence_chunks(8, 4, False)
    (32, 1, 8)
    """
    per_rank = lcm(2 if cp > 1 else 1, tp if sequence_parallel else 1)
    return cp * per_rank


def within(ratio: float, band: Band, slack: float = 0.0) -> bool:
    """Whether a ratio lies in a band, both ends widened by a factor of 1 + slack.

    Parameters
    ----------
    ratio : left over right of an identity
    band : its bounds
    slack : fraction by which printed digits leave the ratio open

    Returns
    -------
    True inside the band and on its bounds

    >>> within(1.03, (0.98, 1.02)), within(1.03, (0.98, 1.02), slack=0.02)
    (False, True)
    """
    return band[0] / (1 + slack) <= ratio <= band[1] * (1 + slack)


def value_of(field: str, values: Mapping[str, Any], withheld: Collection[str] = ()) -> Any | None:
    """The value of a field, or what its absence means.

    Parameters
    ----------
    field : a field of a run, its model or its layout
    values : what is printed
    withheld : fields that the authors chose not to print

    Returns
    -------
    the value; 1 for an axis that is not used; None where it may be anything

    >>> value_of("cp", {}), value_of("cp", {}, withheld=["cp"]), value_of("etp", {})
    (1, None, None)
    """
    if values.get(field) is not None:
        return values[field]
    unset = BY_NAME[field].unset if field in BY_NAME else "unknown"
    return 1 if unset == "one" or (unset == "withheld" and field not in withheld) else None


def apply(name: str, values: Mapping[str, Any], withheld: Collection[str] = (), slack: float = 0.0) -> Outcome | None:
    """Apply one identity to printed numbers.

    Parameters
    ----------
    name : of the identity
    values : what is printed, by field
    withheld : fields that the authors chose not to print
    slack : fraction by which the printed digits leave both sides open

    Returns
    -------
    the outcome; None where too little is printed to tell

    >>> run = {"tp": 8, "pp": 16, "dp": 128, "accelerators": 16384}
    >>> apply("axes-multiply", run).holds
    True
    >>> apply("axes-multiply", run, withheld=["cp"]).unknown
    ('cp',)
    """
    one = IDENTITIES[name]
    known = {field: values[field] for field in one.left if values.get(field) is not None}
    unknown = tuple(field for field in one.left if value_of(field, values, withheld) is None)
    right = _product(one.right, values, withheld)
    if right is None or not known or (unknown and not (one.relation == "equals" and one.exact)):
        return None
    left = _left(one, list(known.values()))
    other = _product(one.or_right, values, withheld) if one.or_right else None
    sizes = [right, *([] if other is None else [other]), *([right * BINARY_MILLION] if one.binary else [])]
    holds = any(_holds(one, left, size, bool(unknown), slack) for size in sizes)
    return Outcome(one, left, right, known, unknown, holds)


def _product(fields: Sequence[str], values: Mapping[str, Any], withheld: Collection[str]) -> float | None:
    factors = [value_of(field, values, withheld) for field in fields]
    return None if None in factors else prod(float(one) for one in factors if one is not None)


def _left(one: Identity, values: Sequence[Any]) -> float:
    if one.relation == "sums":
        return float(sum(values[0]))
    if one.relation == "entries":
        return float(len(values[0]))
    return float(prod(values)) * one.times


def _holds(one: Identity, left: float, right: float, is_open: bool, slack: float) -> bool:
    if is_open:
        return right % left == 0
    if one.relation == "divides":
        return left % right == 0
    if one.relation == "at-most":
        return left <= right
    if one.exact or one.relation in {"sums", "entries"}:
        return left == right
    return bool(right) and within(left / right, one.strict, slack)


def _identity(name: str, row: Mapping[str, Any]) -> Identity:
    lists = {key: tuple(value) for key, value in row.items() if isinstance(value, list)}
    return Identity(name=name, **{**row, **lists})


IDENTITIES: dict[str, Identity] = {
    name: _identity(name, row) for name, row in table("identities")["identities"].items()
}
