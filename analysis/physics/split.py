"""How a step is cut over accelerators: parallel degrees, batch and schedule."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from analysis.physics.architecture import Array


@dataclass(frozen=True)
class Split:
    """Parallel degrees, batch and schedule of each row; all float arrays that broadcast.

    seq_len [tokens], micro_batch [sequences], micro_batches [per step and data-parallel rank], tp, cp, pp, vpp, ep,
    etp (tensor split of the experts), dp (data-parallel ranks), sequence_parallel (0 or 1), schedule (code of
    `bubble.SCHEDULES`), zero_stage (0 to 3), shard_ranks (ranks over which ZeRO or FSDP shards; 0 = all of dp x cp).
    """

    seq_len: Array
    micro_batch: Array
    micro_batches: Array
    tp: Array
    sequence_parallel: Array
    cp: Array
    pp: Array
    vpp: Array
    ep: Array
    etp: Array
    dp: Array
    schedule: Array
    zero_stage: Array
    shard_ranks: Array

    @property
    def tokens(self) -> Array:
        """Tokens of one micro-batch on one context rank [tokens]."""
        return np.asarray(self.seq_len * self.micro_batch / self.cp)

    @property
    def residual_share(self) -> Array:
        """Share of the residual stream that one tensor rank keeps: 1/tp with sequence parallelism, else all of it."""
        return np.where(self.sequence_parallel > 0, 1 / self.tp, 1.0)

    @property
    def replicas(self) -> Array:
        """Ranks that share one copy of the dense weights' optimizer state: dp x cp."""
        return np.where(self.shard_ranks > 0, self.shard_ranks, self.dp * self.cp)

    @property
    def expert_replicas(self) -> Array:
        """Ranks that hold the same routed experts: accelerators / (etp x ep x pp), never less than one."""
        return np.maximum(self.replicas * self.tp / (self.etp * self.ep), 1.0)

    def rows(self, index: Any) -> Split:
        """The same split for some rows of a table."""
        return Split(**{f.name: take(getattr(self, f.name), index) for f in fields(self)})


def take(values: Array, index: Any) -> Array:
    """Some rows of an array; a scalar holds for every row."""
    return values if values.ndim == 0 else values[index]


def split(**degrees: Any) -> Split:
    """A `Split` from plain numbers or arrays; degrees that are not named are 1, switches and stages 0.

    seq_len must be given. `schedule` is a code of `bubble.SCHEDULES`; 1 (1F1B) when not named. etp follows tp unless
    experts are split over ep.

    >>> float(split(seq_len=2048, micro_batch=4, tp=8, sequence_parallel=1).residual_share)
    0.125
    """
    names = {f.name for f in fields(Split)}
    unknown = set(degrees) - names
    if unknown:
        raise ValueError(f"no such degree: {', '.join(sorted(unknown))}")
    zero = {"sequence_parallel", "zero_stage", "shard_ranks"}
    given = {name: np.asarray(value, dtype=float) for name, value in degrees.items()}
    full = {name: given.get(name, np.asarray(0.0 if name in zero else 1.0)) for name in names}
    if "etp" not in given:
        full["etp"] = np.where(full["ep"] > 1, 1.0, full["tp"])
    return Split(**full)
