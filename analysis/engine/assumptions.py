"""What a row leaves open and the engine filled in: codes with values; words are in schemas/reasons.yaml."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from typing import Literal

import numpy as np
import numpy.typing as npt

from schemas.reasons import assumption_sentence

Mask = npt.NDArray[np.bool_]


class Code(Enum):
    """Kinds of assumptions; the values are keys of `assumptions` in schemas/reasons.yaml."""

    FLASH = "flash"
    UNFUSED = "unfused"
    RECOMPUTE_NONE = "recompute-none"
    RECOMPUTE_FULL = "recompute-full"
    ZERO_STAGE = "zero-stage"
    SEQUENCE_PARALLEL = "sequence-parallel"
    SHARD_RANKS = "shard-ranks"
    LINK = "link"
    PEAK = "peak"
    CLASS_EFFICIENCY = "class-efficiency"
    SPLIT = "split"
    VOCABULARY = "vocabulary"


WIDENS: dict[Code, Literal["recompute", "unmeasured"]] = {
    Code.RECOMPUTE_NONE: "recompute",
    Code.RECOMPUTE_FULL: "recompute",
    Code.FLASH: "unmeasured",
    Code.UNFUSED: "unmeasured",
    Code.PEAK: "unmeasured",
}
"""Assumptions that move the time by a step rather than a little, and the interval that covers the step."""


@dataclass(frozen=True)
class Assumption:
    """One thing taken as given.

    Attributes
    ----------
    code
        What kind it is.
    field
        Column it is about, where the code alone does not say.
    subject
        Accelerator it is about.
    value
        What was taken.
    """

    code: Code
    field: str = ""
    subject: str = ""
    value: float = float("nan")

    def text(self, language: str = "en") -> str:
        """The assumption in words.

        >>> Assumption(Code.LINK, "scale_out_gbit_s").text()
        "scale_out_gbit_s is not in the accelerator's record (class value used)"
        """
        values = {"field": self.field, "subject": self.subject, "value": self.value}
        return assumption_sentence(self.code.value, values, language)


Assumed = dict[Assumption, Mask]
"""Assumptions and the rows that they hold for."""


def texts(assumed: Assumed, rows: int) -> npt.NDArray[np.object_]:
    """One English text per row: its assumptions joined with semicolons.

    >>> texts({Assumption(Code.FLASH): np.array([True, False])}, 2).tolist()
    ['attention_kernel is not stated (flash assumed)', '']
    """
    sentences = [assumption.text() for assumption in assumed]
    code = np.zeros(rows, dtype=np.int64)
    for bit, mask in enumerate(assumed.values()):
        code |= np.where(mask, np.int64(1) << bit, 0)
    distinct, position = np.unique(code, return_inverse=True)
    joined = ["; ".join(s for bit, s in enumerate(sentences) if c >> bit & 1) for c in distinct]
    return np.asarray(joined, dtype=object)[position]
