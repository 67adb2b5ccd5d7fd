"""What a rank sends along each parallel dimension: the collectives of a layer, a stage boundary and a step.

Elements are 2 B (BF16 or FP16) unless the layout says 4 (FP32).
"""

from __future__ import annotations

import numpy as np

from analysis.physics import pipeline
from analysis.physics.architecture import Architecture
from analysis.physics.collectives import Exchange, Transfer, all_to_all, over_links, ring
from analysis.physics.links import Array, Network, Number, inside_domain, over_host, rank_strides
from analysis.physics.states import Pair, rank_pieces, stage_on_rank
from analysis.physics.work import Work
from schemas.axes import WITH_TRAFFIC

DIMENSIONS = WITH_TRAFFIC
BF16_BYTES = 2.0


def operand_bytes(
    micro_batch: Number, seq_len: Number, hidden: Number, cp: Number = 1.0, element: Number = BF16_BYTES
) -> Array:
    """Activations of a micro-batch on one context rank, 2 b s h / c [B]; twice that in FP32.

    Shoeybi et al. 2019 (arXiv:1909.08053), sec. 3; GPT-3 175B with b = 1 and s = 2048: 50,331,648 B.

    >>> int(operand_bytes(1, 2048, 12288))
    50331648
    """
    return np.asarray(element * np.asarray(micro_batch, dtype=float) * seq_len * hidden / cp)


def tensor(arch: Architecture, work: Work, network: Network) -> Exchange:
    """Tensor parallelism of one layer: an all-reduce after attention and one after the MLP, in each pass.

    Sequence parallelism splits each into a reduce-scatter and an all-gather of the same volume, and gathers the two
    inputs of the weight gradients again beside other work: they cost steps, not time (Shoeybi et al. 2019, fig. 4;
    Korthikanti et al. 2022, arXiv:2205.05198, sec. 4.2.2).

    Parameters
    ----------
    arch, work, network
        Model, layout and links of each row.

    Returns
    -------
    Exchange
        Per layer and micro-batch.
    """
    operand = operand_bytes(work.micro_batch, work.seq_len, arch.hidden, work.cp, work.element_bytes)
    once = ring(operand, work.tp, np.ones_like(work.tp), network, passes=2.0)
    again = ring(0.0 * operand, work.tp, np.ones_like(work.tp), network)
    both = once.times(2.0)
    return Exchange(both, both.plus(again.times(np.where(work.sequence_parallel > 0, 2.0, 0.0))))


def context(arch: Architecture, work: Work, network: Network) -> Exchange:
    """Context parallelism of one layer: keys and values once forward, and twice backward with their gradients.

    Latent attention exchanges keys and values after its up projections, all heads of them.

    Parameters
    ----------
    arch, work, network
        Model, layout and links of each row.

    Returns
    -------
    Exchange
        Per layer and micro-batch.

    Notes
    -----
    Liu et al. 2023 (arXiv:2310.01889), sec. 3; Llama 3 (arXiv:2407.21783), sec. 3.3.2 (all-gather variant).
    """
    latent = arch.heads * (arch.qk_dim + arch.v_dim)
    width = np.where(arch.mla > 0, latent, 2.0 * arch.kv_heads * arch.head_dim) / np.minimum(work.tp, arch.kv_heads)
    keys = operand_bytes(work.micro_batch, work.seq_len, width, element=work.element_bytes)
    one = ring(keys, work.cp, work.tp, network)
    return Exchange(one, one.times(2.0))


def experts(arch: Architecture, work: Work, network: Network) -> Exchange:
    """Expert parallelism of one MoE layer: dispatch and combine, and the same two backward.

    Parameters
    ----------
    arch, work, network
        Model, layout and links of each row.

    Returns
    -------
    Exchange
        Per MoE layer and micro-batch; nothing for dense models.
    """
    row = work.element_bytes * arch.hidden * work.tokens / work.tp
    one = all_to_all(row, arch.experts_per_token, work.ep, work.etp, network)
    both = one.times(np.where((work.ep > 1) & (arch.experts > 0), 2.0, 0.0))
    return Exchange(both, both)


def boundary(arch: Architecture, work: Work, network: Network) -> Transfer:
    """Pipeline parallelism: a micro-batch over one stage boundary in both directions, all virtual stages.

    Narayanan et al. 2021 (arXiv:2104.04473), sec. 2.2.2 (interleaving multiplies the traffic by v) and 4.1
    (scatter/gather: 2 b s h / t each).

    Parameters
    ----------
    arch, work, network
        Model, layout and links of each row.

    Returns
    -------
    Transfer
        Per micro-batch; nothing for one stage.
    """
    one = operand_bytes(work.micro_batch, work.seq_len, arch.hidden, work.cp, work.element_bytes) / work.tp
    sent = np.where(work.pp > 1, 2.0 * one * work.vpp, 0.0)
    stride = work.tp * work.cp * work.dp
    on_host = over_host(2.0, stride, network)
    near = inside_domain(2.0, stride, network.domain) | on_host
    inside = np.where(on_host, network.host_link, network.scale_up)
    steps = np.where(work.pp > 1, 2.0 * work.vpp, 0.0)
    return over_links(np.where(near, sent, 0.0), np.where(near, 0.0, sent), inside, network.scale_out, steps, network)


