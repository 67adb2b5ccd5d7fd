"""Bytes that each parallel dimension moves per training step, and the seconds a link needs for them.

Every function counts what one rank sends (equal to what it receives) in one optimizer step, without the ring factor;
`ring_seconds` and `gather_seconds` apply (n-1)/n once, where time is computed, and `wire_bytes` shows it.
Element size is 2 B (BF16/FP16) unless stated.
"""

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]

BF16_BYTES = 2.0
FP8_BYTES = 1.0


def _array(value: Number) -> Array:
    return np.asarray(value, dtype=float)


def ring_factor(size: Number, passes: Number = 2.0) -> Array:
    """Share of the buffer a rank sends in a ring collective: passes * (n-1)/n [1].

    All-reduce makes 2 passes, all-gather, reduce-scatter and all-to-all 1.
    Source: Patarasuk & Yuan 2009 (bandwidth-optimal all-reduce); NCCL tests' busbw = algbw * 2(n-1)/n.

    >>> float(ring_factor(8)), float(ring_factor(8, passes=1)), float(ring_factor(1))
    (1.75, 0.875, 0.0)
    """
    n = _array(size)
    return np.asarray(_array(passes) * (n - 1.0) / n)


def collective_seconds(
    buffer: Number, size: Number, bandwidth: Number, passes: Number = 2.0, latency: Number = 0.0
) -> Array:
    """Time of a ring collective [s]: passes * (n-1)/n * buffer / bandwidth + passes * (n-1) * latency.

    Parameters: buffer [B] (the full tensor), size [ranks], bandwidth [B/s] (per rank, one direction), passes [1],
    latency [s] per hop. Returns: seconds, 0 for one rank.

    >>> round(float(collective_seconds(1e9, 8, 450e9)) * 1e3, 3)  # ms, 1 GB all-reduce on eight H100
    3.889
    """
    n, p = _array(size), _array(passes)
    seconds = ring_factor(n, p) * _array(buffer) / _array(bandwidth) + p * (n - 1.0) * _array(latency)
    return np.where(n <= 1, 0.0, seconds)


def tensor_operand_bytes(micro_batch: Number, seq_len: Number, hidden: Number, cp: Number = 1.0) -> Array:
    """One tensor-parallel operand: the activations of a micro-batch, 2 b s h / c [B].

    Source: Shoeybi et al. 2019 (arXiv:1909.08053), sec. 3; check: GPT-3 175B, b=1, s=2048 gives 50,331,648 B.

    >>> int(tensor_operand_bytes(1, 2048, 12288))
    50331648
    """
    return np.asarray(BF16_BYTES * _array(micro_batch) * _array(seq_len) * _array(hidden) / _array(cp))


def tensor_bytes(
    operand: Number, layers: Number, micro_batches: Number, tp: Number, recompute_forwards: Number = 0.0
) -> Array:
    """All-reduce buffers of tensor parallelism per rank and step [B], ring factor not applied.

    Each layer all-reduces one operand after attention and one after the MLP, forward and backward: 4 per layer and
    micro-batch. Sequence parallelism splits each into a reduce-scatter and an all-gather of the same volume. A
    recomputed forward repeats its two.

    Parameters: operand [B], layers [1] (of the rank's stage), micro_batches [1], tp [1], recompute_forwards [1].
    Source: Shoeybi et al. 2019, fig. 4; Korthikanti et al. 2022 (arXiv:2205.05198), sec. 4.2.2.

    >>> int(tensor_bytes(50331648, layers=12, micro_batches=1, tp=8)) // 50331648
    48
    """
    count = _array(layers) * (4.0 + 2.0 * _array(recompute_forwards)) * _array(micro_batches)
    return np.where(_array(tp) > 1, count * _array(operand), 0.0)


def pipeline_boundary_bytes(
    micro_batch: Number, seq_len: Number, hidden: Number, tp: Number = 1.0, cp: Number = 1.0
) -> Array:
    """Activations that cross one stage boundary per micro-batch and direction, 2 b s h / (t c) [B].

    Source: Narayanan et al. 2021 (arXiv:2104.04473), sec. 4.1 (scatter/gather); check: 175B with TP 8, 6,291,456 B.

    >>> int(pipeline_boundary_bytes(1, 2048, 12288, tp=8))
    6291456
    """
    return np.asarray(tensor_operand_bytes(micro_batch, seq_len, hidden, cp) / _array(tp))


def pipeline_bytes(boundary: Number, micro_batches: Number, pp: Number, vpp: Number = 1.0) -> Array:
    """Bytes a middle stage sends per step: forward and backward, every micro-batch and virtual stage [B].

    Source: Narayanan et al. 2021, sec. 2.2.2: interleaving multiplies the traffic by v.

    >>> int(pipeline_bytes(6291456, micro_batches=64, pp=8, vpp=3)) // 6291456
    384
    """
    return np.where(_array(pp) > 1, 2.0 * _array(boundary) * _array(micro_batches) * _array(vpp), 0.0)


