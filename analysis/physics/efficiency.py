"""Constants of the time formulas, one dataclass a subject; values and sources stand in data/calibration/<subject>.yaml.

A field is a number, or an array with one value per row where software stacks differ.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

Values = float | npt.NDArray[np.float64]


@dataclass(frozen=True)
class Attention:
    """Attention kernels.

    Attributes
    ----------
    unfused_share
        Rate of the batched products of an unfused core over that of large products [1].
    half_length
        Sequence length at which a fused kernel reaches half of its speed on long ones [tokens].
    alignment_share
        Speed kept per halving of the head width's alignment below 64 elements [1].
    softmax_bytes
        HBM traffic of an unfused softmax, forward and backward [B per score].
    exponential_share
        Part of a fused kernel's time at a width of 128 that does not shrink with the width [1].
    """

    unfused_share: Values
    half_length: Values
    alignment_share: Values
    softmax_bytes: Values
    exponential_share: Values


@dataclass(frozen=True)
class Elementwise:
    """Work bound by memory bandwidth.

    Attributes
    ----------
    passes
        Bytes really moved over the counted ones [1].
    unfused_stack
        The same again in stacks without fused attention [1].
    compiled
        Bytes moved over the counted ones where the whole step is compiled [1].
    loss_bytes
        HBM traffic of the loss, forward and backward [B per token and vocabulary entry].
    optimizer_bytes
        HBM traffic of Adam [B per parameter].
    optimizer_hbm_share
        Share of the HBM bandwidth that the optimizer's kernels reach [1].
    """

    passes: Values
    unfused_stack: Values
    compiled: Values
    loss_bytes: Values
    optimizer_bytes: Values
    optimizer_hbm_share: Values


@dataclass(frozen=True)
class Experts:
    """Mixture-of-experts layers.

    Attributes
    ----------
    grouped_gemm
        Rate of the experts' grouped products over that of one large product [1].
    layer_seconds
        Fixed cost of a layer and micro-batch [s].
    expert_seconds
        Fixed cost of each local expert [s].
    """

    grouped_gemm: Values
    layer_seconds: Values
    expert_seconds: Values


@dataclass(frozen=True)
class Overlap:
    """Share of each collective that stands alone [1], and the compute that the rest can hide behind.

    Attributes
    ----------
    tp, tp_all_reduce
        Tensor-parallel collectives with sequence parallelism, and without.
    cp, ep, pp, dp, fsdp
        The other dimensions; `dp` for ZeRO 0 to 2, `fsdp` for ZeRO 3.
    ep_dualpipe
        The experts' exchange under DualPipe.
    compiled
        Every dimension where the whole step is compiled.
    window_dp
        Compute that gradients can hide behind [micro-batches].
    window_fsdp
        Share of all compute that gathers and scatters of ZeRO 3 can hide behind [1].
    dualpipe_sending_share
        Share of the multiprocessors that DualPipe gives to communication [1].
    """

    tp: Values
    tp_all_reduce: Values
    cp: Values
    ep: Values
    ep_dualpipe: Values
    pp: Values
    dp: Values
    fsdp: Values
    compiled: Values
    window_dp: Values
    window_fsdp: Values
    dualpipe_sending_share: Values


@dataclass(frozen=True)
class Links:
    """What collectives reach of a link's data-sheet rate.

    Attributes
    ----------
    scale_up_share, scale_out_share
        Share of the link's rate [1].
    hop_up, hop_out
        Time of one step of a ring with nothing to send, inside a domain and between domains [s].
    test_bytes
        Message of an all-gather test whose bandwidth a row states [B].
    test_share
        Share of the scale-up rate that this test reaches inside one domain [1].
    """

    scale_up_share: Values
    scale_out_share: Values
    hop_up: Values
    hop_out: Values
    test_bytes: Values
    test_share: Values


@dataclass(frozen=True)
class Host:
    """What the host and the size of the machine cost.

    Attributes
    ----------
    layer_seconds, moe_layer_seconds
        Time to issue the kernels of one layer of one micro-batch, forward and backward [s].
    step_seconds
        Fixed cost of an optimizer step [s].
    scale_loss
        Share of the step lost per doubling of the accelerators above one host [1].
    """

    layer_seconds: Values
    moe_layer_seconds: Values
    step_seconds: Values
    scale_loss: Values


@dataclass(frozen=True)
class Recompute:
    """Shares of the work that partial recomputation repeats.

    Attributes
    ----------
    up_projection_share
        Part of latent attention's projections that its up projections make [1].
    operator_share
        Part of the matrix products that operator-level checkpointing repeats [1].
    light_share
        Part of the memory-bound work that norms and activations make [1].
    unpacked_bytes
        Bytes that a pass over weights in four bits moves to unpack them [B per parameter].
    kept_slack
        Lean memory estimate over the card from which a silent row is taken as recomputing everything [1].
    """

    up_projection_share: Values
    operator_share: Values
    light_share: Values
    unpacked_bytes: Values
    kept_slack: Values


@dataclass(frozen=True)
class Efficiency:
    """All constants of a step's time but those that belong to one kind of accelerator."""

    attention: Attention
    elementwise: Elementwise
    experts: Experts
    overlap: Overlap
    links: Links
    host: Host
    recompute: Recompute
