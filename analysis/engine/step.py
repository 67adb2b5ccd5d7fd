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

from collections.abc import Mapping
from dataclasses import dataclass, fields, replace
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine.assumptions import Assumed, Assumption, Code, Mask
from analysis.engine.chip_facts import ChipFacts
from analysis.engine.stack import Stack
from analysis.engine.stage_layers import layers_of
from analysis.engine.tensors import trained_share
from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.physics import attention
from analysis.physics.efficiency import Recompute
from analysis.physics.split import Split
from analysis.physics.work import Work
from schemas.conventions import ELEMENT_BYTES

ALIBI_FAMILIES = ("mpt", "baichuan-13b", "baichuan2-13b")
"""Model families whose attention has an ALiBi bias (MPT: llm-foundry's configs; Baichuan-13B: its model card)."""
_OPERANDS = {words.FP32: "fp32", words.FP8: "fp8", words.MXFP8: "mxfp8", words.NVFP4: "nvfp4"}
OPERAND_BYTES = {code: ELEMENT_BYTES[name] for code, name in _OPERANDS.items()}
"""Bytes of an operand element by arithmetic, with one scale per 32 (MXFP8) or 16 elements (NVFP4)."""


@dataclass(frozen=True)
class Workload:
    """Work of every row, and what had to be assumed."""

    work: Work
    assumed: Assumed


def with_vocabulary(rows: Rows, usual: float) -> tuple[Rows, Assumed]:
    """The rows with a usual vocabulary where none is stated, which only the time of the output head depends on."""
    silent = np.isnan(rows.arch.vocab)
    if not silent.any():
        return rows, {}
    arch = replace(rows.arch, vocab=np.where(silent, usual, rows.arch.vocab))
    return replace(rows, arch=arch), {Assumption(Code.VOCABULARY, value=usual): np.broadcast_to(silent, (len(rows),))}


def _kernel(rows: Rows, facts: ChipFacts, assumed: Assumed) -> Array:
    """Kernel codes; cards without BF16 units are older than fused attention kernels."""
    old = facts.parts.spread(facts.parts.has_bf16) == 0
    silent = np.isnan(rows.kernel)
    assumed[Assumption(Code.FLASH)] = silent & ~old
    assumed[Assumption(Code.UNFUSED)] = silent & old
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


def _default(value: Array, usual: Array | float, assumed: Assumed, code: Code, where: Mask) -> Array:
    silent = np.isnan(value) & where
    assumed[Assumption(code)] = silent
    return np.where(np.isnan(value), usual, value)


def _hybrid_ranks(rows: Rows, facts: ChipFacts, assumed: Assumed) -> Array:
    domain = np.minimum(facts.links["scale_up_domain"], rows.split.dp)
    usual = np.where(rows.hybrid, domain, 0.0)
    stated = np.where(rows.split.shard_ranks > 0, rows.split.shard_ranks, np.nan)
    return _default(stated, usual, assumed, Code.SHARD_RANKS, rows.hybrid)


def _recompute(rows: Rows, unfused: Mask, full: Array, k: Recompute) -> dict[str, Array]:
    """Shares of each kind of work that backward repeats; `full` is 1 where an unstated row is taken as full."""
    stated = rows.recompute
    on_stage = rows.arch.layers / rows.split.pp
    some = np.where(stated.layer_count > 0, np.minimum(stated.layer_count / on_stage, 1.0), 1.0)
    layer = np.where(np.isnan(stated.layer), full, stated.layer * some)
    part = {f.name: np.nan_to_num(getattr(stated, f.name)) for f in fields(stated)}
    sharded = (rows.split.zero_stage >= 3) & (part["plain_selective"] > 0) & ~unfused
    operator = np.maximum(part["operator"], sharded)
    products = k.operator_share * operator
    light = k.light_share * np.maximum(part["norm"], part["expert_activation"])
    return {
        "recompute_layer": layer,
        "recompute_projections": np.maximum.reduce([layer, products, k.up_projection_share * part["qkv"]]),
        "recompute_mlp": np.maximum.reduce([layer, products, part["mlp"]]),
        "recompute_routed": np.maximum.reduce([layer, products, part["experts"]]),
        "recompute_shared": np.maximum.reduce([layer, products, part["shared_expert"]]),
        "recompute_core": np.maximum(layer, np.where(sharded, 0.0, part["core"])),
        "recompute_elementwise": np.maximum.reduce([layer, operator, light]),
    }


