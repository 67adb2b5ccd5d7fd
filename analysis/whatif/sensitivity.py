"""On which inputs the verdict on a layout hangs: the nearest value of each at which it flips."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from analysis.engine.predict import predict
from analysis.layout.columns import MODEL
from analysis.layout.legal import broken
from analysis.layout.table import table_of
from analysis.records.load import Catalogue

Row = dict[str, Any]

FURTHEST = 6
"""Doublings or halvings of an input that are tried."""

DOUBLED = ("micro_batch", "seq_len", "tp", "pp", "cp")
WORDS: dict[str, tuple[Any, ...]] = {
    "recompute": ("none", "selective", "full"),
    "zero_stage": (1, 2, 3),
    "precision": ("bf16", "fp8", "fp32"),
}


@dataclass(frozen=True)
class Flip:
    """An input, its value, and the nearest other one at which the verdict is another."""

    name: str
    value: Any
    flips_at: Any
    verdict: str

    def text(self) -> str:
        """The flip in words.

        >>> Flip("micro_batch", 1, 4, "does-not-fit").text()
        'micro batch 4 instead of 1 does not fit'
        """
        name = self.name.replace("_", " ")
        tail = {"does-not-fit": "does not fit", "could-fit": "could fit"}[self.verdict]
        return f"{name} {self.flips_at} instead of {self.value} {tail}"


def flips(row: Row, fits: bool, card_gib: float, catalogue: Catalogue) -> list[Flip]:
    """The nearest value of each input at which the low end of memory crosses the card.

    Parameters
    ----------
    row
        A complete layout with its model's facts.
    fits
        Whether it could fit as it is.
    card_gib
        Memory of the accelerator [GiB].
    catalogue
        Accelerators and constants.
    """
    tried = list(_changes(row))
    rows = [row | change for _, change in tried]
    table = table_of(rows)
    answer = predict(table, catalogue.accelerators, catalogue.constants)
    low = answer["memory_gib_low"].to_numpy(dtype=float)
    other = np.isfinite(low) & ((low <= card_gib) != fits) & ~_illegal(rows)
    nearest_flip: dict[str, Flip] = {}
    for place in np.flatnonzero(other):
        name, change = tried[int(place)]
        verdict = "does-not-fit" if fits else "could-fit"
        nearest_flip.setdefault(name, Flip(name, row.get(name), change[name], verdict))
    return list(nearest_flip.values())


def _changes(row: Row) -> Iterator[tuple[str, Row]]:
    """Single changes of a layout, of each input the nearest first; a changed degree moves data parallelism."""
    for name in DOUBLED:
        start = int(row.get(name) or 1)
        for power in range(1, FURTHEST + 1):
            for value in (start * 2**power, start // 2**power if start % 2**power == 0 else 0):
                if value >= 1:
                    change = {name: value, **_balanced(row, name, value)}
                    if all(change.values()):
                        yield name, change
    for name, values in WORDS.items():
        yield from ((name, {name: value}) for value in values if value != row.get(name))


def _balanced(row: Row, name: str, value: int) -> Row:
    """Data parallelism and sequence parallelism that follow a changed degree; 0 where it cannot follow."""
    if name not in ("tp", "pp", "cp"):
        return {}
    group = value
    for axis in ("tp", "pp", "cp"):
        group *= 1 if axis == name else int(row.get(axis) or 1)
    world = int(row["accelerators"])
    return {"dp": world // group if world % group == 0 else 0}


def _illegal(rows: list[Row]) -> Any:
    """Rows that no program would start."""
    names = ("heads", "kv_heads", "layers", "experts", "seq_len", "global_batch", "tp", "cp", "pp", "vpp", "ep", "dp",
             "micro_batch", "sequence_parallel")  # fmt: skip
    facts = {name: np.asarray([_number(row, name) for row in rows]) for name in names}
    return np.logical_or.reduce(list(broken(facts).values()))


def _number(row: Mapping[str, Any], name: str) -> float:
    value = row.get(name)
    return float("nan") if value is None or (name in MODEL and not value) else float(value)