def data_buffers(
    parameters: Number, zero_stage: Number, gathers: Number = 1.0, trained: Number = 1.0, element: Number = BF16_BYTES
) -> Array:
    """One-way buffers of data parallelism per step [B].

    ZeRO 0 all-reduces gradients, ZeRO 1 and 2 reduce-scatter gradients and all-gather weights: two passes over 2 B a
    parameter. ZeRO 3 gathers weights in both passes and scatters gradients, in every micro-batch: three.

    Parameters
    ----------
    parameters
        Parameters of the rank before data-parallel sharding.
    zero_stage
        0 to 3.
    gathers
        Times per step that ZeRO 3 gathers and scatters.
    trained
        Share of the parameters that have gradients; ZeRO 3 gathers the others too [1].
    element
        Width of weights and gradients on the links [B].

    Returns
    -------
    ndarray
        Bytes; a ring sends (n - 1)/n of them.

    Notes
    -----
    Rajbhandari et al. 2019 (arXiv:1910.02054), sec. 7.

    Examples
    --------
    >>> (data_buffers(1e9, np.array([0.0, 1.0, 2.0, 3.0])) / 1e9).tolist()
    [4.0, 4.0, 4.0, 6.0]
    """
    sharded = (2.0 + np.asarray(trained)) * np.asarray(gathers, dtype=float)
    passes = np.where(np.asarray(zero_stage) >= 3, sharded, 2.0 * np.asarray(trained))
    return np.asarray(element * np.asarray(parameters, dtype=float) * passes)


def largest_stage(arch: Architecture, work: Work) -> Pair:
    """Parameters of the stage that has most, on one rank before sharding: (all but routed experts, routed experts).

    The ends carry embedding and head, the stages between them more layers.
    """
    pieces = rank_pieces(arch, work)
    end = work.layers_last - arch.mtp_layers
    stages = (
        (np.zeros_like(work.pp), work.layers_first),
        (np.minimum(1.0, work.pp - 1.0), np.where(work.pp > 2, work.layers_max, end)),
        (work.pp - 1.0, end),
    )
    dense, routed = np.zeros(()), np.zeros(())
    for stage, layers in stages:
        more_dense, more_routed = stage_on_rank(pieces, pipeline.whole_stage(arch, work, stage, layers))
        more = more_dense + more_routed > dense + routed
        dense, routed = np.where(more, more_dense, dense), np.where(more, more_routed, routed)
    return np.asarray(dense), np.asarray(routed)


def data(held: Pair, work: Work, network: Network) -> Transfer:
    """Data parallelism: gradients and weights of one step, experts over their own replicas.

    A hybrid shard gathers within `shard_ranks` ranks and all-reduces the shards' gradients across them once a step.

    Parameters
    ----------
    held
        Parameters on the rank, as `largest_stage` gives.
    work, network
        Layout and links of each row.

    Returns
    -------
    Transfer
        Per step.
    """
    dense, routed = (
        data_buffers(p, work.zero_stage, work.micro_batches, work.trained, work.element_bytes) for p in held
    )
    ranks = work.dp * work.cp
    inner = ring(dense, work.replicas, work.tp, network)
    of_experts = ring(routed, work.expert_replicas, work.ep * work.etp, network)
    shard = work.element_bytes * work.trained * held[0] / work.replicas
    across = ring(shard, ranks / work.replicas, work.tp * work.replicas, network, passes=2.0)
    return inner.plus(of_experts).plus(across)


def updated_parameters(held: Pair, work: Work) -> Array:
    """Parameters whose optimizer state one rank holds and updates: those it stores [1]."""
    sharded = work.zero_stage >= 1
    over, experts_over = (np.where(sharded, ranks, 1.0) for ranks in (work.replicas, work.expert_replicas))
    return np.asarray(work.trained * (held[0] / over + held[1] / experts_over))


def of_step(arch: Architecture, work: Work, network: Network) -> dict[str, Transfer]:
    """What one rank of the fullest stage sends per optimizer step along each dimension, nothing counted as hidden.

    Parameters
    ----------
    arch, work, network
        Model, layout and links of each row.

    Returns
    -------
    dict
        One transfer per name of `DIMENSIONS`.
    """
    layers = work.layers_max * work.micro_batches
    moe = layers * arch.moe_layers / arch.layers
    again = work.recompute_layer
    return {
        "tp": tensor(arch, work, network).with_recompute(again).times(layers),
        "ep": experts(arch, work, network).with_recompute(again).times(moe),
        "cp": context(arch, work, network).with_recompute(again).times(layers),
        "pp": boundary(arch, work, network).times(work.micro_batches),
        "dp": data(largest_stage(arch, work), work, network),
    }


def placement(work: Work, domain: Array) -> dict[str, Array]:
    """Per dimension, whether its group stays inside one scale-up domain (1) or leaves it (0); NaN without a group."""
    stride = rank_strides(work.tp, work.cp, work.dp, work.etp)
    groups = {
        "tp": (work.tp, stride["tp"]),
        "ep": (work.ep, stride["ep"]),
        "cp": (work.cp, stride["cp"]),
        "pp": (np.minimum(work.pp, 2.0), stride["pp"]),
        "dp": (work.dp * work.cp, work.tp),
    }
    return {
        name: np.where(size > 1, inside_domain(size, step, domain).astype(float), np.nan)
        for name, (size, step) in groups.items()
    }
