"""Seconds that the links need for each parallel dimension, per layer or per micro-batch, before any overlap."""

import numpy as np

from analysis.physics import communication as comm
from analysis.physics import links as topo
from analysis.physics.architecture import Architecture
from analysis.physics.parameters import whole_model
from analysis.physics.work import Array, Chip, Constants, Passes, Work


def _link(size: Array, stride: Array, chip: Chip, k: Constants) -> Array:
    """Usable ring bandwidth of a group [B/s]."""
    share = topo.fabric_share(topo.members_per_domain(size, stride, chip.domain), chip.domain, chip.fabric)
    up, out = chip.scale_up * k["link.scale_up_share"] * share, chip.scale_out * k["link.scale_out_share"]
    return topo.ring_bandwidth(size, stride, chip.domain, up, out, chip.host_link * k["link.scale_up_share"])


def tensor_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Passes:
    """Tensor-parallel collectives of one layer: two operands forward, two backward."""
    operand = comm.tensor_operand_bytes(lay.micro_batch, lay.seq_len, arch.hidden, lay.cp)
    one = comm.collective_seconds(operand, lay.tp, _link(lay.tp, np.ones_like(lay.tp), chip, k))
    return Passes(2.0 * one, 2.0 * one, np.zeros_like(one))


def context_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Passes:
    """Key-value exchange of one layer."""
    width = np.where(arch.mla > 0, arch.heads * (arch.qk_dim + arch.v_dim), 2.0 * arch.kv_heads * arch.head_dim)
    per_rank = width / np.minimum(lay.tp, arch.kv_heads)
    buffer = comm.context_bytes(lay.micro_batch, lay.seq_len, per_rank, 1.0, 1.0, lay.cp)
    one = comm.collective_seconds(buffer / 3.0, lay.cp, _link(lay.cp, lay.tp, chip, k), passes=1.0)
    return Passes(one, 2.0 * one, np.zeros_like(one))


def remote_copies(experts_per_token: Array, domains: Array) -> Array:
    """Expected number of other domains that k random experts of a token fall in: (d - 1)(1 - (1 - 1/d)^k) [1].

    Hierarchical dispatch sends one copy per domain and fans out inside it (DeepSeek-V3, arXiv:2412.19437, sec. 3.2.2).

    >>> round(float(remote_copies(np.array(8.0), np.array(8.0))), 2)
    4.59
    """
    d = np.maximum(domains, 1.0)
    return np.asarray((d - 1.0) * (1.0 - np.power(1.0 - 1.0 / d, experts_per_token)))


def expert_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Passes:
    """Dispatch and combine of one MoE layer; links inside the domain and NICs work at once, the slower counts."""
    members = topo.members_per_domain(lay.ep, lay.etp, chip.domain)
    domains = lay.ep / members
    row = comm.BF16_BYTES * arch.hidden * lay.tokens / lay.tp
    inside = row * arch.experts_per_token * comm.ring_factor(lay.ep, 1.0) / (chip.scale_up * k["link.scale_up_share"])
    copies = row * remote_copies(arch.experts_per_token, domains)
    outside = np.where(domains > 1, copies / (chip.scale_out * k["link.scale_out_share"]), 0.0)
    one = np.where((lay.ep > 1) & (arch.experts > 0), np.maximum(inside, outside), 0.0)
    return Passes(2.0 * one, 2.0 * one, np.zeros_like(one))


def boundary_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Array:
    """Sending one micro-batch over one stage boundary, forward and backward, all virtual stages [s]."""
    size = comm.pipeline_boundary_bytes(lay.micro_batch, lay.seq_len, arch.hidden, lay.tp, lay.cp)
    up, out = chip.scale_up * k["link.scale_up_share"], chip.scale_out * k["link.scale_out_share"]
    link = topo.point_to_point_bandwidth(lay.tp * lay.cp * lay.dp, chip.domain, up, out)
    return np.where(lay.pp > 1, comm.pipeline_bytes(size, 1.0, lay.pp, lay.vpp) / link, 0.0)


def held_parameters(arch: Architecture, lay: Work) -> tuple[Array, Array]:
    """Parameters of a mean stage on one rank before data-parallel sharding: (all but routed experts, routed)."""
    buckets = whole_model(arch)
    dense = (buckets.tp_sharded / lay.tp + buckets.replicated) / lay.pp
    return np.asarray(dense), np.asarray(buckets.routed_experts / (lay.ep * lay.etp * lay.pp))


def data_seconds(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Array:
    """Gradient and parameter exchange of one step, experts over their own replicas [s].

    ZeRO 3 exchanges in every micro-batch; its hybrid form gathers within `shard_ranks` ranks and all-reduces the
    shards' gradients across them once per step.
    """
    dense, routed = held_parameters(arch, lay)
    size, stride = lay.dp * lay.cp, lay.tp
    inner = np.where(lay.shard_ranks > 0, lay.shard_ranks, size)
    seconds = _sharded_seconds(dense, inner, stride, lay, chip, k)
    seconds = seconds + _sharded_seconds(routed, lay.expert_replicas, lay.ep * lay.etp, lay, chip, k)
    across = size / inner
    shard = comm.BF16_BYTES * dense / inner
    outer = comm.collective_seconds(shard, across, _link(across, stride * inner, chip, k))
    return np.asarray(seconds + np.where(lay.shard_ranks > 0, outer, 0.0))


def _sharded_seconds(parameters: Array, size: Array, stride: Array, lay: Work, chip: Chip, k: Constants) -> Array:
    volume = comm.data_bytes(parameters, lay.zero_stage, gathers=lay.micro_batches)
    buffer = volume["reduce"] + volume["gather"]
    return comm.collective_seconds(buffer, size, _link(size, stride, chip, k), passes=1.0)


def updated_parameters(arch: Architecture, lay: Work) -> Array:
    """Parameters whose optimizer state one rank holds and updates [1]."""
    dense, routed = held_parameters(arch, lay)
    sharded = lay.zero_stage >= 1
    replicas = np.where(sharded, lay.dp * lay.cp, 1.0)
    return np.asarray(dense / replicas + routed / np.where(sharded, lay.expert_replicas, 1.0))
