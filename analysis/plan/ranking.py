"""Legal layouts predicted, sorted out by memory, ranked by time; the front of time against memory."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.engine.predict import predict
from analysis.layout.reasons import Mask
from analysis.plan.question import EmptySpaceError, Question
from analysis.plan.space import layouts
from analysis.records.load import Catalogue
from analysis.whatif.fit import card_gib

SHOWN = (
    "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "sequence_parallel", "zero_stage", "micro_batch", "recompute",
    "schedule", "offload",
)  # fmt: skip
"""Columns in which the layouts of one plan differ."""


@dataclass(frozen=True)
class Plan:
    """The layouts of one question.

    Attributes
    ----------
    question : what was asked
    legal : layouts that a program would start
    ranked : those that fit surely or likely, the fastest first; columns of the layout and of `predict`, `fits`
        (sure or likely) and `front` (nothing is both faster and smaller)
    dropped : layouts that do not fit
    unknown : layouts that could not be computed
    card_gib : memory of the part [GiB]
    alike : ranked layouts whose interval of time overlaps that of the fastest
    """

    question: Question
    legal: int
    ranked: pd.DataFrame
    dropped: int
    unknown: int
    card_gib: float
    alike: int


def plan(question: Question, catalogue: Catalogue) -> Plan:
    """Rank every legal layout.

    Parameters
    ----------
    question
        Model, part, number and batch.
    catalogue
        Accelerators and constants.

    Raises
    ------
    EmptySpaceError
        No layout is legal, known or fits.
    """
    table = layouts(question)
    answer = predict(table, catalogue.accelerators, catalogue.constants)
    card = card_gib(question.accelerator, catalogue)
    if not np.isfinite(card):
        raise EmptySpaceError(f"the memory of {question.accelerator} is not on record; choose another part")
    memory = {end: answer[f"memory_gib{end}"].to_numpy(dtype=float) for end in ("_low", "", "_high")}
    known = np.isfinite(answer["step_time_s"].to_numpy(dtype=float)) & np.isfinite(memory[""])
    if not known.any():
        reason = next((text for text in answer["missing"] if text), "the step time is not known")
        raise EmptySpaceError(f"no layout can be computed: {reason}")
    fitting = known & (memory[""] <= card)
    if not fitting.any():
        raise EmptySpaceError(_too_large(question, catalogue, card, float(np.nanmin(memory[""]))))
    both = pd.concat([table[[name for name in SHOWN if name in table]], answer.drop(columns="id")], axis=1)
    ranked = both[fitting].assign(fits=np.where(memory["_high"][fitting] <= card, "sure", "likely"))
    ranked = ranked.sort_values(["step_time_s", "memory_gib"], kind="stable").reset_index(drop=True)
    ranked["front"] = front(ranked["memory_gib"].to_numpy(dtype=float))
    best = ranked.iloc[0]
    alike = int((ranked["step_time_s_low"] <= best["step_time_s_high"]).sum())
    return Plan(question, len(table), ranked, int((known & ~fitting).sum()), int((~known).sum()), card, alike)


def front(memory: Any) -> Mask:
    """Rows that need less memory than every faster one; rows go from fast to slow.

    >>> front(np.array([70.0, 75.0, 40.0, 41.0])).tolist()
    [True, False, True, False]
    """
    before = np.concatenate([[np.inf], np.minimum.accumulate(memory)[:-1]])
    return np.asarray(memory < before)


MOST_DOUBLINGS = 8


def _too_large(question: Question, catalogue: Catalogue, card: float, least: float) -> str:
    """What a model that fits nowhere needs: how much, and the number of accelerators that would do."""
    from dataclasses import replace

    text = (
        f"nothing fits: the leanest layout on {question.accelerators:,} x {question.accelerator} needs {least:.1f} GiB "
        f"of {card:.1f} GiB"
    )
    for power in range(1, MOST_DOUBLINGS + 1):
        more = replace(question, accelerators=question.accelerators * 2**power)
        try:
            table = layouts(more)
        except EmptySpaceError:
            continue
        result = predict(table, catalogue.accelerators, catalogue.constants)["memory_gib"].min()
        if result <= card:
            return f"{text}; {more.accelerators:,} accelerators would hold it"
    return f"{text}; take a part with more memory, or a shorter sequence"
