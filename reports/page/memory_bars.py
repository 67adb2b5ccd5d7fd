"""Memory by stage as plain bars: shares of a common width, so that a phone and a printer draw them alike."""

from __future__ import annotations

from collections import defaultdict
from itertools import groupby
from typing import Any

from reports.numbers import significant
from reports.page.run_data import Row

ORDER = ("weights", "gradients", "optimizer", "activations", "working", "overhead")


def bars(rows: list[Row], phases: list[Row]) -> list[dict[str, Any]]:
    """One picture per phase: a bar per stage, its parts in a fixed order, against the card.

    Parameters
    ----------
    rows
        Modelled memory by phase, stage and part [GiB].
    phases
        Phases with the capacity of their accelerator.
    """
    cards = {phase["phase"]: phase["card_gib"] for phase in phases}
    made = []
    for phase, group in groupby(rows, key=lambda row: row["phase"]):
        made.append(_picture(phase, list(group), cards.get(phase)))
    return made


def _picture(phase: str, rows: list[Row], card: float | None) -> dict[str, Any]:
    stages: dict[int, dict[str, float]] = defaultdict(dict)
    for row in rows:
        if row["part"] != "total" and row["value"] is not None:
            stages[row["stage"] or 0][row["part"]] = row["value"]
    parts = sorted({part for stage in stages.values() for part in stage}, key=_place)
    totals = {stage: sum(values.values()) for stage, values in stages.items()}
    scale = 1.02 * max([*totals.values(), card or 0])
    lines = [_line(stage, values, parts, totals[stage], scale, card) for stage, values in sorted(stages.items())]
    tightest = max(totals, key=lambda stage: totals[stage]) if totals else 0
    return {
        "phase": phase,
        "parts": list(enumerate(parts)),
        "stages": lines,
        "card": None if card is None else significant(card),
        "card_at": None if card is None else f"{100 * card / scale:.2f}%",
        "tightest": tightest,
        "peak": significant(totals[tightest]) if totals else "",
        "assumed": rows[0].get("assumed") or "",
    }


def _line(
    stage: int, values: dict[str, float], parts: list[str], total: float, scale: float, card: float | None
) -> dict[str, Any]:
    pieces, start = [], 0.0
    for place, part in enumerate(parts):
        size = values.get(part, 0.0)
        pieces.append(
            {
                "place": min(place, 5),
                "part": part,
                "x": f"{100 * start / scale:.2f}%",
                "width": f"{100 * size / scale:.2f}%",
            }
        )
        start += size
    free = "" if card is None else f"{card - total:+.1f}"
    return {
        "stage": stage,
        "pieces": pieces,
        "total": f"{total:.1f}",
        "free": free,
        "over": card is not None and total > card,
    }


def _place(part: str) -> tuple[int, str]:
    return (ORDER.index(part) if part in ORDER else len(ORDER), part)
