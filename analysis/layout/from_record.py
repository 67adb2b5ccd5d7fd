"""From a recorded phase to the layout row that the engine reads, and what had to be filled in to get there."""

from __future__ import annotations

import re
from math import ceil
from typing import Any

from analysis.layout.columns import MODEL
from analysis.records.facts import Facts
from analysis.records.spans import as_span

PHASE = (
    "accelerator", "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "sequence_parallel", "zero_stage", "fsdp_shard",
    "layers_per_stage", "seq_len", "micro_batch", "precision", "attention_kernel", "recompute", "schedule",
)  # fmt: skip
"""Columns that a phase states under the same name."""

Row = dict[str, Any]

FLASH_SINCE = "2023"
"""FlashAttention (arXiv:2205.14135) and sequence parallelism (arXiv:2205.05198) came out in May 2022, and into the
large frameworks within the year."""


SOFTWARE = (
    (r"nanotron", "nanotron"),
    (r"torchtitan", "torchtitan"),
    (r"megatron.*deepspeed|deepspeed.*megatron|gpt-neox", "megatron-deepspeed"),
    (r"megatron|nemo\b", "megatron-core"),
    (r"llm foundry|composer", "llm-foundry"),
    (r"transformers|llama-factory", "transformers"),
    (r"maxtext", "maxtext"),
)
"""Software of the table of stacks by the framework that a run names."""

IN_HOUSE = "megatron-core"
"""What software that splits tensors or layers and is not known is taken to be like: tuned, with fused kernels."""


def stack_of(facts: Facts) -> str | None:
    """Software of a run by the framework that it names; None where it names none that is known.

    >>> stack_of({"framework": "DeepSpeed and Megatron-LM"}), stack_of({"framework": "HAI-LLM"})
    ('megatron-deepspeed', None)
    """
    text = str(facts.get("framework", "")).lower()
    return next((stack for pattern, stack in SOFTWARE if re.search(pattern, text)), None)


def layout_row(facts: Facts, model: Facts) -> tuple[Row, Row]:
    """The columns of a layout row, and the values of unstated fields that were filled in so that it can be computed.

    Filled, each named: cp 1, and ep 1 of a mixture of experts (a report without them does not mention them);
    micro_batch 1 (the smallest there is: memory is then a lower bound); the deepest interleaving where a run says that
    it interleaves and not how deep; fused attention, and sequence parallelism beside TP, for runs released from
    2023 on; software like Megatron-LM where tensors or layers are split and the framework is not known. What is still
    missing makes the row unknown.

    >>> row, filled = layout_row({"tp": 8, "recompute_modules": "mlp"}, {"layers": 126})
    >>> row["layers"], row["recompute"], filled
    (126, ('mlp',), {'cp': 1, 'micro_batch': 1, 'stack': 'megatron-core'})
    """
    row: Row = {name: model[name] for name in MODEL if name in model}
    row |= {name: facts[name] for name in PHASE if name in facts}
    row["id"] = facts.get("name", "")
    if "accelerators" in facts:
        row["accelerators"] = round(as_span(facts["accelerators"]).best)
    if facts.get("fsdp"):
        row.setdefault("zero_stage", 3)
    if "recompute_modules" in facts:
        row["recompute"] = tuple(part.strip() for part in re.split("[,+]", facts["recompute_modules"]))
    batch = sequences(facts)
    if batch is not None:
        row["global_batch"] = batch
    fill: Row = {name: 1 for name in ("cp", "ep", "micro_batch") if name not in row}
    if row.get("schedule") == "interleaved" and "vpp" not in row and "pp" in row and "layers" in row:
        fill["vpp"] = ceil(row["layers"] / row["pp"])
    stack = stack_of(facts)
    if stack:
        row["stack"] = stack
    elif max(row.get("tp", 1), row.get("pp", 1)) > 1:
        fill["stack"] = IN_HOUSE
    if str(facts.get("released", "")) >= FLASH_SINCE:
        fill |= {} if "attention_kernel" in row else {"attention_kernel": "flash"}
        fill |= {"sequence_parallel": True} if row.get("tp", 1) > 1 and "sequence_parallel" not in row else {}
    return row | fill, {name: value for name, value in fill.items() if name != "ep" or "experts" in row}


def sequences(facts: Facts) -> int | None:
    """Sequences per optimizer step: stated, else tokens per step over the sequence length."""
    if "global_batch" in facts:
        return round(as_span(facts["global_batch"]).best)
    if "global_batch_tokens" in facts and "seq_len" in facts:
        return round(as_span(facts["global_batch_tokens"]).best / float(facts["seq_len"]))
    return None


def leanest(row: Row) -> tuple[Row, str]:
    """The same layout with everything that is not stated at its least memory, and the code of what was taken so."""
    taken = "none" if "zero_stage" in row else "most-sharded"
    lean = {"zero_stage": 3, "sequence_parallel": True} | row
    if row.get("ep", 1) > 1 and "tp" in row:
        lean.setdefault("etp", row["tp"])
    return lean | {"recompute": "full", "attention_kernel": "flash", "micro_batch": 1}, taken
