"""Layouts consistent with what a run states, its accelerator's memory and its reported speed; what they all share."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from analysis.engine.predict import predict
from analysis.layout.from_record import layout_row, sequences
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.plan.question import Question, check_model
from analysis.plan.space import layouts
from analysis.records import mfu
from analysis.records.facts import Facts
from analysis.records.load import Catalogue
from analysis.records.spans import as_span
from analysis.whatif.fit import card_gib
from schemas.refusal import RefusalError

OPTIONS: dict[str, tuple[Any, ...]] = {
    "recompute": ("none", "selective", "full"),
    "sequence_parallel": (True, False),
    "zero_stage": (1, 3),
    "schedule": ("1f1b", "interleaved", "zb1p", "dualpipe"),
}
"""Choices of a layout that a report might name; finer ones change memory within the same bounds."""

ASKED = ("tp", "cp", "pp", "vpp", "ep", "zero_stage", "micro_batch", "recompute", "schedule")
"""Facts of a layout that are looked for, dp following from the others."""

STATED = ("tp", "cp", "pp", "vpp", "dp", "ep", "etp", "zero_stage", "micro_batch", "recompute", "sequence_parallel",
          "precision", "schedule")  # fmt: skip


@dataclass(frozen=True)
class Shared:
    """What the consistent layouts have in common in one fact: its least and greatest value, or the words it can be."""

    fact: str
    values: tuple[Any, ...]

    def text(self) -> str:
        """The fact in words.

        >>> Shared("tp", (4, 8)).text(), Shared("pp", (16,)).text()
        ('TP is 4 or 8', 'PP is 16')
        """
        name = self.fact.upper() if len(self.fact) <= 3 else self.fact.replace("_", " ")
        if len(self.values) == 1:
            return f"{name} is {self.values[0]}"
        if len(self.values) == 2:
            return f"{name} is {self.values[0]} or {self.values[1]}"
        return f"{name} is {self.values[0]} to {self.values[-1]}"


@dataclass(frozen=True)
class Inference:
    """The layouts of one phase that are left.

    Attributes
    ----------
    legal : layouts that agree with what is stated and that a program would start
    consistent : those that the card holds, at the reported speed; columns of the layout
    speed : model FLOP utilisation that is compared with, causal; None where no speed is reported
    shared : facts that narrow down, each with the values left
    narrows : the one unstated fact whose disclosure would leave the fewest layouts, and how many on average
    none_left : where no layout is consistent, which bound leaves none
    """

    legal: int
    consistent: pd.DataFrame
    speed: float | None
    shared: tuple[Shared, ...]
    narrows: tuple[str, float] | None
    none_left: str = ""


def question_of(facts: Facts, model: Facts) -> Question:
    """What a phase states, as a question to the planner.

    Raises
    ------
    RefusalError
        Something without which nothing can be counted; the sentence names it.
    """
    check_model(model)
    batch = sequences(facts)
    needed = {"accelerator": facts.get("accelerator"), "accelerators": facts.get("accelerators"),
              "seq_len": facts.get("seq_len"), "global_batch": batch}  # fmt: skip
    missing = [name for name, value in needed.items() if value is None]
    if missing or batch is None:
        raise RefusalError(f"{', '.join(missing)} not disclosed; nothing can be inferred without")
    row, _ = layout_row({name: value for name, value in facts.items() if name != "released"}, model)
    fixed = {name: row[name] for name in STATED if name in facts and name in row}
    domain = facts.get("scale_up_domain") or 8
    count = round(as_span(facts["accelerators"]).best)
    return Question(
        model=model,
        accelerator=str(facts["accelerator"]),
        accelerators=count,
        seq_len=int(facts["seq_len"]),
        global_batch=batch,
        domain=max(int(domain), int(fixed.get("tp", 1))),
        fixed=fixed,
        options=OPTIONS,
        strict="zero_stage" not in fixed,
    )


def infer(facts: Facts, model: Facts, catalogue: Catalogue, whole_run: Facts | None = None) -> Inference:
    """The layouts of a phase that its stated facts, its memory and its speed leave.

    Parameters
    ----------
    facts
        Facts of the phase.
    model
        Facts of its model.
    catalogue
        Accelerators and constants.
    whole_run
        Facts of the run, whose hours bound the speed from below where the phase reports none.

    Raises
    ------
    RefusalError
        Too little is stated, or what is stated leaves no layout.
    """
    ask, table = candidates(facts, model)
    answer = predict(table, catalogue.accelerators, catalogue.constants)
    return conclude(facts, (ask, table), answer, catalogue, whole_run)


def candidates(facts: Facts, model: Facts) -> tuple[Question, pd.DataFrame]:
    """The question that a phase states, and the layouts that answer it.

    Raises
    ------
    RefusalError
        Too little is stated, or what is stated leaves no layout.
    """
    ask = question_of(facts, model)
    return ask, layouts(ask)


def conclude(
    facts: Facts,
    tried: tuple[Question, pd.DataFrame],
    answer: pd.DataFrame,
    catalogue: Catalogue,
    whole_run: Facts | None,
) -> Inference:
    """What the predictions of the candidates leave of them; parameters as `infer`.

    Raises
    ------
    RefusalError
        No candidate could be computed.
    """
    ask, table = tried
    if not np.isfinite(answer["step_time_s"]).any():
        raise RefusalError(f"nothing can be inferred: {answer['missing'].iloc[0]}")
    card = card_gib(ask.accelerator, catalogue)
    speed, exact = _speed(facts, whole_run)
    holds = _holds(answer, card)
    left = holds & _keeps_up(answer, speed, exact)
    columns = [name for name in (*ASKED, "dp") if name in table]
    consistent = table.loc[left, columns].drop_duplicates().reset_index(drop=True)
    open_facts = [name for name in ASKED if name in table and name not in ask.fixed and table[name].nunique() > 1]
    return Inference(
        len(table[columns].drop_duplicates()),
        consistent,
        speed,
        tuple(_shared(table, consistent, open_facts)),
        _narrowest(consistent, open_facts),
        "" if left.any() else _none_left(answer, holds, card, speed),
    )


def _speed(facts: Facts, whole_run: Facts | None) -> tuple[float | None, bool]:
    """Reported utilisation, causal, and whether it is that of the phase (else a bound from below)."""
    own = mfu.of_phase(facts, "causal")
    if own is not None:
        return own[0], True
    whole = mfu.of_run(whole_run, "causal") if whole_run else None
    return (None, False) if whole is None else (whole[0], False)


def _holds(answer: pd.DataFrame, card: float) -> Mask:
    low = answer["memory_gib_low"].to_numpy(dtype=float)
    return np.asarray(np.isfinite(low) & (low <= card))


def _keeps_up(answer: pd.DataFrame, speed: float | None, exact: bool) -> Mask:
    """Layouts whose 90% interval of utilisation holds the reported one; a whole run only bounds it from below."""
    known = np.isfinite(answer["step_time_s"].to_numpy(dtype=float))
    if speed is None:
        return np.asarray(known)
    fastest, slowest = _utilisation(answer)
    return np.asarray(known & (fastest >= speed) & (~np.asarray(exact) | (slowest <= speed)))


def _none_left(answer: pd.DataFrame, holds: Mask, card: float, speed: float | None) -> str:
    """Which bound no layout meets: the card's memory, or the reported speed."""
    if not holds.any():
        return f"the leanest needs {answer['memory_gib_low'].min():.1f} GiB at the low end, the card has {card:.1f} GiB"
    fastest, slowest = (share[holds] for share in _utilisation(answer))
    if speed is None or not np.isfinite(fastest).any():
        return "no step time can be computed of those that the card holds"
    span = f"{100 * np.nanmin(slowest):.1f}% to {100 * np.nanmax(fastest):.1f}%"
    return f"of those that the card holds the engine expects MFU {span}; {100 * speed:.1f}% is reported"


