"""Idle time of a pipeline, by schedule.

F and B are the forward and whole backward seconds of one micro-batch on one stage, W the weight-gradient part of B.
Functions return idle seconds per step; the busy time is m (F + B).
"""

from enum import IntEnum

import numpy as np
import numpy.typing as npt

Array = npt.NDArray[np.float64]
Number = float | npt.NDArray[np.float64]


class Schedule(IntEnum):
    """Pipeline schedules, in the codes of layout tables."""

    GPIPE = 0
    ONE_F_ONE_B = 1
    INTERLEAVED = 2
    ZB_1P = 3
    ZB_2P = 4
    ZB_V = 5
    DUALPIPE = 6


SCHEDULES = {
    "gpipe": Schedule.GPIPE,
    "1f1b": Schedule.ONE_F_ONE_B,
    "1f1b-interleaved": Schedule.INTERLEAVED,
    "zb-1p": Schedule.ZB_1P,
    "zb-2p": Schedule.ZB_2P,
    "zb-v": Schedule.ZB_V,
    "dualpipe": Schedule.DUALPIPE,
}
"""Schedules by the names that layouts use."""


def classic_bubble(
    pp: Number, micro_batches: Number, vpp: Number, stage: Number, others: Number | None = None
) -> Array:
    """Idle seconds of GPipe, 1F1B (v = 1) and interleaved 1F1B.

    The slowest stage waits while one micro-batch passes the other stages, chunk by chunk: (sum of their times) / v,
    which is (p - 1)/v (F + B) for equal stages. With fewer micro-batches than stages, interleaving cannot fill the
    gaps: the first micro-batch still passes every chunk of every stage, and the others follow a chunk apart, so that
    the step takes the time of all stages plus (m - 1)/v of the slowest.

    Parameters
    ----------
    pp, micro_batches, vpp
        Stages, micro-batches per step, chunks per stage.
    stage
        F + B of the slowest stage [s].
    others
        F + B summed over the other stages [s]; stages as slow as the slowest if absent.

    Returns
    -------
    ndarray
        Idle time [s].

    Notes
    -----
    Narayanan et al. 2021 (arXiv:2104.04473), sec. 2.2, for m >= p; the critical path for m < p.

    Examples
    --------
    >>> float(classic_bubble(8, 8, 2, stage=1.0)), float(classic_bubble(16, 4, 2, stage=1.0))
    (3.5, 13.5)
    """
    p, m, v = (np.asarray(x, dtype=float) for x in (pp, micro_batches, vpp))
    slowest = np.asarray(stage, dtype=float)
    rest = (p - 1.0) * slowest if others is None else np.asarray(others, dtype=float)
    path = rest + slowest * (1.0 + (m - 1.0) / v - m)
    return np.asarray(np.where(m < p, np.maximum(path, rest / v), rest / v))


def utilisation_ceiling(pp: Number, micro_batches: Number, vpp: Number = 1.0) -> Array:
    """Largest share of the step in which a stage can be busy: m / (m + bubble) for equal stages.

    Parameters
    ----------
    pp, micro_batches, vpp
        Stages, micro-batches per step, chunks per stage.

    Returns
    -------
    ndarray
        Share of the step [1].

    Examples
    --------
    >>> round(float(utilisation_ceiling(16, 16)), 3), round(float(utilisation_ceiling(16, 4, 2)), 3)
    (0.516, 0.229)
    """
    m = np.asarray(micro_batches, dtype=float)
    return np.asarray(m / (m + classic_bubble(pp, m, vpp, stage=1.0)))


