"""Compute of one layer and of the output head for one micro-batch: products, attention core, memory-bound work."""

import numpy as np

from analysis.physics import attention, elementwise, gemm
from analysis.physics.architecture import Architecture
from analysis.physics.work import Array, Chip, Constants, Passes, Work


def _products(work: gemm.Products, rate: Array, chip: Chip, lay: Work, element_bytes: Array | float) -> Passes:
    once = gemm.product_seconds(work, rate, chip.hbm_bandwidth, element_bytes, lay.compiled)
    return Passes(once, 2.0 * once, once)


def _memory_bound(byte_count: Array, lay: Work, chip: Chip, k: Constants) -> Passes:
    eager = k["elementwise.passes"] * np.where(lay.kernel == attention.UNFUSED, k["elementwise.unfused_stack"], 1.0)
    factor = np.where(lay.compiled > 0, k["elementwise.compiled"], eager)
    forward = byte_count * factor / chip.hbm_bandwidth
    return Passes(forward, elementwise.BACKWARD_PASSES * forward, np.zeros_like(forward))


def linear_layer(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> dict[str, Passes]:
    """Matrix products of a layer: attention projections, dense MLP, and the two kinds of experts of an MoE layer."""
    size = gemm.pass_bytes(lay.linear_bytes)
    grouped = chip.linear_rate * k["moe.grouped_gemm"]
    originating = lay.tokens / lay.tp
    return {
        "projections": _products(gemm.attention_products(arch, lay.tokens, lay.tp), chip.linear_rate, chip, lay, size),
        "dense": _products(gemm.dense_products(arch, lay.tokens, lay.tp), chip.linear_rate, chip, lay, size),
        "routed": _products(gemm.routed_products(arch, originating, lay.ep, lay.etp), grouped, chip, lay, size),
        "shared": _products(gemm.shared_products(arch, lay.tokens, lay.tp), chip.linear_rate, chip, lay, size),
    }


def core_layer(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Passes:
    """Attention core of one layer, by kernel class."""
    flop = [
        attention.core_flop(arch, lay.micro_batch, lay.seq_len, lay.tp, lay.cp, causal=causal)
        for causal in (True, False)
    ]
    width = (arch.qk_dim + arch.v_dim) / 2.0
    share = attention.block_share(lay.seq_len, k["attention.half_length"]) * attention.head_dim_share(width)
    rate = np.where(lay.kernel == attention.FLASH_BIAS, chip.biased_core_rate, chip.core_rate)
    fused = attention.fused_seconds(flop[0], rate * share)
    batched = chip.head_rate * k["attention.unfused_share"]
    batched = batched * attention.alignment_share(width, k["attention.alignment_share"])
    scores = lay.micro_batch * arch.heads * lay.seq_len**2 / (lay.tp * lay.cp)
    plain = attention.unfused_seconds(flop[1], scores, batched, chip.hbm_bandwidth, k["attention.softmax_bytes"])
    unfused = lay.kernel == attention.UNFUSED
    forward, backward = (np.where(unfused, a, b) for a, b in zip(plain, fused, strict=True))
    return Passes(forward, backward, np.zeros_like(forward))


def memory_layer(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> dict[str, Passes]:
    """Memory-bound work of one layer: shared by all layers, and of dense and MoE blocks."""
    split = np.where(lay.sequence_parallel > 0, lay.tp, 1.0)
    residual = elementwise.residual_bytes(arch, lay.tokens) / split
    common = residual + elementwise.attention_bytes(arch, lay.tokens) / lay.tp
    casts = lay.quantised * elementwise.cast_bytes(arch, lay.tokens) / lay.tp / (1.0 + elementwise.BACKWARD_PASSES)
    return {
        "common": _memory_bound(common + casts, lay, chip, k),
        "dense": _memory_bound(elementwise.dense_mlp_bytes(arch, lay.tokens) / lay.tp, lay, chip, k),
        "moe": _memory_bound(elementwise.moe_mlp_bytes(arch, lay.tokens) / lay.tp, lay, chip, k),
    }


def head_passes(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> tuple[Passes, Passes]:
    """Output head of the last stage: (matrix products, cross-entropy traffic)."""
    heads = 1.0 + arch.mtp_layers
    products = _products(gemm.head_products(arch, lay.tokens, lay.tp), chip.head_rate, chip, lay, 2.0).times(heads)
    seconds = heads * k["head.loss_bytes"] * lay.tokens * arch.vocab / lay.tp / chip.hbm_bandwidth
    return products, Passes(seconds / 2.0, seconds / 2.0, np.zeros_like(seconds))
