"""What the time formulas read and return: rates of the chip, the layout of the step, seconds of a micro-batch."""

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.physics.split import Split

Array = npt.NDArray[np.float64]
Parts = dict[str, Array]
Constants = Mapping[str, float]


@dataclass(frozen=True)
class Chip:
    """Rates of the accelerator of each row, efficiencies applied to compute [FLOP/s, B/s, accelerators].

    `fabric` is a code of `topology.FABRICS`.
    """

    linear_rate: Array
    head_rate: Array
    core_rate: Array
    biased_core_rate: Array
    hbm_bandwidth: Array
    scale_up: Array
    domain: Array
    scale_out: Array
    host_link: Array
    fabric: Array


@dataclass(frozen=True)
class Work(Split):
    """How the step is split (see Split) and what each rank runs; switches are 0 or 1, shares 0 to 1.

    Shares of the forward pass that backward runs again: recompute_layer (whole layers, collectives included),
    recompute_projections, recompute_mlp, recompute_routed, recompute_shared (matrix products), recompute_core,
    recompute_elementwise. kernel is a code of `attention.KERNEL_CLASSES`; linear_bytes [B] the operands of the layers'
    products and quantised whether they are cast to it; layers_max and layers_last the layers of the fullest and of the
    last stage, split_stated whether the source prints them; compiled whether
    the whole step is one compiled program (XLA on TPU, Neuron), which hides operand traffic behind arithmetic.
    """

    recompute_layer: Array
    recompute_projections: Array
    recompute_mlp: Array
    recompute_routed: Array
    recompute_shared: Array
    recompute_core: Array
    recompute_elementwise: Array
    kernel: Array
    linear_bytes: Array
    quantised: Array
    layers_max: Array
    layers_last: Array
    split_stated: Array
    compiled: Array

    @property
    def accelerators(self) -> Array:
        """All ranks."""
        return np.asarray(self.tp * self.cp * self.pp * self.dp)


@dataclass(frozen=True)
class Passes:
    """Seconds of one micro-batch: forward, whole backward, and the weight gradient within the backward."""

    forward: Array
    backward: Array
    weight: Array

    def plus(self, other: "Passes") -> "Passes":
        """Sum of two."""
        return Passes(self.forward + other.forward, self.backward + other.backward, self.weight + other.weight)

    def times(self, count: Array) -> "Passes":
        """The same `count` times."""
        return Passes(self.forward * count, self.backward * count, self.weight * count)

    @property
    def total(self) -> Array:
        """Forward plus backward."""
        return np.asarray(self.forward + self.backward)
