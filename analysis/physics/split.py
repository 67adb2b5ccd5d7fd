"""How a step is cut over accelerators and what is stored in which width: the numbers the memory formulas read."""

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
        return Split(**{f.name: _take(getattr(self, f.name), index) for f in fields(self)})


@dataclass(frozen=True)
class Recipe:
    """Widths and switches that decide what is stored; all float arrays.

    Bytes per parameter on the device: weight, gradient (the buffer kept through the step), master, moments (both
    together), working_weight (gathered 16-bit copy that ZeRO-3 uses layer by layer).
    Per element: linear_input (saved input of a matrix product: 2, or 1 in FP8).
    Switches: unfused_attention, dropout, separate_gate (activation and product of a gated MLP saved one by one),
    eager_norm (norms keep their input in FP32 and normalised as well),
    stage_output (what a stage sends on is kept until its backward), late_gradients (gradients come into being during
    the backward pass instead of lying in a buffer throughout).
    Recompute shares from 0 (kept) to 1 (dropped): layer (whole layers), core, qkv (queries, keys, values), mlp,
    experts, expert_activation, shared_expert, norm, operator (every second matrix product, as torchtitan does).
    checkpoint_every: layers between kept inputs under whole-layer recomputation (1: the input of every layer).
    Loss: logit_bytes per token and vocabulary entry. offloaded_activations: share of the checkpoints on the host.
    """

    weight: Array
    gradient: Array
    master: Array
    moments: Array
    working_weight: Array
    linear_input: Array
    unfused_attention: Array
    dropout: Array
    separate_gate: Array
    eager_norm: Array
    stage_output: Array
    late_gradients: Array
    recompute_layer: Array
    recompute_core: Array
    recompute_qkv: Array
    recompute_mlp: Array
    recompute_experts: Array
    recompute_expert_activation: Array
    recompute_shared_expert: Array
    recompute_norm: Array
    recompute_operator: Array
    checkpoint_every: Array
    logit_bytes: Array
    offloaded_activations: Array

    def rows(self, index: Any) -> Recipe:
        """The same recipe for some rows of a table."""
        return Recipe(**{f.name: _take(getattr(self, f.name), index) for f in fields(self)})


def _take(values: Array, index: Any) -> Array:
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


MIXED_PRECISION = {"weight": 2.0, "gradient": 4.0, "master": 4.0, "moments": 8.0}
"""BF16 weights, FP32 gradient buffer, FP32 master weights and Adam moments: 18 B per parameter (Megatron-LM)."""


def recipe(**choices: Any) -> Recipe:
    """A `Recipe` from plain numbers or arrays: 18 B mixed precision, everything kept, unless named otherwise.

    >>> float(recipe(gradient=2).gradient), float(recipe().moments)
    (2.0, 8.0)
    """
    names = {f.name for f in fields(Recipe)}
    unknown = set(choices) - names
    if unknown:
        raise ValueError(f"no such choice: {', '.join(sorted(unknown))}")
    base = MIXED_PRECISION | {"working_weight": 2.0, "linear_input": 2.0, "logit_bytes": 10.0, "checkpoint_every": 1.0}
    return Recipe(**{name: np.asarray(choices.get(name, base.get(name, 0.0)), dtype=float) for name in names})
