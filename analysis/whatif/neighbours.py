"""The published measurements nearest to a layout: how far a prediction of it can be trusted."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.engine.predict import predict
from analysis.layout.columns import MODEL
from analysis.layout.parse import Array
from analysis.physics import parameters
from analysis.records.load import Catalogue

SCALES = {
    "params": 1.5, "active": 1.0, "accelerators": 0.5, "tp": 1.0, "cp": 1.0, "pp": 1.0, "ep": 0.7, "vpp": 0.3,
    "seq_len": 0.7, "micro_batch": 0.5,
}  # fmt: skip
"""Weight of a factor two between two layouts, by what differs. A judgement: size and degrees decide where bytes and
seconds go, the number of accelerators much less."""

OTHER = {"accelerator": 2.0, "architecture": 3.0, "precision": 1.0, "sharded": 1.5, "recompute": 0.5}
"""Weight of a difference other than a ratio: another part, another architecture beside it, another number format, fully
sharded weights or not, layers recomputed or not."""

LARGEST_TABLE = 10_000
"""Rows for which neighbours are looked up; each is compared with every measured row."""


@dataclass(frozen=True)
class Neighbour:
    """One published measurement beside what the engine says of it; NaN where it was not measured.

    Attributes
    ----------
    source, row : record under data/benchmarks, and the row in it
    layout : model, accelerators and degrees in words
    distance : 0 for the same layout; a factor two in model size counts 1.5
    measured_s, modelled_s : step time [s]
    measured_gib, modelled_gib : peak memory [GiB]
    """

    source: str
    row: str
    layout: str
    distance: float
    measured_s: float
    modelled_s: float
    measured_gib: float
    modelled_gib: float

    def text(self) -> str:
        """The measurement in one line."""
        pairs = (
            (self.measured_s, self.modelled_s, "s"),
            (self.measured_gib, self.modelled_gib, "GiB"),
        )
        known = [f"{m:.3g} {unit} measured, {_modelled(e)}" for m, e, unit in pairs if np.isfinite(m)]
        return f"{self.layout}: {'; '.join(known)} ({self.source} {self.row})"


def _modelled(value: float) -> str:
    """The engine's answer in words; it has none where its table leaves open what the engine needs.

    >>> _modelled(18.2), _modelled(float("nan"))
    ('18.2 modelled', 'not modelled')
    """
    return f"{value:.3g} modelled" if np.isfinite(value) else "not modelled"


def _number(table: pd.DataFrame, name: str, absent: float = np.nan) -> Array:
    if name not in table:
        return np.full(len(table), absent)
    values = pd.to_numeric(table[name].replace({"True": 1, "False": 0, "true": 1, "false": 0}), errors="coerce")
    return np.asarray(np.nan_to_num(values.to_numpy(dtype=float, na_value=np.nan), nan=absent))


def _counts(table: pd.DataFrame) -> dict[str, Array]:
    names = [name for name in MODEL if name in table and name != "qk_norm"]
    counted = parameters.count({name: _number(table, name) for name in names})
    size = (len(table),)
    return {
        "params": np.broadcast_to(counted["total"], size).astype(float),
        "active": np.broadcast_to(counted["active"], size).astype(float),
    }


def _features(table: pd.DataFrame) -> Array:
    """Logarithms to base 2 of what layouts differ in by factors, times their weights; one row per layout."""
    known = _counts(table) | {name: _number(table, name, 1.0) for name in SCALES if name not in ("params", "active")}
    with np.errstate(all="ignore"):
        return np.stack([SCALES[name] * np.log2(np.maximum(known[name], 1e-9)) for name in SCALES], axis=1)


def _classes(table: pd.DataFrame, architectures: dict[str, str]) -> dict[str, Any]:
    """What layouts differ in otherwise."""
    ids = table["accelerator"].astype(str)
    precision = table["precision"].astype(str).str.lower().str.extract(r"(fp4|fp8|fp16|bf16|fp32)", expand=False)
    recompute = table["recompute"].astype(str).str.lower().str.startswith("full")
    return {
        "accelerator": ids.to_numpy(dtype=object),
        "architecture": ids.map(architectures).to_numpy(dtype=object),
        "precision": precision.fillna("bf16").to_numpy(dtype=object),
        "sharded": (_number(table, "zero_stage", 1.0) >= 3),
        "recompute": recompute.to_numpy(),
    }


def nearest(table: pd.DataFrame, measured: pd.DataFrame, catalogue: Catalogue, count: int = 3) -> list[list[Neighbour]]:
    """The measured rows nearest to each row of a table.

    Parameters
    ----------
    table
        Layouts, at most `LARGEST_TABLE`.
    measured
        Published rows, as `records.load.measured_rows` gives them.
    catalogue
        Accelerators and constants.
    count
        Neighbours per row.
    """
    usable = measured[(measured["step_time_s"] > 0) | (measured["memory_gib"] > 0)].reset_index(drop=True)
    if usable.empty or table.empty:
        return [[] for _ in range(len(table))]
    parts = catalogue.accelerators
    architectures = dict(zip(parts["id"], parts["architecture"].astype(str), strict=True))
    here, there = _features(table), _features(usable)
    mine, theirs = _classes(table, architectures), _classes(usable, architectures)
    chosen, distances = [], []
    for row in range(len(table)):
        apart = np.nansum(np.abs(there - here[row]), axis=1)
        apart = apart + sum(weight * (theirs[name] != mine[name][row]) for name, weight in OTHER.items())
        order = _distinct(np.argsort(apart, kind="stable"), usable, count)
        chosen.append(order)
        distances.append(apart[order])
    picked = sorted({int(index) for order in chosen for index in order})
    modelled = predict(usable.iloc[picked].reset_index(drop=True), parts, catalogue.constants)
    at = {index: place for place, index in enumerate(picked)}
    return [
        [_neighbour(usable.iloc[i], modelled.iloc[at[int(i)]], float(d)) for i, d in zip(order, apart, strict=True)]
        for order, apart in zip(chosen, distances, strict=True)
    ]


def _distinct(order: Any, usable: pd.DataFrame, count: int) -> Any:
    """The first rows of an order, one per source and layout."""
    keys = usable[["source", "model_name", "accelerators", "tp", "pp", "ep", "dp", "micro_batch"]].astype(str)
    first: dict[tuple[str, ...], int] = {}
    for index in order[: 50 * count]:
        first.setdefault(tuple(keys.iloc[index]), int(index))
        if len(first) == count:
            break
    return np.asarray(list(first.values()), dtype=np.intp)


def _neighbour(row: pd.Series[Any], modelled: pd.Series[Any], distance: float) -> Neighbour:
    return Neighbour(
        source=str(row["source"]),
        row=str(row["id"]),
        layout=_words(row),
        distance=round(distance, 2),
        measured_s=float(row["step_time_s"]),
        modelled_s=float(modelled["step_time_s"]),
        measured_gib=float(row["memory_gib"]),
        modelled_gib=float(modelled["memory_gib"]),
    )


def _words(row: pd.Series[Any]) -> str:
    axes: Sequence[str] = ("tp", "cp", "pp", "ep", "dp")
    degrees = " ".join(f"{axis.upper()}{int(row[axis])}" for axis in axes if pd.notna(row[axis]) and row[axis] > 1)
    count = f"{int(row['accelerators'])} x " if pd.notna(row["accelerators"]) else ""
    return f"{row['model_name']} on {count}{row['accelerator']} {degrees}".strip()
