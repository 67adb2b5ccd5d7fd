"""What the time formulas read and return: rates of the chip, the layout of the step, seconds of a micro-batch."""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.physics.links import Network
from analysis.physics.split import Split

Array = npt.NDArray[np.float64]
Parts = dict[str, Array]


@dataclass(frozen=True)
class Chip:
    """Rates of the accelerator of each row, as large products, fused kernels and collectives reach them.

    Attributes
    ----------
    linear_rate, head_rate
        Matrix products of the layers, in their format, and of the output head [FLOP/s].
    core_rate, biased_core_rate
        Fused attention without and with an additive bias [FLOP/s].
    hbm_bandwidth
        Data-sheet bandwidth of the memory [B/s].
    network
        Links to other accelerators.
    """

    linear_rate: Array
    head_rate: Array
    core_rate: Array
    biased_core_rate: Array
    hbm_bandwidth: Array
    network: Network


@dataclass(frozen=True)
class Work(Split):
    """How the step is split (see `Split`) and what each rank runs.

    Attributes
    ----------
    recompute_layer, recompute_projections, recompute_mlp, recompute_routed, recompute_shared
        Shares of the forward pass that backward runs again: whole layers with their collectives, and matrix products.
    recompute_core, recompute_elementwise
        The same for the attention core and memory-bound work.
    kernel
        Codes of `attention.KERNEL_CLASSES`.
    linear_bytes, quantised
        Operand width of the layers' products [B], and whether operands are cast to it.
    layers_first, layers_max, layers_last
        Layers of the first, the fullest and the last stage; prediction depths count on the last.
    split_stated
        Whether the source prints the stages.
    element_bytes
        Width of activations and of the gradients that are exchanged [B]: 2, or 4 in FP32.
    bucket_bytes
        Bucket in which the gradients of plain replicas leave beside the last backward pass, 0 where they do not [B].
    trained
        Parameters that are trained over those of the model [1]: 1, or the adapters' share of a frozen base.
    unpacked_bytes
        Bytes per parameter that a pass moves to unpack a base of four bits, 0 otherwise [B].
    compiled
        Whether the whole step is one compiled program, which hides operand traffic behind arithmetic.
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
    layers_first: Array
    layers_max: Array
    layers_last: Array
    split_stated: Array
    element_bytes: Array
    bucket_bytes: Array
    trained: Array
    unpacked_bytes: Array
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