def zero_bubble_1p(pp: Number, forward: Number, backward: Number, weight: Number) -> Array:
    """Idle seconds of ZB-1p (memory of 1F1B): (p - 1)(F + B - 2W), never negative.

    Parameters
    ----------
    pp
        Stages.
    forward, backward, weight
        F, whole B, and the weight gradient within it [s].

    Returns
    -------
    ndarray
        Idle time [s].

    Notes
    -----
    DeepSeek-V3 (arXiv:2412.19437), table 2; the same as ZB-H1 of Qi et al. 2023 (arXiv:2401.10241), table 1, where B is
    the input gradient alone and the bubble reads (p - 1)(F + B - W).

    Examples
    --------
    >>> float(zero_bubble_1p(8, 1.0, 2.0, 1.0))
    7.0
    """
    p, f, b, w = (np.asarray(x, dtype=float) for x in (pp, forward, backward, weight))
    return np.asarray((p - 1.0) * np.maximum(f + b - 2.0 * w, 0.0))


def dualpipe_bubble(pp: Number, backward: Number, weight: Number, overlapped: Number) -> Array:
    """Idle seconds of DualPipe: (p/2 - 1)(FB + B - 3W), never negative; FB is a forward and a backward run together.

    Parameters
    ----------
    pp
        Stages.
    backward, weight, overlapped
        Whole B, the weight gradient within it, and FB [s].

    Returns
    -------
    ndarray
        Idle time [s].

    Notes
    -----
    DeepSeek-V3 (arXiv:2412.19437), table 2.

    Examples
    --------
    >>> float(dualpipe_bubble(16, backward=2.0, weight=1.0, overlapped=3.0))
    14.0
    """
    p, b, w, fb = (np.asarray(x, dtype=float) for x in (pp, backward, weight, overlapped))
    return np.asarray(np.maximum(p / 2.0 - 1.0, 0.0) * np.maximum(fb + b - 3.0 * w, 0.0))


def critical_path(pp: Number, micro_batches: Number, forward: Number, backward: Number, weight: Number) -> Array:
    """Shortest possible step of a schedule that splits the backward pass [s]: (m + p - 1)(F + B - W) + W.

    The last stage can start only after p - 1 forwards and the first ends p - 1 input gradients later, whatever fills
    the gaps. It binds when m < p.

    Parameters
    ----------
    pp, micro_batches
        Stages, and micro-batches per step.
    forward, backward, weight
        F, whole B, and the weight gradient within it [s].

    Returns
    -------
    ndarray
        Time of the step [s].

    Examples
    --------
    >>> float(critical_path(8, 2, 1.0, 2.0, 1.0))
    19.0
    """
    p, m, f, b, w = (np.asarray(x, dtype=float) for x in (pp, micro_batches, forward, backward, weight))
    return np.asarray((m + p - 1.0) * (f + b - w) + w)


def idle_seconds(
    schedule: Number,
    pp: Number,
    vpp: Number,
    micro_batches: Number,
    passes: tuple[Array, Array, Array],
    others: Array,
) -> Array:
    """Idle seconds per step of the slowest stage for a table of schedules.

    Parameters
    ----------
    schedule
        Codes of `Schedule`.
    pp, vpp, micro_batches
        Stages, chunks per stage, micro-batches per step.
    passes
        F, B and W of the slowest stage [s].
    others
        F + B summed over the other stages [s].

    Returns
    -------
    ndarray
        Idle time [s].

    Examples
    --------
    >>> t = np.array([1.0])
    >>> float(idle_seconds(Schedule.ONE_F_ONE_B, 4, 1, 8, (t, 2 * t, t), 9 * t)[0])
    9.0
    """
    f, b, w = passes
    code, p, m = np.asarray(schedule), np.asarray(pp, dtype=float), np.asarray(micro_batches, dtype=float)
    depth = np.where(code == Schedule.ZB_V, (p + 1.0) / 2.0, p)  # the V shape reaches every rank twice within p chunks
    path = np.maximum(critical_path(depth, m, f, b, w) - m * (f + b), 0.0)
    zero = np.maximum(np.where(code == Schedule.ZB_1P, zero_bubble_1p(p, f, b, w), 0.0), path)
    classic = classic_bubble(p, m, vpp, f + b, others)
    split = np.where(code == Schedule.DUALPIPE, dualpipe_bubble(p, b, w, f + b), zero)
    idle = np.where(code <= Schedule.INTERLEAVED, classic, split)
    return np.where(p > 1, idle, 0.0)
