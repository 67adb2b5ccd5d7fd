"""What is stored and how wide: the numbers beside layout and architecture that the memory formulas read."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from analysis.physics.architecture import Array
from analysis.physics.checkpointing import Recompute, recompute
from analysis.physics.split import take


@dataclass(frozen=True)
class MemoryPolicy:
    """Widths and switches that decide what is stored; all float arrays.

    Attributes
    ----------
    weight, gradient, master, moments
        Bytes per parameter on the device: working weights, gradient buffers kept through the step, master weights,
        both moments together.
    working_weight
        Bytes per parameter of the 16-bit copy that ZeRO-3 gathers layer by layer.
    activation
        Bytes per element of an activation: 2, or 4 in FP32 and TF32.
    linear_input
        Bytes per element of a saved input of a matrix product: that of activations, or 1 in FP8.
    unfused_attention, dropout
        1 where scores are stored, and where dropout masks are.
    separate_gate
        1 where activation and product of a gated MLP are saved one by one.
    eager_norm
        1 where norms keep their input in FP32 and normalised as well.
    stage_output
        1 where what a stage sends on is kept until its backward.
    late_gradients
        1 where gradients come into being during the backward pass instead of lying in a buffer throughout.
    recompute
        What is dropped (see `Recompute`).
    logit_bytes
        Bytes per token and vocabulary entry at the peak of the loss.
    offloaded_activations
        Share of what is kept that lies on the host.
    """

    weight: Array
    gradient: Array
    master: Array
    moments: Array
    working_weight: Array
    activation: Array
    linear_input: Array
    unfused_attention: Array
    dropout: Array
    separate_gate: Array
    eager_norm: Array
    stage_output: Array
    late_gradients: Array
    recompute: Recompute
    logit_bytes: Array
    offloaded_activations: Array

    def rows(self, index: Any) -> MemoryPolicy:
        """The same policy for some rows of a table."""
        plain = {f.name: take(getattr(self, f.name), index) for f in fields(self) if f.name != "recompute"}
        return MemoryPolicy(recompute=self.recompute.rows(index), **plain)


MIXED_PRECISION = {"weight": 2.0, "gradient": 4.0, "master": 4.0, "moments": 8.0}
"""BF16 weights, FP32 gradient buffer, FP32 master weights and Adam moments: 18 B per parameter (Megatron-LM)."""


def memory_policy(**choices: Any) -> MemoryPolicy:
    """A `MemoryPolicy` from plain numbers or arrays: 18 B mixed precision, everything kept, unless named otherwise.

    `recompute` takes a mapping of the parts of `Recompute`.

    >>> policy = memory_policy(gradient=2, recompute={"core": 1})
    >>> float(policy.gradient), float(policy.moments), float(policy.recompute.core)
    (2.0, 8.0, 1.0)
    """
    names = [f.name for f in fields(MemoryPolicy) if f.name != "recompute"]
    dropped = recompute(**choices.pop("recompute", {}))
    unknown = set(choices) - set(names)
    if unknown:
        raise ValueError(f"no such choice: {', '.join(sorted(unknown))}")
    base = MIXED_PRECISION | {"working_weight": 2.0, "activation": 2.0, "linear_input": 2.0, "logit_bytes": 10.0}
    plain = {name: np.asarray(choices.get(name, base.get(name, 0.0)), dtype=float) for name in names}
    return MemoryPolicy(recompute=dropped, **plain)
