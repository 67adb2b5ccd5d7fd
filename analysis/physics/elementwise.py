"""Work that is bound by memory bandwidth: norms, residuals, rotary, activations, cross-entropy, optimizer.

Bytes are those of a stack that runs each listed operation as one fused kernel in BF16; what real stacks add (separate
casts, biases, copies, imperfect bandwidth) is one calibrated factor on the total.
"""

import numpy as np
import numpy.typing as npt

from analysis.physics.architecture import Architecture

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]

#: Two norms (read x, write y) and two residual additions (read two, write one), 2 B each: 8h + 12h.
RESIDUAL_BYTES_PER_WIDTH = 20.0
#: The gated activation reads two tensors and writes one; GELU reads one and writes one; 2 B each.
GATED_BYTES, PLAIN_BYTES = 6.0, 4.0
#: Rotary embedding reads and writes queries and keys, 2 B each.
ROTARY_BYTES = 4.0
#: Dispatch reads a token's row and writes k copies, combine reads k and writes one: about 4 passes of 2 B per copy.
PERMUTE_BYTES = 8.0
#: The backward pass reads and writes about twice what the forward pass does.
BACKWARD_PASSES = 2.0


def residual_bytes(arch: Architecture, tokens: Number) -> Array:
    """Norms and residual additions of one layer, forward [B].

    >>> from analysis.physics.architecture import describe
    >>> float(residual_bytes(describe({"hidden": 4096, "heads": 32}), 1))
    81920.0
    """
    return np.asarray(RESIDUAL_BYTES_PER_WIDTH * arch.hidden * np.asarray(tokens, dtype=float))


def attention_bytes(arch: Architecture, tokens: Number) -> Array:
    """Rotary embedding of queries and keys of one layer, forward [B]."""
    width = arch.heads * arch.qk_dim + np.where(arch.mla > 0, arch.heads, arch.kv_heads) * arch.qk_dim
    return np.asarray(ROTARY_BYTES * width * np.asarray(tokens, dtype=float))


def _activation(arch: Architecture) -> Array:
    return np.where(arch.gated_mlp > 0, GATED_BYTES, PLAIN_BYTES)


def dense_mlp_bytes(arch: Architecture, tokens: Number) -> Array:
    """Activation function of a dense MLP, forward [B]."""
    return np.asarray(_activation(arch) * arch.ffn_hidden * np.asarray(tokens, dtype=float))


def moe_mlp_bytes(arch: Architecture, tokens: Number) -> Array:
    """Activation functions, dispatch and combine copies of an MoE layer, forward [B].

    >>> from analysis.physics.architecture import describe
    >>> moe = dict(hidden=2048, heads=32, gated_mlp=True, experts=128, experts_per_token=8, moe_ffn_hidden=768)
    >>> float(moe_mlp_bytes(describe(moe), 1)) == 8 * (6 * 768 + 8 * 2048)
    True
    """
    active = _activation(arch) * (arch.experts_per_token * arch.moe_ffn_hidden + arch.shared_ffn_hidden)
    copies = PERMUTE_BYTES * arch.experts_per_token * arch.hidden
    return np.asarray((active + copies) * np.asarray(tokens, dtype=float))


def cast_bytes(arch: Architecture, tokens: Number) -> Array:
    """Quantising the inputs and output gradients of a layer's products to 8 bits or fewer, forward and backward [B].

    Each of the widths around the four products is read in BF16 and written twice (plain and transposed): 4 B.
    """
    mlp = np.where(arch.experts > 0, arch.experts_per_token * arch.moe_ffn_hidden + arch.shared_ffn_hidden, 0.0)
    width = 4.0 * arch.hidden + arch.mlp_matrices * np.where(mlp > 0, mlp, arch.ffn_hidden)
    return np.asarray(4.0 * width * np.asarray(tokens, dtype=float))


def optimizer_seconds(parameters: Number, bytes_per_parameter: Number, hbm_bandwidth: Number) -> Array:
    """Adam on the parameters that one rank updates.

    Reads gradient, master weight and both moments, writes the last three and the BF16 weight: 4+4+4+4 + 4+4+4+2 = 30 B.

    Parameters
    ----------
    parameters
        Parameters of the rank.
    bytes_per_parameter
        Traffic of one [B].
    hbm_bandwidth
        What such kernels reach of the memory's bandwidth [B/s].

    Returns
    -------
    ndarray
        Time [s].

    Examples
    --------
    >>> round(float(optimizer_seconds(1e9, 30.0, 3.35e12)) * 1e3, 2)  # ms
    8.96
    """
    return np.asarray(np.asarray(parameters, dtype=float) * bytes_per_parameter / hbm_bandwidth)
