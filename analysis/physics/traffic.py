"""What one accelerator sends per optimizer step along each parallel dimension, and over which links."""

from __future__ import annotations

import numpy as np

from analysis.physics import communication as comm
from analysis.physics import exchange
from analysis.physics import links as topo
from analysis.physics.architecture import Architecture
from analysis.physics.work import Array, Chip, Constants, Parts, Work

DIMENSIONS = ("tp", "cp", "ep", "pp", "dp")


def sent_bytes(arch: Architecture, lay: Work) -> Parts:
    """Bytes that one accelerator of the fullest stage sends per step, by dimension [B].

    tp: 2(t-1)/t of four operands per layer and micro-batch; cp: keys and values once forward, twice backward; ep:
    dispatch and combine, forward and backward; pp: one boundary each way; dp: the collectives of the ZeRO stage. See
    `communication` for the formula and source of each.
    """
    depth, count = lay.layers_max, lay.micro_batches
    operand = comm.tensor_operand_bytes(lay.micro_batch, lay.seq_len, arch.hidden, lay.cp)
    tensor = comm.tensor_bytes(operand, depth, count, lay.tp, lay.recompute_layer)
    width = 2.0 * arch.kv_heads * arch.head_dim / np.minimum(lay.tp, arch.kv_heads)
    context = comm.context_bytes(lay.micro_batch, lay.seq_len, width, depth, count, lay.cp)
    moe_depth = depth * arch.moe_layers / arch.layers
    token = comm.expert_token_bytes(arch.experts_per_token, arch.hidden)
    expert = comm.expert_bytes(lay.tokens / lay.tp * count, token, moe_depth, lay.ep, lay.recompute_layer)
    boundary = comm.pipeline_boundary_bytes(lay.micro_batch, lay.seq_len, arch.hidden, lay.tp, lay.cp)
    return {
        "tp": comm.ring_factor(lay.tp) * tensor,
        "cp": comm.ring_factor(lay.cp, 1.0) * context,
        "ep": np.where(arch.experts > 0, expert, 0.0),
        "pp": comm.pipeline_bytes(boundary, count, lay.pp, lay.vpp),
        "dp": _data_bytes(arch, lay),
    }


def _data_bytes(arch: Architecture, lay: Work) -> Array:
    dense, routed = exchange.held_parameters(arch, lay)
    total = np.zeros(())
    for held, size in ((dense, lay.dp * lay.cp), (routed, lay.expert_replicas)):
        volume = comm.data_bytes(held, lay.zero_stage, gathers=lay.micro_batches)
        total = total + comm.ring_factor(size, 1.0) * (volume["reduce"] + volume["gather"])
    return np.asarray(total)


def link_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Parts:
    """Seconds of a step that the links of each dimension are busy if nothing were hidden [s]."""
    count, depth = lay.micro_batches, lay.layers_max
    moe_depth = depth * arch.moe_layers / arch.layers
    again = 1.0 + lay.recompute_layer / 2.0
    seconds = {
        "tp": exchange.tensor_seconds(arch, lay, chip, k).total * again * depth,
        "cp": exchange.context_seconds(arch, lay, chip, k).total * depth,
        "ep": exchange.expert_seconds(arch, lay, chip, k).total * again * moe_depth,
        "pp": exchange.boundary_seconds(arch, lay, chip, k),
    }
    by_step = {name: np.asarray(value * count) for name, value in seconds.items()}
    return by_step | {"dp": exchange.data_seconds(arch, lay, chip, k)}


def placement(lay: Work, domain: Array) -> dict[str, Array]:
    """Per dimension, whether its group stays inside one scale-up domain (1) or leaves it (0); NaN without a group."""
    stride = topo.rank_strides(lay.tp, lay.cp, lay.dp, lay.etp)
    groups = {
        "tp": (lay.tp, stride["tp"]),
        "cp": (lay.cp, stride["cp"]),
        "ep": (lay.ep, stride["ep"]),
        "pp": (np.minimum(lay.pp, 2.0), stride["pp"]),
        "dp": (lay.dp * lay.cp, lay.tp),
    }
    return {
        name: np.where(size > 1, topo.inside_domain(size, step, domain).astype(float), np.nan)
        for name, (size, step) in groups.items()
    }
