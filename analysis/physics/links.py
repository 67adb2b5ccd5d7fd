"""Where a communication group sits and which links its members use.

Ranks are numbered with tensor parallelism fastest, then context, then data (with experts inside it), then pipeline:
the order that Megatron-LM, MaxText and torchtitan share. A group of `size` ranks that are `stride` apart therefore
spans `stride * size` consecutive ranks, and consecutive ranks fill one scale-up domain after the other.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import IntEnum
from typing import TypedDict

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]


class Fabric(IntEnum):
    """How the accelerators of a scale-up domain are wired.

    A switch joins all of them. In a mesh each pair has its own link (AMD xGMI, Ascend 910B HCCS, Gaudi). A torus has
    rings along two or three axes (Jouppi et al. 2023, arXiv:2304.01433; Neuron's architecture guide).
    """

    SWITCH = 0
    MESH = 1
    TORUS_2D = 2
    TORUS_3D = 3


FABRICS = {"switch": Fabric.SWITCH, "mesh": Fabric.MESH, "torus-2d": Fabric.TORUS_2D, "torus-3d": Fabric.TORUS_3D}
"""Fabrics by the word in an accelerator's record."""

TORUS_AXIS = 16.0
"""Chips along one axis of a torus slice before a group takes a second axis; TPU v5e and v6e pods are 16 x 16, a v4 or
v5p pod of 4,096 is 16 x 16 x 16 (Cloud TPU documentation, system architecture)."""

HOST_ACCELERATORS = 8.0
"""Cards of one host that reach each other over PCIe where no scale-up link joins them: the usual 8-GPU server."""


@dataclass(frozen=True)
class Network:
    """Links of each row's accelerators, at the rates that collectives reach.

    Attributes
    ----------
    scale_up, scale_out, host_link
        Rates of one accelerator in one direction [B/s]; NaN where not known. `host_link` is PCIe.
    domain
        Accelerators that scale-up links join.
    fabric
        Codes of `Fabric`.
    hop_up, hop_out
        Time of one step of a ring with nothing to send, inside a domain and between domains [s].
    """

    scale_up: Array
    scale_out: Array
    host_link: Array
    domain: Array
    fabric: Array
    hop_up: Array
    hop_out: Array


class Strides(TypedDict):
    """Distance between neighbouring members of a group, per dimension [ranks]."""

    tp: Array
    cp: Array
    ep: Array
    dp: Array
    pp: Array


def rank_strides(tp: Number, cp: Number, dp: Number, etp: Number = 1.0) -> Strides:
    """Stride of each parallel dimension when ranks are laid out TP, CP, DP (experts inside), PP.

    Parameters
    ----------
    tp, cp, dp, etp
        Sizes of the dimensions; `etp` is the tensor split of the experts.

    Returns
    -------
    Strides
        Distance of neighbouring members [ranks] by dimension.

    Notes
    -----
    Rank order `tp-cp-ep-dp-pp` of Megatron-LM (parallel_state.py, RankGenerator).

    Examples
    --------
    >>> {k: int(v) for k, v in rank_strides(tp=8, cp=2, dp=16).items()}
    {'tp': 1, 'cp': 8, 'ep': 1, 'dp': 16, 'pp': 256}
    """
    t, c, n, e = (np.asarray(x, dtype=float) for x in (tp, cp, dp, etp))
    one = np.ones_like(t * c * n)
    return {"tp": one, "cp": t * one, "ep": e * one, "dp": t * c * one, "pp": t * c * n * one}


def members_per_domain(size: Number, stride: Number, domain: Number) -> Array:
    """How many members of one group share a scale-up domain.

    Parameters
    ----------
    size, stride
        Group size and distance of neighbouring members [ranks].
    domain
        Scale-up domain [accelerators].

    Returns
    -------
    ndarray
        Members [ranks], at least 1 and at most `size`.

    Examples
    --------
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
    """Share of an accelerator's scale-up bandwidth that a group of `size` can use.

    A switch gives all of it. In a full mesh a group only has the links among its members: (n - 1)/(d - 1). On a torus a
    ring runs along one axis (two of the 4 or 6 links); groups longer than one axis use a second, then a third.

    Parameters
    ----------
    size
        Members of the group in one domain [ranks].
    domain
        Scale-up domain [accelerators].
    fabric
        Codes of `Fabric`.

    Returns
    -------
    ndarray
        Share [1].

    Examples
    --------
    >>> fabric_share(np.array([2.0, 8.0]), 8.0, Fabric.MESH).round(3).tolist()
    [0.143, 1.0]
    >>> fabric_share(np.array([16.0, 256.0]), 4096.0, Fabric.TORUS_3D).round(3).tolist()
    [0.333, 0.667]
    """
    n, w, code = (np.asarray(x, dtype=float) for x in (size, domain, fabric))
    mesh = np.clip((n - 1.0) / np.maximum(w - 1.0, 1.0), 0.0, 1.0)
    axes = np.maximum(code, 1.0)
    used = np.clip(np.ceil(np.log(np.maximum(n, 2.0)) / np.log(TORUS_AXIS)), 1.0, axes)
    return np.where(code == Fabric.MESH, mesh, np.where(code >= Fabric.TORUS_2D, used / axes, 1.0))


def up_rate(size: Number, stride: Number, network: Network) -> Array:
    """Rate at which a member sends inside its domain [B/s]: scale-up links, or PCIe in a host without them.

    >>> pair = Network(*(np.asarray(x) for x in (np.nan, 25e9, 32e9, 1.0, 0.0, 0.0, 0.0)))
    >>> float(up_rate(2.0, 1.0, pair)) / 1e9
    32.0
    """
    members = members_per_domain(size, stride, network.domain)
    rate = network.scale_up * fabric_share(members, network.domain, network.fabric)
    return np.where(over_host(size, stride, network), network.host_link, rate)


def over_host(size: Number, stride: Number, network: Network) -> npt.NDArray[np.bool_]:
    """Whether a group meets over PCIe: one host, no scale-up domain of its size, and a known host link.

    >>> card = Network(*(np.asarray(x) for x in (np.nan, 25e9, 32e9, 1.0, 0.0, 0.0, 0.0)))
    >>> over_host(np.array([8.0, 16.0]), 1.0, card).tolist()
    [True, False]
    """
    spans = np.asarray(size, dtype=float) * np.asarray(stride, dtype=float)
    small = (spans <= HOST_ACCELERATORS) & (network.domain < HOST_ACCELERATORS) & np.isfinite(network.host_link)
    return np.asarray(small & ~inside_domain(size, stride, network.domain), dtype=bool)
