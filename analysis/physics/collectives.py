"""What a rank sends along each parallel dimension: bytes by link, and the seconds the links need for them.

One function makes both, so that bytes over seconds never exceeds the rate of the link they take. Elements are 2 B
(BF16 or FP16) unless stated. Seconds count nothing as hidden; how much compute hides is for `timing`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.physics import pipeline
from analysis.physics.architecture import Architecture
from analysis.physics.links import (
    Array,
    Network,
    Number,
    inside_domain,
    members_per_domain,
    over_host,
    rank_strides,
    up_rate,
)
from analysis.physics.states import Pair, rank_pieces, stage_on_rank
from analysis.physics.work import Work
from schemas.axes import WITH_TRAFFIC

DIMENSIONS = WITH_TRAFFIC
BF16_BYTES = 2.0


@dataclass(frozen=True)
class Transfer:
    """What one rank sends, and how long that takes when nothing hides it.

    Attributes
    ----------
    up
        Bytes over links inside the scale-up domain, or over the host's PCIe where there are none [B].
    out
        Bytes over the link to other domains [B].
    seconds
        Time of both; they run at once, the slower decides [s].
    latency
        Time of the steps themselves, however little is sent [s].
    """

    up: Array
    out: Array
    seconds: Array
    latency: Array

    @property
    def sent(self) -> Array:
        """All bytes [B]."""
        return np.asarray(self.up + self.out)

    def times(self, count: Number) -> Transfer:
        """The same `count` times; nothing where the count is zero, even if a rate is not known."""
        n = np.asarray(count, dtype=float)
        return Transfer(*(np.where(n == 0, 0.0, x * n) for x in (self.up, self.out, self.seconds, self.latency)))

    def plus(self, other: Transfer) -> Transfer:
        """One after the other."""
        seconds, latency = self.seconds + other.seconds, self.latency + other.latency
        return Transfer(self.up + other.up, self.out + other.out, seconds, latency)


@dataclass(frozen=True)
class Exchange:
    """Collectives of one layer and micro-batch, in the forward and in the backward pass."""

    forward: Transfer
    backward: Transfer

    def with_recompute(self, share: Number) -> Transfer:
        """Both passes, `share` of the forward one repeated."""
        return self.forward.times(1.0 + np.asarray(share, dtype=float)).plus(self.backward)


def _over(up: Array, out: Array, inside: Array, outside: Array, steps: Array, network: Network) -> Transfer:
    """Bytes over both kinds of link in a number of steps; what is not sent needs no known rate."""
    busy = np.maximum(up / np.where(up == 0, 1.0, inside), out / np.where(out == 0, 1.0, outside))
    hop = np.where(out > 0, network.hop_out, network.hop_up)
    return Transfer(up, out, busy, np.where(steps > 0, steps * hop, 0.0))


def ring(buffer: Number, size: Number, stride: Number, network: Network, passes: Number = 1.0) -> Transfer:
    """Ring collective of a group.

    Each rank sends passes * (n - 1)/n of the buffer. Where the group leaves the domain, NCCL and RCCL turn one ring per
    NIC of the node, so that of g members in a domain each sends 1/g of its share out and the rest inside.

    Parameters
    ----------
    buffer
        The whole tensor [B].
    size, stride
        Group size and distance of neighbouring members [ranks].
    network
        Links of the accelerators.
    passes
        2 for an all-reduce, 1 for an all-gather or a reduce-scatter [1].

    Returns
    -------
    Transfer
        Per rank; zero for a group of one.

    Notes
    -----
    Patarasuk & Yuan 2009 for the volume; NCCL 2.x ring search over rails for the links.

    Examples
    --------
    >>> h100 = Network(*(np.asarray(x) for x in (450e9, 50e9, np.nan, 8.0, 0.0, 0.0, 0.0)))
    >>> one = ring(1e9, size=8, stride=1, network=h100, passes=2)
    >>> float(one.up) / 1e9, float(one.out), round(float(one.seconds) * 1e3, 3)  # an all-reduce on eight H100
    (1.75, 0.0, 3.889)
    >>> two = ring(1e9, size=16, stride=1, network=h100, passes=2)
    >>> float(two.out) / 1e9, round(float(two.sent / two.seconds) / 1e9, 6)  # eight NICs of 50 GB/s
    (0.234375, 400.0)
    """
    n = np.asarray(size, dtype=float)
    sent = np.asarray(passes, dtype=float) * (n - 1.0) / n * np.asarray(buffer, dtype=float)
    members = members_per_domain(n, stride, network.domain)
    stays = inside_domain(n, stride, network.domain) | over_host(n, stride, network)
    out = np.where(stays, 0.0, sent / members)
    steps = np.asarray(passes, dtype=float) * (n - 1.0)
    return _over(np.asarray(sent - out), out, up_rate(n, stride, network), network.scale_out, steps, network)


def remote_copies(experts_per_token: Number, domains: Number) -> Array:
    """Expected number of other domains that k random experts of a token fall in: (d - 1)(1 - (1 - 1/d)^k) [1].

    >>> round(float(remote_copies(8.0, 8.0)), 2)
    4.59
    """
    d = np.maximum(np.asarray(domains, dtype=float), 1.0)
    return np.asarray((d - 1.0) * (1.0 - np.power(1.0 - 1.0 / d, experts_per_token)))


def all_to_all(row: Number, experts_per_token: Number, size: Number, stride: Number, network: Network) -> Transfer:
    """Dispatch (or combine) of tokens to k experts over a group.

    A token crosses to each domain that has one of its experts once, and is copied to the experts' ranks inside it: of
    its k copies, (g - 1)/g take a link inside a domain of g members.

    Parameters
    ----------
    row
        All tokens of the rank once [B].
    experts_per_token
        k [1].
    size, stride
        Group size and distance of neighbouring members [ranks].
    network
        Links of the accelerators.

    Returns
    -------
    Transfer
        Per rank and direction.

    Notes
    -----
    DeepSeek-V3 (arXiv:2412.19437), sec. 3.2.2: node-limited dispatch over NICs, fan-out over NVLink.

    Examples
    --------
    >>> h800 = Network(*(np.asarray(x) for x in (200e9, 50e9, np.nan, 8.0, 0.0, 0.0, 0.0)))
    >>> one = all_to_all(4096 * 7168 * 2.0, 8.0, size=64.0, stride=1.0, network=h800)
    >>> round(float(one.up / (4096 * 7168 * 2)), 2), round(float(one.out / (4096 * 7168 * 2)), 2)
    (7.0, 4.59)
    """
    members = members_per_domain(size, stride, network.domain)
    up = row * np.asarray(experts_per_token) * (members - 1.0) / members
    out = row * remote_copies(experts_per_token, np.asarray(size, dtype=float) / members)
    steps = np.where(np.asarray(size) > 1, 1.0, 0.0)
    return _over(np.asarray(up), np.asarray(out), up_rate(size, stride, network), network.scale_out, steps, network)


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
    return _over(np.where(near, sent, 0.0), np.where(near, 0.0, sent), inside, network.scale_out, steps, network)


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
