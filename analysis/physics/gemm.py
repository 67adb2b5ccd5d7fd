"""Matrix products of a decoder layer on one rank: FLOP, operand bytes and the seconds they take.

A product of M x K by K x N costs 2MNK FLOP and moves its three operands once. The time is the sum of both, FLOP over
the rate that large products sustain plus bytes over the HBM bandwidth (an additive roofline): small and thin products
lose efficiency by physics, without a table of shapes.
"""

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.physics.architecture import Architecture
from analysis.physics.parameters import attention_weights

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Products:
    """Work of a set of matrix products, forward only."""

    flop: Array
    elements: Array

    def plus(self, other: "Products") -> "Products":
        """Sum of two sets."""
        return Products(self.flop + other.flop, self.elements + other.elements)

    def times(self, count: Number) -> "Products":
        """The same set `count` times."""
        return Products(self.flop * count, self.elements * count)


def product(m: Number, n: Number, k: Number) -> Products:
    """FLOP and operand elements (MK + KN + MN) of one matrix product.

    Parameters
    ----------
    m, n, k
        Rows, columns and depth [elements].

    Returns
    -------
    Products
        2MNK FLOP and the elements of the three matrices.

    Examples
    --------
    >>> one = product(4096, 8192, 2048)
    >>> float(one.flop) == 2 * 4096 * 8192 * 2048, float(one.elements) == 4096 * 2048 + 2048 * 8192 + 4096 * 8192
    (True, True)
    """
    rows, columns, depth = (np.asarray(x, dtype=float) for x in (m, n, k))
    return Products(2.0 * rows * columns * depth, rows * depth + depth * columns + rows * columns)


def pass_bytes(operand_bytes: Number, output_bytes: Number = 2.0) -> Array:
    """Mean bytes per operand element over forward, input-gradient and weight-gradient products [B].

    Each of the three passes reads two of the three matrices in the operand format and writes the third in the output
    format, and every matrix is written once: (2 e + o) / 3.

    Parameters
    ----------
    operand_bytes, output_bytes
        Width of an element that is read, and of one that is written [B].

    Returns
    -------
    ndarray
        Mean width [B].

    Examples
    --------
    >>> float(pass_bytes(2.0)), round(float(pass_bytes(1.0)), 4)  # BF16, FP8 operands with BF16 outputs
    (2.0, 1.3333)
    """
    return np.asarray((2.0 * np.asarray(operand_bytes, dtype=float) + np.asarray(output_bytes, dtype=float)) / 3.0)


def product_seconds(
    work: Products, rate: Number, hbm_bandwidth: Number, element_bytes: Number = 2.0, overlapped: Number = 0.0
) -> Array:
    """Time of a forward pass of the products [s]: FLOP / rate + bytes / bandwidth, or the larger where overlapped.

    Equals ideal * (1 + R (1/M + 1/N + 1/K)) with R = rate * element_bytes / (2 * bandwidth), the shape rule.

    Parameters
    ----------
    work
        FLOP and operand elements.
    rate
        What large products sustain [FLOP/s].
    hbm_bandwidth
        Of the memory [B/s].
    element_bytes
        Per operand element [B].
    overlapped
        1 where the compiler streams operands while it multiplies, as XLA does on TPU.

    Returns
    -------
    ndarray
        Time [s].

    Notes
    -----
    Additive form of the roofline (Williams et al. 2009) without overlap of memory and arithmetic.

    Examples
    --------
    >>> t = product_seconds(product(8192, 8192, 8192), rate=250e12, hbm_bandwidth=2.0e12)
    >>> round(float(t) * 1e3, 3), round(2 * 8192**3 / 250e12 * 1e3, 3)  # ms, with and without the shape loss
    (4.599, 4.398)
    """
    arithmetic, traffic = work.flop / rate, work.elements * element_bytes / hbm_bandwidth
    return np.where(np.asarray(overlapped) > 0, np.maximum(arithmetic, traffic), arithmetic + traffic)


def attention_products(arch: Architecture, tokens: Number, tp: Number) -> Products:
    """Projections of one attention block for `tokens` tokens on one of `tp` ranks.

    Grouped-query attention has one fused query-key-value product and one output product; latent attention the same two
    sizes with its down projections, which every tensor rank repeats.
    """
    m, t = np.asarray(tokens, dtype=float), np.asarray(tp, dtype=float)
    sharded, whole = attention_weights(arch)
    out = product(m, arch.hidden, arch.heads * arch.v_dim / t)
    weights_in = sharded / t - arch.heads * arch.v_dim * arch.hidden / t
    latent = product(m, (arch.heads * (arch.qk_dim + arch.qk_nope_head_dim + arch.v_dim)) / t, 1.0)
    plain = product(m, weights_in / arch.hidden, arch.hidden)
    elements = np.where(arch.mla > 0, weights_in + latent.elements + m * (arch.q_lora_rank + arch.kv_lora_rank), 0.0)
    into = Products(2.0 * m * weights_in, np.where(arch.mla > 0, elements, plain.elements))
    down = product(m, whole / arch.hidden, arch.hidden).times(np.where(whole > 0, 1.0, 0.0))
    return out.plus(into).plus(down)


def dense_products(arch: Architecture, tokens: Number, tp: Number) -> Products:
    """The MLP of a dense layer: up (and gate, fused) and down, width f/t per rank.

    >>> from analysis.physics.architecture import describe
    >>> arch = describe({"hidden": 4096, "heads": 32, "ffn_hidden": 11008, "gated_mlp": True})
    >>> float(dense_products(arch, 2048, 1).flop) == 6 * 2048 * 4096 * 11008
    True
    """
    return _mlp(arch, tokens, arch.ffn_hidden / np.asarray(tp, dtype=float))


def _mlp(arch: Architecture, tokens: Number, width: Array) -> Products:
    up = product(tokens, width * (arch.mlp_matrices - 1.0), arch.hidden)
    return up.plus(product(tokens, arch.hidden, width))


def routed_products(arch: Architecture, tokens: Number, ep: Number, etp: Number) -> Products:
    """The routed experts of one MoE layer on one rank, with `tokens` tokens originating there.

    Every rank holds experts/ep of them and receives k * tokens copies when routing is balanced (times etp, whose ranks
    gather each other's tokens and hold 1/etp of the width). Weights of each local expert are read once.
    """
    m, shards = np.asarray(tokens, dtype=float), np.asarray(etp, dtype=float)
    local = arch.experts / np.asarray(ep, dtype=float)
    copies = m * arch.experts_per_token * shards
    one = _mlp(arch, copies / np.maximum(local, 1e-30), arch.moe_ffn_hidden / shards)
    return one.times(np.where(arch.experts > 0, local, 0.0))


def shared_products(arch: Architecture, tokens: Number, tp: Number) -> Products:
    """Shared experts (width split by t) and the router of one MoE layer."""
    shared = _mlp(arch, tokens, arch.shared_ffn_hidden / np.asarray(tp, dtype=float))
    router = product(np.asarray(tokens, dtype=float) / tp, arch.experts, arch.hidden)
    return shared.times(np.where(arch.shared_ffn_hidden > 0, 1.0, 0.0)).plus(router)


def head_products(arch: Architecture, tokens: Number, tp: Number) -> Products:
    """Output head: tokens x h by h x V/t.

    >>> from analysis.physics.architecture import describe
    >>> arch = describe({"hidden": 4096, "heads": 32, "vocab": 128256})
    >>> float(head_products(arch, 8192, 8).flop) == 2 * 8192 * 4096 * 128256 / 8
    True
    """
    return product(tokens, arch.vocab / np.asarray(tp, dtype=float), arch.hidden)
