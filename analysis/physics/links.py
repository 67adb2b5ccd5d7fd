"""Where a communication group sits and the bandwidth its ring gets.

Ranks are numbered with tensor parallelism fastest, then context, then data (with experts inside it), then pipeline:
the order that Megatron-LM, MaxText and torchtitan share. A group of `size` ranks that are `stride` apart therefore
spans `stride * size` consecutive ranks, and consecutive ranks fill one scale-up domain after the other.
"""

from typing import TypedDict

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]

SWITCH, MESH, TORUS_2D, TORUS_3D = 0.0, 1.0, 2.0, 3.0
#: How the accelerators of a scale-up domain are wired, by architecture; a switch where nothing is said.
#: Mesh: each pair has its own link (AMD CDNA xGMI, Ascend 910B HCCS, Gaudi). Torus: Jouppi et al. 2023
#: (arXiv:2304.01433) for TPU v4, the Cloud TPU documentation for the others, Neuron's architecture guide for Trainium.
FABRICS: dict[str, float] = {
    **dict.fromkeys(("cdna2", "cdna3", "cdna4", "ascend-910b", "gaudi2", "gaudi3"), MESH),
    **dict.fromkeys(("tpu-v2", "tpu-v3", "tpu-v5e", "tpu-v6e", "trainium1", "trainium2"), TORUS_2D),
    **dict.fromkeys(("tpu-v4", "tpu-v5p", "tpu-v7"), TORUS_3D),
}
#: Chips along one axis of a torus slice before a group takes a second axis [accelerators].
TORUS_AXIS = 16.0

#: Cards of one host that reach each other over PCIe when no scale-up link joins them [accelerators].
HOST_ACCELERATORS = 8.0


class Strides(TypedDict):
    """Distance between neighbouring members of a group, per dimension [ranks]."""

    tp: Array
    cp: Array
    ep: Array
    dp: Array
    pp: Array


def rank_strides(tp: Number, cp: Number, dp: Number, etp: Number = 1.0) -> Strides:
    """Stride of each parallel dimension when ranks are laid out TP, CP, DP (experts inside), PP.

    Parameters: tp, cp, dp, etp [1] (sizes of the dimensions; etp is the tensor split of the experts).
    Returns: strides [ranks] by dimension.
    Source: rank order `tp-cp-ep-dp-pp` of Megatron-LM (parallel_state.py, RankGenerator).

    >>> {k: int(v) for k, v in rank_strides(tp=8, cp=2, dp=16).items()}
    {'tp': 1, 'cp': 8, 'ep': 1, 'dp': 16, 'pp': 256}
    """
    t, c, n, e = (np.asarray(x, dtype=float) for x in (tp, cp, dp, etp))
    one = np.ones_like(t * c * n)
    return {"tp": one, "cp": t * one, "ep": e * one, "dp": t * c * one, "pp": t * c * n * one}


def members_per_domain(size: Number, stride: Number, domain: Number) -> Array:
    """How many members of one group share a scale-up domain.

    Parameters: size [ranks], stride [ranks], domain [accelerators] (scale-up domain).
    Returns: members [ranks], at least 1 and at most `size`.

    >>> float(members_per_domain(size=16, stride=2, domain=8))
    4.0
    >>> float(members_per_domain(size=64, stride=8, domain=72))
    9.0
    """
    n, d, w = (np.asarray(x, dtype=float) for x in (size, stride, domain))
    return np.asarray(np.clip(np.floor(w / d), 1.0, n))


def inside_domain(size: Number, stride: Number, domain: Number) -> npt.NDArray[np.bool_]:
    """Whether a whole group lies within one scale-up domain.

    >>> inside_domain(size=np.array([8.0, 16.0]), stride=1.0, domain=8.0).tolist()
    [True, False]
    """
    n, d, w = (np.asarray(x, dtype=float) for x in (size, stride, domain))
    return np.asarray((n <= 1) | (n * d <= w), dtype=bool)


