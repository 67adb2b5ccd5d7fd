"""Compute of one layer and of the output head for one micro-batch: products, attention core, memory-bound work."""

from __future__ import annotations

import numpy as np

from analysis.physics import attention, elementwise, gemm
from analysis.physics.architecture import Architecture
from analysis.physics.efficiency import Attention, Elementwise, Experts
from analysis.physics.parameters import whole_model
from analysis.physics.work import Array, Chip, Passes, Work


def _products(work: Work, chip: Chip, products: gemm.Products, rate: Array, element_bytes: Array | float) -> Passes:
    """Forward, and backward for inputs and weights; a frozen base has no gradients of weights."""
    once = gemm.product_seconds(products, rate, chip.hbm_bandwidth, element_bytes, work.compiled)
    weights = np.where(work.trained < 1, 0.0, once)
    return Passes(once, once + weights, weights)


def _memory_bound(byte_count: Array, work: Work, chip: Chip, k: Elementwise) -> Passes:
    eager = k.passes * np.where(work.kernel == attention.UNFUSED, k.unfused_stack, 1.0)
    factor = np.where(work.compiled > 0, k.compiled, eager)
    forward = byte_count * factor / chip.hbm_bandwidth
    return Passes(forward, elementwise.BACKWARD_PASSES * forward, np.zeros_like(forward))


def linear_layer(arch: Architecture, work: Work, chip: Chip, k: Experts) -> dict[str, Passes]:
    """Matrix products of a layer and micro-batch.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants of expert layers.

    Returns
    -------
    dict
        projections (of attention), dense (MLP), routed and shared (experts) [s].
    """
    size = gemm.pass_bytes(work.linear_bytes)
    rate = chip.linear_rate
    return {
        "projections": _products(work, chip, gemm.attention_products(arch, work.tokens, work.tp), rate, size),
        "dense": _products(work, chip, gemm.dense_products(arch, work.tokens, work.tp), rate, size),
        "routed": _products(
            work,
            chip,
            gemm.routed_products(arch, work.tokens / work.tp, work.ep, work.etp),
            rate * k.grouped_gemm,
            size,
        ),
        "shared": _products(work, chip, gemm.shared_products(arch, work.tokens, work.tp), rate, size),
    }


def core_layer(arch: Architecture, work: Work, chip: Chip, k: Attention) -> Passes:
    """Attention core of one layer and micro-batch, by kernel class.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants of attention kernels.

    Returns
    -------
    Passes
        Forward and backward [s].
    """
    causal, full = (
        attention.core_flop(arch, work.micro_batch, work.seq_len, work.tp, work.cp, causal=kind)
        for kind in (True, False)
    )
    width = (arch.qk_dim + arch.v_dim) / 2.0
    share = attention.block_share(work.seq_len, k.half_length)
    share = share * attention.head_dim_share(width, k.exponential_share)
    rate = np.where(work.kernel == attention.FLASH_BIAS, chip.biased_core_rate, chip.core_rate)
    fused = attention.fused_seconds(causal, rate * share)
    batched = chip.head_rate * k.unfused_share * attention.alignment_share(width, k.alignment_share)
    scores = work.micro_batch * arch.heads * work.seq_len**2 / (work.tp * work.cp)
    plain = attention.unfused_seconds(full, scores, batched, chip.hbm_bandwidth, k.softmax_bytes)
    unfused = work.kernel == attention.UNFUSED
    forward, backward = (np.where(unfused, a, b) for a, b in zip(plain, fused, strict=True))
    return Passes(forward, backward, np.zeros_like(forward))


def memory_layer(arch: Architecture, work: Work, chip: Chip, k: Elementwise) -> dict[str, Passes]:
    """Memory-bound work of one layer and micro-batch.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants of memory-bound work.

    Returns
    -------
    dict
        common (all layers), dense and moe (their blocks), unpack (weights kept in four bits) [s].
    """
    split = np.where(work.sequence_parallel > 0, work.tp, 1.0)
    wide = work.element_bytes / 2.0
    residual = elementwise.residual_bytes(arch, work.tokens) / split
    common = residual + elementwise.attention_bytes(arch, work.tokens) / work.tp
    casts = work.quantised * elementwise.cast_bytes(arch, work.tokens) / work.tp / (1.0 + elementwise.BACKWARD_PASSES)
    return {
        "common": _memory_bound(wide * common + casts, work, chip, k),
        "dense": _memory_bound(wide * elementwise.dense_mlp_bytes(arch, work.tokens) / work.tp, work, chip, k),
        "moe": _memory_bound(wide * elementwise.moe_mlp_bytes(arch, work.tokens) / work.tp, work, chip, k),
        "unpack": _unpacked(arch, work, chip),
    }


def _unpacked(arch: Architecture, work: Work, chip: Chip) -> Passes:
    """Unpacking the weights of a mean layer, in the forward and again in the backward pass."""
    weights = whole_model(arch).total / arch.layers / work.tp
    once = np.where(work.unpacked_bytes > 0, work.unpacked_bytes * weights / chip.hbm_bandwidth, 0.0)
    return Passes(once, once, np.zeros_like(once))


def head_passes(arch: Architecture, work: Work, chip: Chip, k: Elementwise) -> tuple[Passes, Passes]:
    """Output head of the last stage for one micro-batch.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants of memory-bound work.

    Returns
    -------
    tuple
        Matrix products, and the traffic of the cross-entropy [s].
    """
    heads = 1.0 + arch.mtp_layers
    head = gemm.head_products(arch, work.tokens, work.tp)
    products = _products(work, chip, head, chip.head_rate, 2.0).times(heads)
    seconds = heads * k.loss_bytes * work.tokens * arch.vocab / work.tp / chip.hbm_bandwidth
    return products, Passes(seconds / 2.0, seconds / 2.0, np.zeros_like(seconds))