def _utilisation(answer: pd.DataFrame) -> tuple[Array, Array]:
    """Ends of the 90% interval of utilisation: (fastest, slowest)."""
    best, low, high = (answer[f"step_time_s{end}"].to_numpy(dtype=float) for end in ("", "_low", "_high"))
    utilisation = answer["mfu"].to_numpy(dtype=float)
    return utilisation * best / low, utilisation * best / high


def _shared(legal: pd.DataFrame, left: pd.DataFrame, names: list[str]) -> Iterator[Shared]:
    """Facts of which the consistent layouts have fewer values than the legal ones."""
    for name in names:
        before, after = set(legal[name]), set(left[name])
        if after and len(after) < len(before):
            yield Shared(name, tuple(sorted(after)))


def _narrowest(left: pd.DataFrame, names: list[str]) -> tuple[str, float] | None:
    """The fact after whose disclosure the fewest layouts are left on average, each being as likely."""
    sizes = {name: float((left[name].value_counts() ** 2).sum() / len(left)) for name in names if len(left)}
    return min(sizes.items(), key=lambda pair: pair[1]) if sizes else None


def contains(one: Inference, truth: Mapping[str, Any]) -> bool:
    """Whether a layout with the stated degrees is among the consistent ones.

    Parameters
    ----------
    one
        What was inferred without them.
    truth
        Degrees by name; those that are not stated may be anything.
    """
    rows = np.ones(len(one.consistent), dtype=bool)
    for name in ("tp", "cp", "pp", "ep"):
        if name in truth and name in one.consistent:
            rows &= (one.consistent[name] == truth[name]).to_numpy()
    return bool(rows.any())