def data_passes(zero_stage: Number) -> Array:
    """One-way passes over the gradient-sized buffer per step [1].

    ZeRO 0 all-reduces gradients (2 passes), ZeRO 1 and 2 reduce-scatter gradients and all-gather parameters (2),
    ZeRO 3 gathers parameters forward and backward and reduce-scatters gradients (3).
    Source: Rajbhandari et al. 2019 (arXiv:1910.02054), sec. 7.

    >>> data_passes(np.array([0.0, 1.0, 2.0, 3.0])).tolist()
    [2.0, 2.0, 2.0, 3.0]
    """
    return np.where(_array(zero_stage) >= 3, 3.0, 2.0)


def data_bytes(
    parameters: Number, zero_stage: Number, gradient_bytes: Number = BF16_BYTES, gathers: Number = 1.0
) -> dict[str, Array]:
    """Buffers of data parallelism per rank and step, by collective [B], ring factor not applied.

    Parameters: parameters [1] (held by the rank before data-parallel sharding), zero_stage [0-3], gradient_bytes [B],
    gathers [1] (times per step that ZeRO 3 gathers and scatters: micro-batches when gradients do not accumulate
    unsharded).
    Returns: reduce (all-reduce under ZeRO 0, reduce-scatter above), gather (parameters).

    >>> {k: float(v) for k, v in data_bytes(1e9, zero_stage=3).items()}
    {'reduce': 2000000000.0, 'gather': 4000000000.0}
    """
    p, z, times = _array(parameters), _array(zero_stage), np.where(_array(zero_stage) >= 3, _array(gathers), 1.0)
    reduce = p * _array(gradient_bytes) * np.where(z < 1, 2.0, 1.0) * times
    gather = BF16_BYTES * p * np.where(z < 1, 0.0, np.where(z >= 3, 2.0, 1.0)) * times
    return {"reduce": reduce, "gather": gather}


def context_bytes(
    micro_batch: Number, seq_len: Number, kv_width: Number, layers: Number, micro_batches: Number, cp: Number
) -> Array:
    """Keys and values exchanged for context parallelism per rank and step [B], ring factor not applied.

    Forward every rank sees all keys and values once; backward they travel again together with their gradients, twice
    the forward volume.

    Parameters: kv_width [elements] (keys plus values of one token on one rank, 2 g d / t), layers [1], cp [1].
    Source: Liu et al. 2023 (arXiv:2310.01889), sec. 3; Llama 3 (arXiv:2407.21783), sec. 3.3.2 (all-gather variant).

    >>> float(context_bytes(1, 8192, 256, layers=1, micro_batches=1, cp=2)) == 3 * 2 * 8192 * 256
    True
    """
    one = BF16_BYTES * _array(micro_batch) * _array(seq_len) * _array(kv_width)
    return np.where(_array(cp) > 1, 3.0 * one * _array(layers) * _array(micro_batches), 0.0)


def expert_token_bytes(
    experts_per_token: Number, hidden: Number, dispatch_bytes: Number = BF16_BYTES, combine_bytes: Number = BF16_BYTES
) -> dict[str, Array]:
    """Bytes that leave one token's rank per MoE layer and direction, before (ep-1)/ep and node limits [B].

    Source: DeepSeek-V3 (arXiv:2412.19437), sec. 3.3: FP8 dispatch 57,344 B and BF16 combine 114,688 B per token.

    >>> {k: int(v) for k, v in expert_token_bytes(8, 7168, dispatch_bytes=1.0).items()}
    {'dispatch': 57344, 'combine': 114688}
    """
    copies = _array(experts_per_token) * _array(hidden)
    return {"dispatch": copies * _array(dispatch_bytes), "combine": copies * _array(combine_bytes)}


def expert_bytes(
    tokens: Number, token_bytes: dict[str, Array], moe_layers: Number, ep: Number, recompute_forwards: Number = 0.0
) -> Array:
    """All-to-all traffic per rank for `tokens` tokens through `moe_layers` layers, (ep-1)/ep applied [B].

    Forward dispatches and combines once; backward sends the same two the other way in BF16.

    Parameters: tokens [1] (of this rank), token_bytes [B] as from expert_token_bytes, ep [1].

    >>> one = expert_token_bytes(8, 7168, dispatch_bytes=1.0)
    >>> float(expert_bytes(1, one, 1, ep=64)) / (63 / 64) == 57344 + 114688 + 2 * 114688
    True
    """
    forward = token_bytes["dispatch"] + token_bytes["combine"]
    once = forward * (1.0 + _array(recompute_forwards)) + 2.0 * token_bytes["combine"]
    return np.asarray(ring_factor(ep, passes=1.0) * _array(tokens) * _array(moe_layers) * once)


def exposed_seconds(seconds: Number, window: Number, exposed_share: Number) -> Array:
    """Part of a communication that compute cannot hide [s].

    A share of it is exposed in any case (first and last bucket, contention for SMs and HBM); the rest hides in the
    compute window and what exceeds the window is exposed too.

    >>> float(exposed_seconds(2.0, window=10.0, exposed_share=0.25)), float(exposed_seconds(8.0, 3.0, 0.25))
    (0.5, 5.0)
    """
    t, w, share = _array(seconds), _array(window), _array(exposed_share)
    return np.asarray(share * t + np.maximum((1.0 - share) * t - w, 0.0))
