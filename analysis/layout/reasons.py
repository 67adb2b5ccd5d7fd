"""Why rows of a table cannot be computed: codes and values by row; words are made when somebody reads them."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt

from schemas.reasons import row_sentence

Mask = npt.NDArray[np.bool_]
Index = npt.NDArray[np.intp]
UNSTATED = "unstated"
LONGEST_TEXT = 60
"""Characters of a cell that a sentence repeats."""


@dataclass(frozen=True)
class Reason:
    """One thing that is wrong with one row: its code, the column it is about, and the values of its sentence."""

    code: str
    column: str
    values: dict[str, Any] = field(default_factory=dict)

    def text(self, language: str = "en") -> str:
        """The reason as part of a sentence.

        >>> Reason("unstated", "tp").text()
        'tp is not stated'
        """
        return row_sentence(self.code, {"field": self.column, **self.values}, language)


@dataclass(frozen=True)
class _Entry:
    """One reason for many rows: `values` holds a scalar, or one value per entry of `rows`."""

    rows: Index
    code: str
    column: str
    values: dict[str, Any]

    def at(self, place: int) -> Reason:
        return Reason(self.code, self.column, {name: _value(value, place) for name, value in self.values.items()})


def _value(value: Any, place: int) -> Any:
    if not isinstance(value, np.ndarray):
        return value
    return str(value[place])[:LONGEST_TEXT] if value.dtype == object else float(value[place])


@dataclass
class Reasons:
    """Why rows cannot be computed."""

    size: int
    entries: list[_Entry] = field(default_factory=list)

    def add(self, bad: Mask, code: str, column: str, **values: Any) -> None:
        """Note a reason for each row where `bad` holds; array values have one item per row of the table.

        A row with another reason for the same column is not also called unstated.
        """
        mask = np.broadcast_to(bad, (self.size,))
        if not mask.any():
            return
        if code == UNSTATED:
            mask = mask.copy()
            for entry in self.entries:
                if entry.column == column:
                    mask[entry.rows] = False
        rows = np.flatnonzero(mask)
        if rows.size:
            picked = {k: np.asarray(v)[rows] if isinstance(v, np.ndarray) else v for k, v in values.items()}
            self.entries.append(_Entry(rows, code, column, picked))

    def copy(self) -> Reasons:
        """The same reasons, to be added to on their own."""
        return Reasons(self.size, list(self.entries))

    def take(self, index: slice | Index) -> Reasons:
        """The reasons of some of the rows, in order."""
        chosen = np.arange(self.size)[index]
        place = np.full(self.size, -1, dtype=np.intp)
        place[chosen] = np.arange(chosen.size)
        out = Reasons(int(chosen.size))
        for entry in self.entries:
            kept = place[entry.rows] >= 0
            if kept.any():
                values = {k: v[kept] if isinstance(v, np.ndarray) else v for k, v in entry.values.items()}
                out.entries.append(_Entry(place[entry.rows][kept], entry.code, entry.column, values))
        return out

    @cached_property
    def bad(self) -> Mask:
        """Rows with at least one reason."""
        mask = np.zeros(self.size, dtype=bool)
        for entry in self.entries:
            mask[entry.rows] = True
        return mask

    def of(self, row: int) -> list[Reason]:
        """The reasons of one row."""
        result = [(entry, np.flatnonzero(entry.rows == row)) for entry in self.entries]
        return [entry.at(int(place[0])) for entry, place in result if place.size]

    def text(self) -> npt.NDArray[np.object_]:
        """One English text per row, its reasons joined with semicolons; empty where nothing is wrong."""
        out = np.full(self.size, "", dtype=object)
        for entry in self.entries:
            same = entry.at(0).text() if not any(isinstance(v, np.ndarray) for v in entry.values.values()) else None
            for place, row in enumerate(entry.rows):
                part = entry.at(place).text() if same is None else same
                out[row] = f"{out[row]}; {part}" if out[row] else part
        return out
