"""From layout rows to the work each rank runs; what a row leaves open is filled by how stacks behave, and said.

Open inputs that change the time and what stands in for them:
- zero_stage: 1, the distributed optimizer that Megatron-based recipes switch on; stages 0 to 2 take much the same time.
- the ranks of a hybrid shard: one scale-up domain, which is what the hybrid is for.
- attention_kernel: flash where the card can run it (all but Volta and older), unfused otherwise.
- sequence_parallel with tensor parallelism: on with a flash kernel, off without, as both came together.
- recompute: none, or full where everything kept cannot fit the card (superchips offload to their host instead).
Each of them is named in the result and widens its interval.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine.rates import ChipFacts
from analysis.layout import words as recipes
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array, Mask
from analysis.physics import attention, pipeline
from analysis.physics.split import Split
from analysis.physics.work import Work

#: Model families whose attention has an ALiBi bias (MPT: llm-foundry's configs; Baichuan-13B: its model card).
ALIBI_FAMILIES = ("mpt", "baichuan-13b", "baichuan2-13b")
#: Bytes of an operand element by arithmetic; NVFP4 has one FP8 scale per 16 elements.
OPERAND_BYTES = {recipes.FP32: 4.0, recipes.FP8: 1.0, recipes.MXFP8: 1.03, recipes.NVFP4: 0.5625}
#: Share of the projections' FLOP that latent attention's up projections make.
UP_PROJECTION_SHARE = 0.6
OPERATOR_SHARE = 0.5
"""Operator-level checkpointing keeps every second matrix product (torchtitan, activation_checkpoint.py)."""


#: Architectures whose programs are compiled whole (XLA on TPU, Neuron on Trainium).
COMPILED = ("tpu-", "trainium")


@dataclass(frozen=True)
class Workload:
    """Work of every row, and by sentence the rows in which something had to be assumed."""

    work: Work
    assumed: dict[str, Mask]


def _kernel(rows: Rows, facts: ChipFacts, assumed: dict[str, Mask]) -> Array:
    old = np.asarray([n in ("volta", "pascal", "turing") for n in facts.architectures])[facts.code]
    silent = np.isnan(rows.kernel)
    if silent.any():
        assumed["attention_kernel is not stated (flash assumed)"] = silent & ~old
        assumed["attention_kernel is not stated (unfused assumed on this card)"] = silent & old
    kernel = np.where(silent, np.where(old, attention.UNFUSED, attention.FLASH), rows.kernel)
    biased = has_alibi(rows.model_name)
    return np.where((kernel == attention.FLASH) & biased, attention.FLASH_BIAS, kernel)


def has_alibi(model_names: npt.NDArray[np.object_]) -> Mask:
    """Rows whose model belongs to a family known for an attention bias.

    >>> has_alibi(np.asarray(["MPT-7b", "Llama-2-7B"], dtype=object)).tolist()
    [True, False]
    """
    codes, distinct = pd.factorize(model_names)
    known = [str(name).lower().replace(" ", "-").startswith(ALIBI_FAMILIES) for name in distinct] + [False]
    return np.asarray(np.asarray(known)[codes], dtype=bool)


def _default(value: Array, usual: Array | float, assumed: dict[str, Mask], sentence: str, where: Mask) -> Array:
    silent = np.isnan(value) & where
    if silent.any():
        assumed[sentence] = silent
    return np.where(np.isnan(value), usual, value)


def _hybrid_ranks(rows: Rows, facts: ChipFacts, assumed: dict[str, Mask]) -> Array:
    domain = np.minimum(facts.links["scale_up_domain"], rows.split.dp)
    usual = np.where(rows.hybrid, domain, 0.0)
    stated = np.where(rows.split.shard_ranks > 0, rows.split.shard_ranks, np.nan)
    return _default(stated, usual, assumed, "fsdp_shard is not stated (one scale-up domain assumed)", rows.hybrid)


def _recompute(rows: Rows, unfused: Mask, full: Array) -> dict[str, Array]:
    """Shares of each kind of work that backward repeats; `full` is 1 where an unstated row is taken as full."""
    said = rows.recompute
    on_stage = rows.arch.layers / rows.split.pp
    some = np.where(said.layer_count > 0, np.minimum(said.layer_count / on_stage, 1.0), 1.0)
    layer = np.where(np.isnan(said.layer), full, said.layer * some)
    part = {f.name: np.nan_to_num(getattr(said, f.name)) for f in fields(said)}
    sharded = (rows.split.zero_stage >= 3) & (part["plain_selective"] > 0) & ~unfused
    operator = OPERATOR_SHARE * np.maximum(part["operator"], sharded)
    light = np.maximum(part["norm"], part["expert_activation"]) / 2.0
    return {
        "recompute_layer": layer,
        "recompute_projections": np.maximum.reduce([layer, operator, UP_PROJECTION_SHARE * part["qkv"]]),
        "recompute_mlp": np.maximum.reduce([layer, operator, part["mlp"]]),
        "recompute_routed": np.maximum.reduce([layer, operator, part["experts"]]),
        "recompute_shared": np.maximum.reduce([layer, operator, part["shared_expert"]]),
        "recompute_core": np.maximum(layer, np.where(sharded, 0.0, part["core"])),
        "recompute_elementwise": np.maximum.reduce([layer, 2.0 * operator, light]),
    }


def _stages(rows: Rows) -> dict[str, Array]:
    """Layers of the fullest stage and of the last one (MTP depths counted there), and whether the row states them."""
    split = rows.split
    held = [
        pipeline.layers_on_stage(rows.arch.layers, split.pp, split.vpp, stage)
        for stage in (np.zeros_like(split.pp), np.minimum(1.0, split.pp - 1.0), split.pp - 1.0)
    ]
    most, last = np.maximum.reduce(held), held[2]
    stated = np.zeros(len(rows))
    if rows.stage_layers.shape[1]:
        told = np.nan_to_num(rows.stage_layers)
        final = told[np.arange(len(rows)), np.nan_to_num(split.pp - 1.0).astype(np.intp) % told.shape[1]]
        stated = np.where(told.any(axis=1), 1.0, 0.0)
        most, last = np.where(stated > 0, told.max(axis=1), most), np.where(stated > 0, final, last)
    return {"layers_max": most, "layers_last": last + rows.arch.mtp_layers, "split_stated": stated}


def workload(rows: Rows, facts: ChipFacts, full_when_silent: Array | float = 0.0) -> Workload:
    """What every rank runs in each row.

    Parameters: rows (as read), facts (accelerators), full_when_silent (1 where a row
    that states no recompute has to be taken as full).
    """
    assumed: dict[str, Mask] = {}
    kernel = _kernel(rows, facts, assumed)
    unfused = kernel == attention.UNFUSED
    full = np.broadcast_to(np.asarray(full_when_silent, dtype=float), (len(rows),))
    silent = np.isnan(rows.recompute.layer)
    assumed["recompute is not stated (none assumed)"] = silent & (full == 0)
    assumed["recompute is not stated (full assumed, since none would not fit)"] = silent & (full > 0)
    split = rows.split
    degrees: dict[str, Any] = {f.name: getattr(split, f.name) for f in fields(Split)}
    parallel = split.tp > 1
    degrees["zero_stage"] = _default(
        split.zero_stage, 1.0, assumed, "zero_stage is not stated (1 assumed)", split.dp * split.cp > 1
    )
    degrees["sequence_parallel"] = _default(
        split.sequence_parallel, np.where(unfused, 0.0, 1.0), assumed, "sequence_parallel is not stated", parallel
    )
    degrees["shard_ranks"] = _hybrid_ranks(rows, facts, assumed)
    dtype = rows.words.dtype
    operand = np.select([dtype == code for code in OPERAND_BYTES], list(OPERAND_BYTES.values()), 2.0)
    work = Work(
        **degrees, **_recompute(rows, unfused, full), kernel=kernel, linear_bytes=operand,
        quantised=np.where(dtype >= recipes.FP8, 1.0, 0.0), **_stages(rows),
        compiled=facts.by_architecture([float(n.startswith(COMPILED)) for n in facts.architectures]),
    )  # fmt: skip
    return Workload(work, {sentence: mask for sentence, mask in assumed.items() if mask.any()})
