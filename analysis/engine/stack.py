"""Which software a row was trained with: as stated, else as its words show; and what that software is known to do.

`data/calibration/stacks.yaml` holds one table by software, each entry with a source. A stack that the table does not
know, or that a row does not state, is answered generically and with a wider range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.physics import attention
from analysis.records.constants import flatten

Constants = Mapping[str, float]

COLUMNS = frozenset({
    "gradient_bytes", "replica_gradient_bytes", "paged_gradient_bytes", "paged_moment_bytes", "separate_gate",
    "eager_norm", "logit_bytes", "stage_output", "balanced_split", "reports", "gap_share", "buffer_gib",
})  # fmt: skip
"""Columns of the table that the memory reads; `software` reads those of the step time."""
OTHER = "other"
"""Entry of the table for software that is not in it or not stated."""


@dataclass(frozen=True)
class Stack:
    """The software of each row, by its name and by the family of its memory habits.

    Exactly one of `pure` (everything in 16 bits), `sharded` (ZeRO-3, FSDP), `deepspeed` and `megatron` is set per row;
    `alone` marks PyTorch's own loop on one accelerator, `native` all rows without Megatron's or DeepSpeed's machinery.
    `known` marks rows whose software is in the table.
    """

    pure: Mask
    sharded: Mask
    deepspeed: Mask
    megatron: Mask
    alone: Mask
    native: Mask
    known: Mask
    code: npt.NDArray[np.intp]
    names: tuple[str, ...]

    @classmethod
    def of(cls, rows: Rows, constants: Constants) -> Stack:
        """Read the stack column; precision words, ZeRO stage and arithmetic say the rest."""
        code, distinct = pd.factorize(rows.stack)
        names = (*(str(name).strip().lower() for name in distinct), "")
        table = software(constants)
        known = np.asarray([name in table for name in names])[code]
        says_deepspeed = np.asarray(["deepspeed" in name or name not in table for name in names])[code]
        pure = rows.words.pure_16bit > 0
        sharded = (rows.split.zero_stage >= 3) & ~pure
        half = (rows.words.dtype == words.FP16) & (rows.split.zero_stage >= 1) & says_deepspeed
        deepspeed = ((rows.words.deepspeed_bf16 > 0) | half) & ~pure & ~sharded
        others = pure | sharded | deepspeed
        alone = (rows.number["accelerators"] == 1) & (rows.kernel != attention.UNFUSED) & ~others
        return cls(pure, sharded, deepspeed, ~others, alone, pure | sharded | alone, known, code, names)

    def habit(self, constants: Constants, name: str, usual: Array | float = np.nan) -> Array:
        """What each row's software is known to do; `usual` where the table says nothing.

        The entry for unknown software holds where nothing else identifies it: FSDP loops, DeepSpeed and pure 16-bit
        training have habits of their own.

        Parameters
        ----------
        constants
            Dotted names and values; those of the table begin with `stacks.`.
        name
            Column of the table, e.g. `gradient_bytes`.
        usual
            Value of rows whose software has no entry.
        """
        other = constants.get(f"stacks.{OTHER}.{name}", np.nan)
        table = software(constants)
        own = [constants.get(f"stacks.{one}.{name}", np.nan) if one in table else other for one in self.names]
        values = np.where(self.known | self.megatron, np.asarray(own)[self.code], np.nan)
        return np.where(np.isnan(values), usual, values)


def memory_constants(calibration: Mapping[str, Any]) -> dict[str, float]:
    """Calibration of the memory as dotted names and values, the table of stacks with the prefix `stacks.`.

    >>> memory_constants({"memory": {"a": {"value": 1.0}}, "stacks": {"b": {"c": {"value": 2.0}}}})
    {'a': 1.0, 'stacks.b.c': 2.0}
    """
    table = flatten(calibration.get("stacks", {}))
    return flatten(calibration["memory"]) | {f"stacks.{name}": value for name, value in table.items()}


def software(constants: Constants) -> frozenset[str]:
    """Names of the software whose memory the table knows.

    >>> sorted(software({"stacks.nanotron.reports": 1.0, "stacks.other-loop.passes": 2.0, "margin.low": 0.1}))
    ['nanotron']
    """
    columns = (name.split(".") for name in constants if name.startswith("stacks."))
    return frozenset(stack for _, stack, column in columns if column in COLUMNS)
