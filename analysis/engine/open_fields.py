"""Fields that change memory and that a row leaves open: both ends of what they can mean."""

from __future__ import annotations

from dataclasses import replace
from enum import Enum

import numpy as np

from analysis.engine.stack import Constants, Stack
from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.reasons import Mask
from analysis.physics import attention
from analysis.physics.memory_policy import MemoryPolicy


def unstated(rows: Rows) -> dict[str, Mask]:
    """Fields that change memory, and the rows that do not state them."""
    alone = rows.split.dp * rows.split.cp <= 1
    return {
        "recompute": np.isnan(rows.recompute.layer),
        "attention_kernel": np.isnan(rows.kernel),
        "zero_stage": np.isnan(rows.split.zero_stage) & ~alone,
        "sequence_parallel": np.isnan(rows.split.sequence_parallel),
        "etp": rows.number["open_etp"] > 0,
    }


class Reading(Enum):
    """How a field that is not stated is read."""

    LEAN = "the choice that needs least memory"
    USUAL = "what most software does"
    RICH = "the choice that needs most memory"


def assume(rows: Rows, reading: Reading) -> Rows:
    """The rows with each unstated field filled in.

    Usual is what the step time assumes too: fused attention, sequence parallelism with it, the distributed optimizer
    (ZeRO-1), nothing recomputed, experts that tensor parallelism does not split (as recipes of Megatron-Bridge set it;
    Megatron-LM's default splits them, which is the lean end). At the lean end pipelines shard optimizer states at most
    (ZeRO-1): with more, every micro-batch would reduce or gather again.
    """
    gaps = unstated(rows)
    if not any(mask.any() for mask in gaps.values()) and not np.isnan(rows.split.zero_stage).any():
        return rows
    rich = reading is Reading.RICH
    kernel = np.where(gaps["attention_kernel"], attention.UNFUSED if rich else attention.FLASH, rows.kernel)
    leanest = np.where(rows.split.pp > 1, 1.0, 3.0)
    stages = {Reading.LEAN: leanest, Reading.USUAL: np.asarray(1.0), Reading.RICH: np.asarray(0.0)}
    stage = np.where(gaps["zero_stage"], stages[reading], np.nan_to_num(rows.split.zero_stage))
    parallel = np.where(gaps["sequence_parallel"], 0.0 if rich else 1.0, rows.split.sequence_parallel)
    if reading is Reading.USUAL:
        parallel = np.where(gaps["sequence_parallel"] & (kernel == attention.UNFUSED), 0.0, parallel)
    shares = {name: np.nan_to_num(values) for name, values in vars(rows.recompute).items()}
    shares["layer"] = np.where(gaps["recompute"], 1.0 if reading is Reading.LEAN else 0.0, shares["layer"])
    etp = np.where(gaps["etp"] & (reading is Reading.LEAN), rows.split.tp, rows.split.etp)
    split = replace(rows.split, zero_stage=stage, sequence_parallel=parallel, etp=etp)
    return replace(rows, kernel=kernel, split=split, recompute=replace(rows.recompute, **shares))


def bracket(policy: MemoryPolicy, rows: Rows, stack: Stack, constants: Constants, *, lean: bool) -> MemoryPolicy:
    """The policy with what tables leave out at its leaner or richer step.

    Loss: chunked or PyTorch's own, Megatron's in-place or plain one, unless the software is known for one. PyTorch
    loops without compilation keep norms and gates piece by piece, and unknown software may. Mixtures of experts and
    latent attention: gradients and moments in BF16 (the precision-aware optimizer) or FP32. FP8: weights in FP8 only,
    or beside BF16 ones.
    """
    native, flash = stack.native, rows.kernel != attention.UNFUSED
    open_width = stack.megatron & ((rows.arch.mla > 0) | (rows.arch.experts > 0))
    kinds = ("chunked", "in_place") if lean else ("eager", "unfused")
    logits = [np.asarray(constants[f"logits.{kind}_bytes"]) for kind in kinds]
    own_loss = ~np.isnan(stack.habit(constants, "logit_bytes")) & stack.known
    open_loss = np.isnan(rows.stated.loss) & ~own_loss
    eager = np.where(native & (not lean), 1.0, 0.0)
    quantised = stack.megatron & (rows.words.dtype >= words.FP8) & (not lean)
    own_norm = np.where(native, 0.0, rows.arch.gated_mlp)
    gate = np.where(stack.known, policy.separate_gate, np.where(lean, 0.0, rows.arch.gated_mlp))
    return replace(
        policy,
        logit_bytes=np.select([native & open_loss, stack.megatron & flash & open_loss], logits, policy.logit_bytes),
        gradient=np.where(open_width & np.isnan(rows.stated.gradient), 2.0 if lean else 4.0, policy.gradient),
        moments=np.where(open_width & np.isnan(rows.stated.moment), 4.0 if lean else 8.0, policy.moments),
        weight=np.where(quantised, 2 * policy.weight, policy.weight),
        eager_norm=np.where(stack.known, np.maximum(eager, policy.eager_norm), np.where(lean, 0.0, eager + own_norm)),
        separate_gate=np.where(eager > 0, rows.arch.gated_mlp, gate),
    )
