"""Attention core (scores and weighted values) on one rank: FLOP, bytes and seconds by kernel class.

Three classes behave differently enough to need their own constants:
flash (fused, tiled, causal blocks skipped), flash-bias (fused, but with an additive bias such as ALiBi, which kept the
kernels of its time at about half the speed) and unfused (two batched products over all scores, masked ones included,
and a softmax that goes through HBM several times).
"""

import numpy as np
import numpy.typing as npt

from analysis.physics.architecture import Architecture
from analysis.physics.flops import attention_context, index_flop, linear_core_flop

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]

FLASH, FLASH_BIAS, UNFUSED = 0.0, 1.0, 2.0
#: Class of each kernel name that layouts and papers use.
KERNEL_CLASSES = {
    **dict.fromkeys(("flash", "flash-attention", "flash-attn", "flash2", "flash3", "fa2", "fa3", "fused"), FLASH),
    **dict.fromkeys(("cudnn", "sdpa", "splash", "xformers", "memory-efficient", "triton", "te", "ck", "aiter"), FLASH),
    **dict.fromkeys(("flash-bias", "flash-alibi", "triton-alibi"), FLASH_BIAS),
    **dict.fromkeys(("unfused", "eager", "math", "dot_product", "local", "torch"), UNFUSED),
}

#: Products of the fused backward pass relative to forward: five against two (recomputed scores, dV, dP, dQ, dK).
FLASH_BACKWARD = 2.5
#: Without fusion the scores are kept, so the backward pass has four products.
UNFUSED_BACKWARD = 2.0


def core_flop(arch: Architecture, sequences: Number, seq_len: Number, tp: Number, cp: Number, *, causal: bool) -> Array:
    """Forward FLOP of the core of one layer (mean over windowed and full layers) on one rank [FLOP].

    2 a (d_qk + d_v) per pair of query and key: full attention has s^2 pairs per sequence, the causal half s^2/2. The
    scores of an indexer and the gated delta rule of linear layers are counted in.

    >>> from analysis.physics.architecture import describe
    >>> arch = describe({"layers": 2, "hidden": 4096, "heads": 32})
    >>> one = core_flop(arch, 1, 8192, tp=1, cp=1, causal=True)
    >>> float(one) == 2 * 8192**2 * 4096
    True
    """
    length = np.asarray(seq_len, dtype=float)
    pairs = np.asarray(sequences) * length * attention_context(arch, length, causal=causal) / arch.layers
    scores = 2.0 * pairs * arch.heads * (arch.qk_dim + arch.v_dim)
    beside = np.asarray(sequences) * length * (index_flop(arch, length) + linear_core_flop(arch)) / arch.layers
    return np.asarray((scores + beside) / (np.asarray(tp) * np.asarray(cp)))


def block_share(seq_len: Number, half_length: Number) -> Array:
    """Share of its large-sequence speed that a fused kernel reaches at a length: s / (s + s_half).

    Diagonal blocks are computed whole and short sequences leave SMs idle.

    Parameters
    ----------
    seq_len, half_length
        Length, and the length at which half of the speed is reached [tokens].

    Returns
    -------
    ndarray
        Share [1].

    Examples
    --------
    >>> float(block_share(1536.0, 512.0))
    0.75
    """
    s = np.asarray(seq_len, dtype=float)
    return np.asarray(s / (s + np.asarray(half_length, dtype=float)))


def head_dim_share(head_dim: Number, exponential: Number, reference: float = 128.0) -> Array:
    """Slow-down by the head width [1]: the exponentials cost the same per score however narrow the head is.

    At the reference width they take the share e of the kernel beside the products: d / ((1 - e) d + e ref), and no gain
    above the reference. FlashAttention-2 (arXiv:2307.08691), fig. 4-6: d = 64 reaches 0.80-0.87 of d = 128.

    Parameters
    ----------
    head_dim, reference
        Head width [elements].
    exponential
        The share e [1].

    Returns
    -------
    ndarray
        Share of the speed at the reference width [1].

    Examples
    --------
    >>> round(float(head_dim_share(64.0, 0.2)), 3), float(head_dim_share(192.0, 0.2))
    (0.833, 1.0)
    """
    d = np.minimum(np.asarray(head_dim, dtype=float), reference)
    return np.asarray(d / ((1.0 - np.asarray(exponential)) * d + exponential * reference))


def alignment_share(head_dim: Number, share_per_halving: Number) -> Array:
    """Slow-down of batched products whose head width is not a multiple of 64 [1], per halving of the alignment.

    The largest power of two dividing the width decides which tensor-core tiles fit; 64 and more cost nothing.

    >>> [round(float(x), 3) for x in alignment_share(np.array([128.0, 96.0, 80.0]), 0.7)]
    [1.0, 0.7, 0.49]
    """
    d = np.rint(np.nan_to_num(np.asarray(head_dim, dtype=float))).astype(np.int64)
    lowest_bit = np.maximum(d & -d, 1).astype(float)
    halvings = np.clip(6.0 - np.log2(lowest_bit), 0.0, 6.0)
    return np.asarray(np.power(np.asarray(share_per_halving, dtype=float), halvings))


def fused_seconds(causal_flop: Number, rate: Number) -> tuple[Array, Array]:
    """Forward and backward seconds of a fused kernel that skips masked blocks.

    >>> [float(x) for x in fused_seconds(1e12, 200e12)]
    [0.005, 0.0125]
    """
    forward = np.asarray(np.asarray(causal_flop, dtype=float) / rate)
    return forward, np.asarray(FLASH_BACKWARD * forward)


def unfused_seconds(
    full_flop: Number, scores: Number, rate: Number, hbm_bandwidth: Number, score_bytes: Number
) -> tuple[Array, Array]:
    """Forward and backward seconds of the unfused core: products over all scores and softmax traffic.

    Parameters
    ----------
    full_flop
        Products over all scores, the masked half included [FLOP].
    scores
        a s^2 b / t [1].
    rate
        Of batched products [FLOP/s].
    hbm_bandwidth
        Of the memory [B/s].
    score_bytes
        Traffic per score, forward and backward, a third of it forward [B].

    Returns
    -------
    tuple of ndarray
        Forward and backward time [s].

    Examples
    --------
    >>> [round(float(x), 4) for x in unfused_seconds(2e12, 1e9, 100e12, 2e12, 15.0)]
    [0.0225, 0.045]
    """
    products = np.asarray(full_flop, dtype=float) / rate
    traffic = np.asarray(scores, dtype=float) * np.asarray(score_bytes) / hbm_bandwidth
    return np.asarray(products + traffic / 3.0), np.asarray(UNFUSED_BACKWARD * products + 2.0 * traffic / 3.0)
