"""What the backward pass computes again instead of keeping: one vocabulary for bytes and for seconds."""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np

from analysis.physics.architecture import Array
from analysis.physics.split import take


@dataclass(frozen=True)
class Recompute:
    """Share of each part of a layer that is dropped and computed again, from 0 (kept) to 1 (dropped).

    Attributes
    ----------
    layer
        The whole layer; its input stays.
    core
        Scores and softmax of the attention.
    qkv
        Queries, keys and values (of latent attention: its up-projections).
    mlp
        Inside of a dense MLP.
    experts
        Everything inside a mixture of experts.
    expert_activation
        Output of the activation inside the experts.
    shared_expert
        Inside of the shared experts.
    norm
        Outputs of the norms.
    operator
        Every second matrix product (torchtitan's `op`).
    every
        Layers between kept inputs under whole-layer recomputation; 1 keeps the input of every layer.
    """

    layer: Array
    core: Array
    qkv: Array
    mlp: Array
    experts: Array
    expert_activation: Array
    shared_expert: Array
    norm: Array
    operator: Array
    every: Array

    def rows(self, index: Any) -> Recompute:
        """The same for some rows of a table."""
        return Recompute(**{f.name: take(getattr(self, f.name), index) for f in fields(self)})


def recompute(**shares: Any) -> Recompute:
    """A `Recompute` from plain numbers or arrays; parts that are not named are kept.

    >>> float(recompute(core=1).core), float(recompute(core=1).mlp), float(recompute().every)
    (1.0, 0.0, 1.0)
    """
    names = [f.name for f in fields(Recompute)]
    unknown = set(shares) - set(names)
    if unknown:
        raise ValueError(f"no such part of a layer: {', '.join(sorted(unknown))}")
    usual = dict.fromkeys(names, 0.0) | {"every": 1.0}
    return Recompute(**{name: np.asarray(shares.get(name, usual[name]), dtype=float) for name in names})
