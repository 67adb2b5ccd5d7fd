"""Seconds of one optimizer step, by part, for a table of layouts.

The slowest pipeline stage decides: its micro-batch time, times the micro-batches, plus what the schedule leaves idle,
plus communication that compute cannot hide, plus the optimizer. Every efficiency is an argument (`Efficiency`).
"""

from __future__ import annotations

import numpy as np

from analysis.physics import bubble, collectives, dimensions, elementwise, layers
from analysis.physics.architecture import Architecture
from analysis.physics.efficiency import Efficiency, Host
from analysis.physics.states import Pair
from analysis.physics.work import Array, Chip, Parts, Passes, Work

ONE_HOST = 8.0
"""Accelerators of one host, from which on stragglers and shared networks are counted: the usual 8-GPU server."""


def _recomputed(passes: Passes, share: Array) -> Passes:
    """Backward with `share` of the forward run again."""
    return Passes(passes.forward, passes.backward + share * passes.forward, passes.weight)


def _even(seconds: Array) -> Passes:
    """Seconds of a micro-batch without a weight gradient, a third of them forward."""
    return Passes(seconds / 3.0, seconds * 2.0 / 3.0, np.zeros_like(seconds))


def layer_passes(arch: Architecture, work: Work, chip: Chip, k: Efficiency) -> dict[str, Passes]:
    """One mean layer of one micro-batch by part.

    Parts of MoE and dense blocks are weighted by their share of the layers. Communication counts what is exposed; host
    is what the device waits for kernels to be issued.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants.

    Returns
    -------
    dict
        compute, attention, memory, moe, tp, cp, ep, host [s].
    """
    moe = np.asarray(arch.moe_layers / arch.layers)
    fixed = moe * (k.experts.layer_seconds + k.experts.expert_seconds * arch.experts / work.ep)
    core = _recomputed(layers.core_layer(arch, work, chip, k.attention), work.recompute_core)
    # DualPipe hides its all-to-all by giving it multiprocessors that compute then lacks.
    dual = (work.schedule == bubble.Schedule.DUALPIPE) & (work.ep > 1)
    slower = 1.0 / (1.0 - np.where(dual, k.overlap.dualpipe_sending_share, 0.0))
    exchanges = {
        "tp": dimensions.tensor(arch, work, chip.network),
        "cp": dimensions.context(arch, work, chip.network),
        "ep": dimensions.experts(arch, work, chip.network),
    }
    parts = {
        "compute": _products(arch, work, chip, k, moe).times(slower),
        "attention": core.times(slower),
        "memory": _memory_bound(arch, work, chip, k, moe),
        "moe": _even(fixed),
    } | _exposed(exchanges, work, k, moe)
    return parts | {"host": _even(_waiting(exchanges, work, k.host, moe, _sum(parts).total))}


def _products(arch: Architecture, work: Work, chip: Chip, k: Efficiency, moe: Array) -> Passes:
    linear = layers.linear_layer(arch, work, chip, k.experts)
    mixture = _recomputed(linear["routed"], work.recompute_routed)
    mixture = mixture.plus(_recomputed(linear["shared"], work.recompute_shared)).times(moe)
    dense = _recomputed(linear["dense"], work.recompute_mlp).times(1.0 - moe)
    return _recomputed(linear["projections"], work.recompute_projections).plus(mixture).plus(dense)


def _memory_bound(arch: Architecture, work: Work, chip: Chip, k: Efficiency, moe: Array) -> Passes:
    memory = layers.memory_layer(arch, work, chip, k.elementwise)
    bound = memory["common"].plus(memory["dense"].times(1.0 - moe)).plus(memory["moe"].times(moe))
    return _recomputed(bound, work.recompute_elementwise).plus(_recomputed(memory["unpack"], work.recompute_layer))


def _waiting(exchanges: dict[str, collectives.Exchange], work: Work, host: Host, moe: Array, device: Array) -> Array:
    """Seconds of a layer beyond its work: kernels that the host has yet to issue, or steps of collectives."""
    issue = (1.0 - moe) * host.layer_seconds + moe * host.moe_layer_seconds
    steps = {name: one.with_recompute(work.recompute_layer).latency for name, one in exchanges.items()}
    return np.maximum(np.maximum(issue, steps["tp"] + steps["cp"] + moe * steps["ep"]) - device, 0.0)


def _exposed(exchanges: dict[str, collectives.Exchange], work: Work, k: Efficiency, moe: Array) -> dict[str, Passes]:
    """Exposed collectives of one layer.

    Tensor-parallel ones overlap with products where sequence parallelism lets Transformer Engine split them; stacks on
    FSDP have no such kernels. A compiled step schedules all of them beside compute. DualPipe exists to run the experts'
    all-to-all beside the compute of the opposite direction (DeepSeek-V3, arXiv:2412.19437, sec. 3.2.1).
    """
    overlapped = (work.sequence_parallel > 0) & (work.zero_stage < 3)
    dual = work.schedule == bubble.Schedule.DUALPIPE
    usual = {
        "tp": np.where(overlapped, k.overlap.tp, k.overlap.tp_all_reduce),
        "cp": np.asarray(k.overlap.cp),
        "ep": np.where(dual, k.overlap.ep_dualpipe, k.overlap.ep) * moe,
    }
    compiled = {"ep": moe * k.overlap.compiled}
    shown = {
        name: np.where(work.compiled > 0, compiled.get(name, k.overlap.compiled), share)
        for name, share in usual.items()
    }
    return {name: _visible(one, shown[name], work.recompute_layer) for name, one in exchanges.items()}


def _visible(exchange: collectives.Exchange, share: Array, again: Array) -> Passes:
    forward, backward = share * exchange.forward.seconds, share * exchange.backward.seconds
    return _recomputed(Passes(forward, backward, np.zeros_like(forward)), again)


