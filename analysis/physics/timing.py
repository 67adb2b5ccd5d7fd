"""Seconds of one optimizer step, by part, for a table of layouts.

The slowest pipeline stage decides: its micro-batch time, times the micro-batches, plus what the schedule leaves idle,
plus communication that compute cannot hide, plus the optimizer. Every efficiency is an argument (`Constants`), none is
written here.
"""

import numpy as np

from analysis.physics import bubble, elementwise, exchange, layers
from analysis.physics import communication as comm
from analysis.physics.architecture import Architecture
from analysis.physics.work import Array, Chip, Constants, Parts, Passes, Work

#: Accelerators of one host, from which on stragglers and shared networks are counted.
ONE_HOST = 8.0


def _recomputed(passes: Passes, share: Array) -> Passes:
    """Backward with `share` of the forward run again."""
    return Passes(passes.forward, passes.backward + share * passes.forward, passes.weight)


def _even(seconds: Array) -> Passes:
    """Seconds of a micro-batch without a weight gradient, a third of them forward."""
    return Passes(seconds / 3.0, seconds * 2.0 / 3.0, np.zeros_like(seconds))


def layer_passes(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> dict[str, Passes]:
    """One mean layer of one micro-batch by part: compute, attention, memory, moe, tp, cp, ep, host.

    Parts of MoE and dense blocks are weighted by their share of the layers. Communication counts what is exposed; host
    is what the device waits for kernels to be issued.
    """
    moe = np.asarray(arch.moe_layers / arch.layers)
    linear, memory = layers.linear_layer(arch, lay, chip, k), layers.memory_layer(arch, lay, chip, k)
    mixture = _recomputed(linear["routed"], lay.recompute_routed).plus(
        _recomputed(linear["shared"], lay.recompute_shared)
    )
    products = _recomputed(linear["projections"], lay.recompute_projections).plus(mixture.times(moe))
    products = products.plus(_recomputed(linear["dense"], lay.recompute_mlp).times(1.0 - moe))
    bound = memory["common"].plus(memory["dense"].times(1.0 - moe)).plus(memory["moe"].times(moe))
    fixed = moe * (k["moe.layer_seconds"] + k["moe.expert_seconds"] * arch.experts / lay.ep)
    parts = {
        "compute": products,
        "attention": _recomputed(layers.core_layer(arch, lay, chip, k), lay.recompute_core),
        "memory": _recomputed(bound, lay.recompute_elementwise),
        "moe": _even(fixed),
    }
    # DualPipe hides its all-to-all by giving it multiprocessors that compute then lacks.
    lent = np.where((lay.schedule == bubble.DUALPIPE) & (lay.ep > 1), k["dualpipe.sending_share"], 0.0)
    parts |= {name: parts[name].times(1.0 / (1.0 - lent)) for name in ("compute", "attention")}
    parts |= _exposed(arch, lay, chip, k, moe)
    device = _sum(parts).total
    issue = (1.0 - moe) * k["host.layer_seconds"] + moe * k["host.moe_layer_seconds"]
    return parts | {"host": _even(np.maximum(issue - device, 0.0))}


def _exposed(arch: Architecture, lay: Work, chip: Chip, k: Constants, moe: Array) -> dict[str, Passes]:
    """Exposed collectives of one layer.

    Tensor-parallel ones overlap with products where sequence parallelism lets Transformer Engine split them; stacks on
    FSDP have no such kernels. A compiled step schedules all of them beside compute. DualPipe exists to run the experts'
    all-to-all beside the compute of the opposite direction (DeepSeek-V3, arXiv:2412.19437, sec. 3.2.1).
    """
    links = {
        "tp": exchange.tensor_seconds(arch, lay, chip, k),
        "cp": exchange.context_seconds(arch, lay, chip, k),
        "ep": exchange.expert_seconds(arch, lay, chip, k).times(moe),
    }
    overlapped = (lay.sequence_parallel > 0) & (lay.zero_stage < 3)
    usual = {
        "tp": np.where(overlapped, k["exposed.tp"], k["exposed.tp_all_reduce"]),
        "cp": np.asarray(k["exposed.cp"]),
        "ep": np.where(lay.schedule == bubble.DUALPIPE, k["exposed.ep_dualpipe"], k["exposed.ep"]),
    }
    shown = {name: np.where(lay.compiled > 0, k["exposed.compiled"], share) for name, share in usual.items()}
    return {name: _recomputed(p, lay.recompute_layer).times(shown[name]) for name, p in links.items()}


def _stages(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> tuple[dict[str, Passes], Array]:
    """Parts of the slowest stage for one micro-batch, and the seconds of all other stages together.

    Where layers do not divide, recipes lay the stages out by hand and spare the last one, so it takes no more than the
    mean stage unless the head alone does.
    """
    layer = layer_passes(arch, lay, chip, k)
    products, loss = layers.head_passes(arch, lay, chip, k)
    one = sum((p.total for p in layer.values()), np.zeros(()))
    head = products.total + loss.total
    depth = arch.layers + arch.mtp_layers
    last = lay.layers_last * one + head
    uneven = (lay.layers_max * lay.pp > depth) & (lay.split_stated == 0)
    last = np.where(uneven, np.minimum(last, np.maximum((depth * one + head) / lay.pp, head)), last)
    last_is_slowest = (lay.pp <= 1) | (last >= lay.layers_max * one)
    own_head = np.where(last_is_slowest, 1.0, 0.0)
    count = np.where(last_is_slowest, (last - head) / one, lay.layers_max)
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


def step_parts(arch: Architecture, lay: Work, chip: Chip, k: Constants) -> Parts:
    """Seconds of one optimizer step by part; their sum is the step time.

    Parameters: arch (facts of the model), lay (layout), chip (sustained rates), k (constants by dotted name).
    Returns: compute, attention, memory, moe, tp, cp, ep, host, pp (sends between stages), bubble, dp, optimizer,
    scale [s].
    Source: step = slowest stage x m + idle + exposed; see each module for its formula.
    """
    stage, others = _stages(arch, lay, chip, k)
    busy = _sum(stage)
    parts: Parts = {name: np.asarray(p.total * lay.micro_batches) for name, p in stage.items()}
    sends = k["exposed.pp"] * exchange.boundary_seconds(arch, lay, chip, k)
    parts["pp"] = np.asarray(sends * lay.micro_batches)
    passes = (busy.forward + sends / 2.0, busy.backward + sends / 2.0, busy.weight)
    waiting = others + (lay.pp - 1.0) * sends
    parts["bubble"] = bubble.idle_seconds(lay.schedule, lay.pp, lay.vpp, lay.micro_batches, passes, waiting)
    parts["dp"] = _data_exposed(arch, lay, chip, k, busy.total)
    bandwidth = chip.hbm_bandwidth * k["optimizer.hbm_share"]
    updated = exchange.updated_parameters(arch, lay)
    parts["optimizer"] = elementwise.optimizer_seconds(updated, k["optimizer.bytes"], bandwidth)
    total = sum(parts.values(), np.zeros(()))
    parts["scale"] = total * k["scale.loss_per_doubling"] * np.log2(np.maximum(lay.accelerators / ONE_HOST, 1.0))
    return parts


def _data_exposed(arch: Architecture, lay: Work, chip: Chip, k: Constants, busy: Array) -> Array:
    """Exposed data-parallel seconds: ZeRO 3 hides behind every micro-batch, the others behind part of one."""
    seconds = exchange.data_seconds(arch, lay, chip, k)
    sharded = lay.zero_stage >= 3
    window = np.where(sharded, k["window.fsdp"] * lay.micro_batches, k["window.dp"]) * busy
    usual = np.where(sharded, k["exposed.fsdp"], k["exposed.dp"])
    return comm.exposed_seconds(seconds, window, np.where(lay.compiled > 0, k["exposed.compiled"], usual))


def step_seconds(parts: Parts) -> Array:
    """Step time [s]: the sum of the parts.

    >>> float(step_seconds({"compute": np.asarray(2.0), "dp": np.asarray(0.5)}))
    2.5
    """
    return np.asarray(sum(parts.values(), np.zeros(())))
