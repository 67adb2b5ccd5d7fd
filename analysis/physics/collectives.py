"""Collectives: bytes that a rank sends by link, the seconds the links need for them, and the steps they take.

One function makes all three, so that bytes over seconds never exceeds the rate of the link they take. Seconds count
nothing as hidden; how much compute hides is for `timing`.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from analysis.physics.links import (
    Array,
    Network,
    Number,
    inside_domain,
    members_per_domain,
    over_host,
    up_rate,
)


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


def over_links(up: Array, out: Array, inside: Array, outside: Array, steps: Array, network: Network) -> Transfer:
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
    return over_links(np.asarray(sent - out), out, up_rate(n, stride, network), network.scale_out, steps, network)


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
    return over_links(
        np.asarray(up), np.asarray(out), up_rate(size, stride, network), network.scale_out, steps, network
    )