def _stages(arch: Architecture, work: Work, chip: Chip, k: Efficiency) -> tuple[dict[str, Passes], Array]:
    """Parts of the slowest stage for one micro-batch, and the seconds of all other stages together.

    Where layers do not divide, recipes lay the stages out by hand and spare the last one, so it takes no more than the
    mean stage unless the head alone does.
    """
    layer = layer_passes(arch, work, chip, k)
    products, loss = layers.head_passes(arch, work, chip, k.elementwise)
    one = sum((p.total for p in layer.values()), np.zeros(()))
    head = products.total + loss.total
    depth = arch.layers + arch.mtp_layers
    last = work.layers_last * one + head
    uneven = (work.layers_max * work.pp > depth) & (work.split_stated == 0)
    last = np.where(uneven, np.minimum(last, np.maximum((depth * one + head) / work.pp, head)), last)
    last_is_slowest = (work.pp <= 1) | (last >= work.layers_max * one)
    own_head = np.where(last_is_slowest, 1.0, 0.0)
    count = np.where(last_is_slowest, (last - head) / one, work.layers_max)
    parts = {name: p.times(count) for name, p in layer.items()}
    parts["compute"] = parts["compute"].plus(products.times(own_head))
    parts["memory"] = parts["memory"].plus(loss.times(own_head))
    return parts, np.asarray(depth * one + head - count * one - own_head * head)


def _sum(parts: dict[str, Passes]) -> Passes:
    items = list(parts.values())
    total = items[0]
    for item in items[1:]:
        total = total.plus(item)
    return total


def step_parts(arch: Architecture, work: Work, chip: Chip, k: Efficiency) -> Parts:
    """Seconds of one optimizer step by part; their sum is the step time.

    The step is the slowest stage's micro-batch times the micro-batches, plus idle and exposed time; each module has
    its formula.

    Parameters
    ----------
    arch, work, chip
        Model, layout and accelerator of each row.
    k
        Constants.

    Returns
    -------
    dict
        compute, attention, memory, moe, tp, cp, ep, host, pp (sends between stages), bubble, dp, optimizer,
        fixed (once a step), scale [s].
    """
    stage, others = _stages(arch, work, chip, k)
    busy = _sum(stage)
    parts: Parts = {name: np.asarray(p.total * work.micro_batches) for name, p in stage.items()}
    sends = k.overlap.pp * dimensions.boundary(arch, work, chip.network).seconds
    parts["pp"] = np.asarray(sends * work.micro_batches)
    passes = (busy.forward + sends / 2.0, busy.backward + sends / 2.0, busy.weight)
    waiting = others + (work.pp - 1.0) * sends
    parts["bubble"] = bubble.idle_seconds(work.schedule, work.pp, work.vpp, work.micro_batches, passes, waiting)
    held = dimensions.largest_stage(arch, work)
    parts["dp"] = _data_exposed(dimensions.data(held, work, chip.network).seconds, held, work, k, busy.total)
    bandwidth = chip.hbm_bandwidth * k.elementwise.optimizer_hbm_share
    updated = dimensions.updated_parameters(held, work)
    parts["optimizer"] = elementwise.optimizer_seconds(updated, k.elementwise.optimizer_bytes, bandwidth)
    parts["fixed"] = np.broadcast_to(np.asarray(k.host.step_seconds, dtype=float), parts["dp"].shape)
    total = sum(parts.values(), np.zeros(()))
    parts["scale"] = total * k.host.scale_loss * np.log2(np.maximum(work.accelerators / ONE_HOST, 1.0))
    return parts


def exposed_seconds(seconds: Array, window: Array, share: Array) -> Array:
    """Part of a communication that compute cannot hide.

    A share of it is exposed in any case (first and last bucket, contention for SMs and HBM); the rest hides in the
    compute window, and what exceeds the window is exposed too.

    Parameters
    ----------
    seconds, window
        Communication, and compute it can hide behind [s].
    share
        Share exposed in any case [1].

    Returns
    -------
    ndarray
        Exposed time [s].

    Examples
    --------
    >>> float(exposed_seconds(2.0, window=10.0, share=0.25)), float(exposed_seconds(8.0, 3.0, 0.25))
    (0.5, 5.0)
    """
    hidden = (1.0 - share) * seconds
    return np.asarray(share * seconds + np.maximum(hidden - window, 0.0))


def _data_exposed(seconds: Array, held: Pair, work: Work, k: Efficiency, busy: Array) -> Array:
    """Exposed data-parallel seconds: ZeRO 3 hides behind every micro-batch, the others behind part of one.

    Of plain replicas that reduce bucket by bucket beside the last backward pass, only the last bucket stands alone.
    """
    sharded = work.zero_stage >= 3
    window = np.where(sharded, k.overlap.window_fsdp * work.micro_batches, k.overlap.window_dp) * busy
    gradients = np.maximum(work.element_bytes * (held[0] + held[1]), 1.0)
    bucket = np.minimum(work.bucket_bytes / gradients, 1.0)
    bucketed = (work.bucket_bytes > 0) & (work.zero_stage < 1)
    usual = np.where(sharded, k.overlap.fsdp, np.where(bucketed, bucket, k.overlap.dp))
    return exposed_seconds(seconds, window, np.where(work.compiled > 0, k.overlap.compiled, usual))


def step_seconds(parts: Parts) -> Array:
    """Step time [s]: the sum of the parts.

    >>> float(step_seconds({"compute": np.asarray(2.0), "dp": np.asarray(0.5)}))
    2.5
    """
    return np.asarray(sum(parts.values(), np.zeros(())))