def fabric_share(size: Number, domain: Number, fabric: Number) -> Array:
    """Share of an accelerator's scale-up bandwidth that a group of `size` can use [1].

    A switch gives all of it. In a full mesh a group only has the links among its members: (n - 1)/(d - 1). On a torus a
    ring runs along one axis (two of the 4 or 6 links); groups longer than one axis use a second, then a third.

    >>> fabric_share(np.array([2.0, 8.0]), 8.0, MESH).round(3).tolist()
    [0.143, 1.0]
    >>> fabric_share(np.array([16.0, 256.0]), 4096.0, TORUS_3D).round(3).tolist()
    [0.333, 0.667]
    """
    n, w, code = (np.asarray(x, dtype=float) for x in (size, domain, fabric))
    mesh = np.clip((n - 1.0) / np.maximum(w - 1.0, 1.0), 0.0, 1.0)
    axes = np.maximum(code, 1.0)
    used = np.clip(np.ceil(np.log(np.maximum(n, 2.0)) / np.log(TORUS_AXIS)), 1.0, axes)
    return np.where(code == MESH, mesh, np.where(code >= TORUS_2D, used / axes, 1.0))


def ring_bandwidth(
    size: Number, stride: Number, domain: Number, scale_up: Number, scale_out: Number, host_link: Number = np.nan
) -> Array:
    """Bandwidth at which a ring over the group turns, per member and direction [B/s].

    Inside the scale-up domain a ring runs at the links' rate. Beyond it NCCL and RCCL build one ring per NIC of the
    node, so that a group with several members in a node uses several NICs at once: the rate is the smaller of the
    scale-up rate and NIC rate x members per node. With one member per node it is the NIC alone.
    Cards without a scale-up link between them meet over the host's PCIe link.

    Parameters: size, stride [ranks], domain [accelerators], scale_up [B/s], scale_out [B/s] (both per accelerator, one
    direction), host_link [B/s] (NaN where not known).
    Returns: bandwidth [B/s]; NaN where the link that is needed is not known, infinite for a group of one.
    Source: NCCL 2.x ring search over rails (one channel per NIC); engine check: H100 DP group of 8 x n uses 8 NICs.

    >>> float(ring_bandwidth(size=64, stride=8, domain=8, scale_up=450e9, scale_out=50e9)) / 1e9  # one member a node
    50.0
    >>> float(ring_bandwidth(size=64, stride=1, domain=8, scale_up=450e9, scale_out=50e9)) / 1e9  # eight members
    400.0
    """
    n, d, w = (np.asarray(x, dtype=float) for x in (size, stride, domain))
    up, out, host = (np.asarray(x, dtype=float) for x in (scale_up, scale_out, host_link))
    members = members_per_domain(n, d, w)
    leaves = np.where(members > 1, np.fmin(up, out * members), out)
    on_host = (n * d <= HOST_ACCELERATORS) & (w < HOST_ACCELERATORS) & np.isfinite(host)
    rate = np.where(inside_domain(n, d, w), up, np.where(on_host, host, leaves))
    return np.where(n <= 1, np.inf, rate)


def point_to_point_bandwidth(stride: Number, domain: Number, scale_up: Number, scale_out: Number) -> Array:
    """Bandwidth between two neighbouring pipeline stages, per rank and direction [B/s].

    Neighbours are `stride` ranks apart: within a domain they use its links, otherwise each rank has its own NIC.

    >>> (point_to_point_bandwidth(np.array([4.0, 8.0]), 8.0, 450e9, 50e9) / 1e9).tolist()
    [450.0, 50.0]
    """
    d, w = np.asarray(stride, dtype=float), np.asarray(domain, dtype=float)
    return np.where(2 * d <= w, np.asarray(scale_up, dtype=float), np.asarray(scale_out, dtype=float))


def scale_up_advantage(scale_up: Number, scale_out: Number) -> Array:
    """How many times faster the scale-up link is than the NIC, both per accelerator and one direction [1].

    >>> float(scale_up_advantage(450e9, 50e9)), float(scale_up_advantage(300e9, 25e9))  # H100, A100
    (9.0, 12.0)
    """
    return np.asarray(np.asarray(scale_up, dtype=float) / np.asarray(scale_out, dtype=float))
