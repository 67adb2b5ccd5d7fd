"""One layout in full: memory by stage and part, time by part, traffic by dimension."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis import chips, workload
from analysis.columns import REQUIRED
from analysis.constants import flatten
from analysis.footprint import by_stage
from analysis.inputs import Rows, read_rows
from analysis.material import Material
from analysis.physics import timing, traffic
from analysis.predict import has_to_recompute, predict

GIB = 2.0**30


@dataclass(frozen=True)
class Traffic:
    """One dimension of one layout: bytes an accelerator sends per step, where, how long, how much is not hidden."""

    dimension: str
    bytes_per_step: float
    placement: str
    bandwidth_b_s: float
    seconds: float
    exposed_s: float


@dataclass(frozen=True)
class Detail:
    """Everything that is known of one layout; what is not known is empty, and `missing` says why."""

    prediction: dict[str, Any]
    memory_gib: pd.DataFrame
    seconds: dict[str, float]
    traffic: list[Traffic]

    @property
    def missing(self) -> str:
        """What keeps a number from being computed, or what had to be assumed."""
        return str(self.prediction["missing"] or "")


def row_table(row: dict[str, Any]) -> pd.DataFrame:
    """A layout as the one-row table of text cells that predictions read; absent facts are blank.

    >>> row_table({"tp": 8})["tp"][0], row_table({"tp": 8})["pp"][0]
    ('8', '')
    """
    cells = dict.fromkeys(("id", *REQUIRED), "") | {k: str(v) for k, v in row.items() if v is not None}
    return pd.DataFrame([cells], dtype=str)


def detail(row: dict[str, Any], material: Material) -> Detail:
    """Memory, time and traffic of one layout.

    Parameters
    ----------
    row
        Columns of a layout row by name; absent means not stated.
    material
        Accelerators and constants.
    """
    table = row_table(row)
    answer = predict(table, material.accelerators, material.constants)
    prediction = {str(name): answer[name].iloc[0] for name in answer.columns}
    rows = read_rows(table, material.accelerators)
    has_memory = rows.memory_reasons[0] == ""
    stages = _stages(rows, material) if has_memory else pd.DataFrame()
    if not np.isfinite(prediction["step_time_s"]):
        return Detail(prediction, stages, {}, [])
    seconds, links = _timing(rows, table, material)
    return Detail(prediction, stages, seconds, links)


def _stages(rows: Rows, material: Material) -> pd.DataFrame:
    """GiB by stage (rows) and part (columns)."""
    with np.errstate(all="ignore"):
        parts = by_stage(rows, flatten(material.constants["memory"]), 0)
    table = pd.DataFrame({name: np.asarray(values) / GIB for name, values in parts.items()})
    return table.loc[:, (table.abs() > 1e-9).any()]


def _timing(rows: Rows, table: pd.DataFrame, material: Material) -> tuple[dict[str, float], list[Traffic]]:
    k = flatten(material.constants["timing"])
    facts = chips.chip_facts(rows, table, material.accelerators, k)
    superchip = chips.is_superchip(table, material.accelerators)
    full = has_to_recompute(rows, superchip, flatten(material.constants["memory"]))
    lay = workload.workload(rows, table, facts, full).work
    chip = chips.chip(facts, k)
    with np.errstate(all="ignore"):
        parts = timing.step_parts(rows.arch, lay, chip, k)
        sent, busy = traffic.sent_bytes(rows.arch, lay), traffic.link_seconds(rows.arch, lay, chip, k)
        placed = traffic.placement(lay, chip.domain)
    links = [
        Traffic(name, _one(sent[name]), "scale-up" if _one(placed[name]) > 0 else "scale-out",
                _one(sent[name]) / _one(busy[name]), _one(busy[name]), _one(parts[name]))
        for name in traffic.DIMENSIONS
        if _one(sent[name]) > 0 and _one(busy[name]) > 0
    ]  # fmt: skip
    return {name: _one(value) for name, value in parts.items()}, links


STATES = ("weights", "gradients", "master_weights", "moments")


def states_gib(row: dict[str, Any], material: Material) -> tuple[float, int] | None:
    """Weights, gradients and optimizer of the fullest stage [GiB] and which stage; None where they are unknown."""
    table = row_table(row)
    rows = read_rows(table, material.accelerators)
    if rows.memory_reasons[0] != "":
        return None
    stages = _stages(rows, material)
    total = stages[[name for name in STATES if name in stages]].sum(axis=1)
    return float(total.max()), int(np.argmax(total.to_numpy()))


def _one(value: Any) -> float:
    return float(np.asarray(value).reshape(-1)[0])
