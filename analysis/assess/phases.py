"""What the engine says of recorded phases: rows of the result tables, and facts for their verdicts."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from analysis.engine.breakdown import Breakdown, break_down_all, states_gib
from analysis.layout.from_record import layout_row, leanest
from analysis.layout.reasons import UNSTATED, Reason
from analysis.records.facts import Facts
from analysis.records.load import Catalogue

Row = dict[str, Any]


@dataclass(frozen=True)
class Modelled:
    """Result rows by table, and what the checks read."""

    rows: dict[str, list[Row]] = field(default_factory=dict)
    facts: Facts = field(default_factory=dict)


def phases(cases: Sequence[Facts], catalogue: Catalogue) -> list[Modelled]:
    """Memory, communication and time of phases, and their model states at their least."""
    layouts = [layout_row(facts, catalogue.models.get(facts["model"], {})) for facts in cases]
    lean = [leanest(row) for row, _ in layouts]
    breakdown = break_down_all([row for row, _ in layouts], catalogue)
    states = states_gib([row for row, _ in lean], catalogue)
    return [
        _modelled(facts, row, filled, one, least, assumption)
        for facts, (row, filled), one, least, (_, assumption) in zip(
            cases, layouts, breakdown, states, lean, strict=True
        )
    ]


def _modelled(
    facts: Facts, row: Row, filled: Row, breakdown: Breakdown, states: float | None, assumption: str
) -> Modelled:
    absent = [name for name in ("accelerator", "layers") if name not in row]
    if absent:
        return Modelled(facts={"engine_lacks": [Reason(UNSTATED, name) for name in absent]})
    shown = [f"{name} {value}" for name, value in filled.items()]
    assumed = "; ".join([*shown, *([breakdown.missing] if breakdown.missing else [])])
    key = {"run_id": facts["run_id"], "phase": facts["name"], "assumed": assumed or None}
    known: Facts = {} if states is None else {"states_low_gib": states, "states_assumption": assumption}
    return Modelled(rows(breakdown, key), _facts(breakdown, filled) | known)


def rows(breakdown: Breakdown, key: Row) -> dict[str, list[Row]]:
    """Rows of result.memory, result.communication and result.timing."""
    memory = [
        key | {"stage": stage, "part": str(part), "value": float(value), "unit": "GiB"}
        for part in breakdown.memory_gib
        for stage, value in enumerate(breakdown.memory_gib[part])
    ]
    timing = [
        key | {"part": part, "value": value, "unit": "s"} for part, value in breakdown.seconds.items() if value > 0
    ]
    step = breakdown.prediction
    if timing:
        ends = {"value": step["step_time_s"], "low": step["step_time_s_low"], "high": step["step_time_s_high"]}
        timing.insert(0, key | {"part": "step", **ends, "unit": "s"})
    return {"memory": memory, "timing": timing, "communication": [key | link.__dict__ for link in breakdown.traffic]}


def _facts(breakdown: Breakdown, filled: Row) -> Facts:
    """Modelled memory and utilisation for the checks; NaN is left out."""
    step = breakdown.prediction
    facts = {name: step[name] for name in ("memory_gib", "memory_gib_low", "memory_gib_high")}
    facts["modelled_mfu"] = step["mfu"]
    if np.isfinite(step["step_time_s"]):
        facts["modelled_mfu_low"] = step["mfu"] * step["step_time_s"] / step["step_time_s_high"]
        facts["modelled_mfu_high"] = step["mfu"] * step["step_time_s"] / step["step_time_s_low"]
    known: Facts = {name: float(value) for name, value in facts.items() if np.isfinite(value)}
    if "memory_gib" not in known:
        known["engine_lacks"] = breakdown.lacks
    return known | ({"modelled_with": filled} if filled else {})
