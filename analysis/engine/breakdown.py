"""Layouts in full: memory by stage and part, time by part, traffic by dimension; many at once, or one."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
import pandas as pd

from analysis.engine.peak_memory import by_stage
from analysis.engine.predict import Timed, answers, computed
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import Rows, read_rows
from analysis.layout.reasons import Reason
from analysis.layout.table import Layout, table_of
from analysis.physics import collectives, dimensions
from analysis.records.load import Catalogue
from schemas.units import GIB

STATES = ("weights", "gradients", "master_weights", "moments")


@dataclass(frozen=True)
class Traffic:
    """One dimension of one layout.

    Attributes
    ----------
    dimension
        Name of the dimension.
    bytes_per_step
        What an accelerator sends per step [B].
    scale_out_bytes_per_step
        Part of it that leaves the scale-up domain [B].
    placement
        `scale-up` where the group stays inside its domain, else `scale-out`.
    seconds
        Time that the links need for it [s].
    exposed_s
        Time that compute does not hide [s].
    """

    dimension: str
    bytes_per_step: float
    scale_out_bytes_per_step: float
    placement: str
    seconds: float
    exposed_s: float


@dataclass(frozen=True)
class Breakdown:
    """Everything that is known of one layout; what is not known is empty, and `missing` says why."""

    prediction: dict[str, Any]
    memory_gib: pd.DataFrame
    seconds: dict[str, float]
    traffic: list[Traffic]
    lacks: list[Reason] = field(default_factory=list)

    @property
    def missing(self) -> str:
        """What keeps a number from being computed, or what had to be assumed."""
        return str(self.prediction["missing"] or "")


def break_down(layout: Layout, catalogue: Catalogue) -> Breakdown:
    """Memory, time and traffic of one layout."""
    return break_down_all([layout], catalogue)[0]


def break_down_all(layouts: Sequence[Layout], catalogue: Catalogue) -> list[Breakdown]:
    """Memory, time and traffic of layouts.

    Parameters
    ----------
    layouts
        Columns of a layout row by name, one mapping each; absent means not stated.
    catalogue
        Accelerators and constants.
    """
    if not layouts:
        return []
    table = table_of(layouts)
    rows, peak, times = computed(table, catalogue.accelerators, catalogue.constants)
    answer = answers(rows, peak, times, catalogue.constants)
    seconds = {name: np.broadcast_to(values, (len(table),)) for name, values in times.parts.items()}
    links = _traffic(rows, times)
    timed = np.isfinite(answer["step_time_s"].to_numpy(dtype=float))
    return [
        Breakdown(
            {str(name): answer[name].iloc[i] for name in answer.columns},
            stages(rows, catalogue, i),
            {name: float(values[i]) for name, values in seconds.items()} if timed[i] else {},
            _links(links, seconds, i) if timed[i] else [],
            rows.memory_lacks.of(i),
        )
        for i in range(len(layouts))
    ]


def stages(rows: Rows, catalogue: Catalogue, row: int) -> pd.DataFrame:
    """GiB of one row by stage (rows) and part (columns); empty where memory is not known."""
    if rows.memory_lacks.bad[row]:
        return pd.DataFrame()
    with np.errstate(all="ignore"):
        parts = by_stage(rows, memory_constants(catalogue.constants), row)
    table = pd.DataFrame({name: np.asarray(values) / GIB for name, values in parts.items()})
    return table.loc[:, (table.abs() > 1e-9).any()]


def states_gib(layouts: Sequence[Layout], catalogue: Catalogue) -> list[float | None]:
    """Weights, gradients and optimizer of the fullest stage [GiB] of each layout; None where they are unknown."""
    if not layouts:
        return []
    rows = read_rows(table_of(layouts), catalogue.accelerators)
    totals = []
    for row in range(len(layouts)):
        table = stages(rows, catalogue, row)
        states = table[[name for name in STATES if name in table]]
        totals.append(None if table.empty else float(states.sum(axis=1).max()))
    return totals


@dataclass(frozen=True)
class Links:
    """Traffic of a table by dimension, and whether the group stays in its scale-up domain."""

    sent: dict[str, collectives.Transfer]
    inside: dict[str, Any]


def _traffic(rows: Rows, times: Timed) -> Links:
    """Traffic of every row; NaN where a row says too little."""
    size = (len(rows),)
    with np.errstate(all="ignore"):
        sent = dimensions.of_step(rows.arch, times.work, times.chip.network)
        inside = dimensions.placement(times.work, times.chip.network.domain)
    spread = {
        name: collectives.Transfer(*(np.broadcast_to(x, size) for x in (one.up, one.out, one.seconds, one.latency)))
        for name, one in sent.items()
    }
    return Links(spread, {name: np.broadcast_to(values, size) for name, values in inside.items()})


def _links(links: Links, seconds: dict[str, Any], row: int) -> list[Traffic]:
    shown = []
    for name in dimensions.DIMENSIONS:
        one = links.sent[name]
        up, out, busy = (float(x[row]) for x in (one.up, one.out, one.seconds))
        if up + out > 0 and busy > 0:
            place = "scale-up" if links.inside[name][row] > 0 else "scale-out"
            shown.append(Traffic(name, up + out, out, place, busy, float(seconds[name][row])))
    return shown
