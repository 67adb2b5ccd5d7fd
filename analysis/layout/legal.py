"""Layouts that no training program would start: degrees that do not divide what they cut, over whole tables.

The equations are those of `schemas.identities`, which checks and verdicts apply to single records.
"""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np

from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from schemas.identities import IDENTITIES

DIVISIONS = (
    "heads-divide",
    "kv-heads-divide",
    "experts-divide",
    "layers-divide",
    "batch-divides",
    "sequence-divides",
)
"""Identities by which a layout cuts a model, in the order in which they are reported."""

Numbers = Mapping[str, Array]


def sequence_chunks(number: Numbers) -> Array:
    """Equal parts that each sequence is cut into, as `schemas.identities.sequence_chunks` for arrays [1]."""
    tp = np.where(number["sequence_parallel"] > 0, number["tp"], 1.0)
    halves = np.where(number["cp"] > 1, 2.0, 1.0)
    known = np.nan_to_num(tp, nan=1.0).astype(np.int64)
    return np.asarray(number["cp"] * np.lcm(halves.astype(np.int64), known))


def broken(number: Numbers) -> dict[str, Mask]:
    """Rows that break each division; a row that does not state one side breaks nothing.

    Parameters
    ----------
    number
        Columns of a table by name; absent ones are not stated. Layers may fall short of the stages by as many places
        as embedding, head and no-op layers fill, query groups may be repeated over the ranks.

    >>> one = {"heads": np.array([128.0, 128.0]), "tp": np.array([8.0, 7.0])}
    >>> broken(one)["heads-divide"].tolist()
    [False, True]
    """
    known = dict(number)
    if {"sequence_parallel", "tp", "cp"} <= set(known):
        known["sequence_chunks"] = sequence_chunks(known)
    return {name: _broken(name, known) for name in DIVISIONS}


def _broken(name: str, number: Numbers) -> Mask:
    one = IDENTITIES[name]
    if not set(one.left) | set(one.right) <= set(number):
        return np.zeros(len(next(iter(number.values()))), dtype=bool)
    left, right = _product(one.left, number) * one.times, _product(one.right, number)
    stated = np.isfinite(left) & np.isfinite(right) & (left > 0) & (right > 0)
    with np.errstate(invalid="ignore", divide="ignore"):
        bad = stated & (left % right != 0)
        if name == "kv-heads-divide":
            bad &= right % left != 0
        if one.excused > 0:
            bad &= (-left) % right > one.excused
    return np.asarray(bad)


def _product(names: tuple[str, ...], number: Numbers) -> Array:
    return np.asarray(np.prod(np.stack([number[name] for name in names]), axis=0))