def _stages(rows: Rows, memory: Mapping[str, float]) -> dict[str, Array]:
    """Layers of the first, the fullest and the last stage (MTP depths counted there); whether the split is known."""
    split, stack = rows.split, Stack.of(rows, memory)
    dealt = [
        layers_of(rows, stack, memory, stage)[0]
        for stage in (np.zeros_like(split.pp), np.minimum(1.0, split.pp - 1.0), split.pp - 1.0)
    ]
    first, most, last = dealt[0], np.maximum.reduce(dealt), dealt[2]
    stated = np.where(stack.habit(memory, "balanced_split", 0.0) > 0, 1.0, 0.0)
    if rows.stage_layers.shape[1]:
        layers = np.nan_to_num(rows.stage_layers)
        final = layers[np.arange(len(rows)), np.nan_to_num(split.pp - 1.0).astype(np.intp) % layers.shape[1]]
        by_hand = layers.any(axis=1)
        stated = np.where(by_hand, 1.0, stated)
        ends = ((layers[:, 0], first), (layers.max(axis=1), most), (final, last))
        first, most, last = (np.where(by_hand, own, usual) for own, usual in ends)
    last = last + rows.arch.mtp_layers
    return {"layers_first": first, "layers_max": most, "layers_last": last, "split_stated": stated}


def workload(
    rows: Rows, facts: ChipFacts, k: Recompute, memory: Mapping[str, float], full_when_silent: Array | float = 0.0
) -> Workload:
    """What every rank runs in each row.

    Parameters
    ----------
    rows
        The table as read.
    facts
        Accelerators of the rows.
    k
        Constants of recomputation.
    memory
        Constants of the memory model with the table of stacks, which says how software deals layers.
    full_when_silent
        1 where a row that states no recompute has to be taken as full.

    Returns
    -------
    Workload
        Numbers for the time formulas, and what had to be assumed.
    """
    assumed: Assumed = {}
    kernel = _kernel(rows, facts, assumed)
    unfused = kernel == attention.UNFUSED
    full = np.broadcast_to(np.asarray(full_when_silent, dtype=float), (len(rows),))
    silent = np.isnan(rows.recompute.layer)
    assumed[Assumption(Code.RECOMPUTE_NONE)] = silent & (full == 0)
    assumed[Assumption(Code.RECOMPUTE_FULL)] = silent & (full > 0)
    split = rows.split
    degrees: dict[str, Any] = {f.name: getattr(split, f.name) for f in fields(Split)}
    shared = split.dp * split.cp > 1
    usual = np.where(unfused, 0.0, 1.0)
    degrees["zero_stage"] = _default(split.zero_stage, 1.0, assumed, Code.ZERO_STAGE, shared)
    degrees["sequence_parallel"] = _default(
        split.sequence_parallel, usual, assumed, Code.SEQUENCE_PARALLEL, split.tp > 1
    )
    degrees["shard_ranks"] = _hybrid_ranks(rows, facts, assumed)
    stages = _stages(rows, memory)
    with np.errstate(invalid="ignore"):
        uneven = (rows.arch.layers % (split.pp * split.vpp) > 0) & (stages["split_stated"] == 0)
    assumed[Assumption(Code.SPLIT)] = uneven
    dtype = rows.words.dtype
    work = Work(
        **degrees,
        **_recompute(rows, unfused, full, k),
        **stages,
        kernel=kernel,
        element_bytes=np.where(dtype == words.FP32, ELEMENT_BYTES["fp32"], ELEMENT_BYTES["bf16"]),
        bucket_bytes=Stack.of(rows, memory).habit(memory, "bucket_bytes", 0.0),
        trained=trained_share(rows, memory),
        unpacked_bytes=np.where(rows.words.adapter == words.ADAPTERS["qlora"], k.unpacked_bytes, 0.0),
        linear_bytes=np.select([dtype == code for code in OPERAND_BYTES], list(OPERAND_BYTES.values()), 2.0),
        quantised=np.where(dtype >= words.FP8, 1.0, 0.0),
        compiled=facts.parts.spread(facts.parts.compiled),
    )
    return Workload(work, {one: mask for one, mask in assumed.items() if mask.any()})
