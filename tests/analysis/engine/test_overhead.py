"""Software whose habits are known, and adapters, against published measurements."""

from typing import Any

import pandas as pd
import pytest

from analysis.engine.peak_memory import PeakMemory, predict_memory
from analysis.engine.stack import memory_constants
from analysis.layout.arrays import read_rows
from analysis.records.load import Catalogue

from ..rows import LLAMA_8B

GIB = 2.0**30
NANOTRON = LLAMA_8B | {
    "layers": 16, "hidden": 2048, "ffn_hidden": 8192, "heads": 32, "kv_heads": 32, "head_dim": 64, "vocab": 131072,
    "tied_embeddings": True, "seq_len": 4096, "stack": "nanotron",
}  # fmt: skip
LLAMA_2_7B = LLAMA_8B | {
    "ffn_hidden": 11008, "kv_heads": 32, "vocab": 32000, "accelerators": 1, "dp": 1, "zero_stage": 0, "stack": "litgpt",
    "precision": "bf16-true",
}  # fmt: skip


def predicted(catalogue: Catalogue, base: dict[str, Any], **change: object) -> PeakMemory:
    """Peak memory of one row with the constants that ship."""
    rows = read_rows(pd.DataFrame([base | change]), catalogue.accelerators)
    return predict_memory(rows, memory_constants(catalogue.constants))


@pytest.mark.parametrize(
    ("change", "gib", "tolerance"),
    [
        # Ultra-Scale Playbook, bench_final2_mfu2.csv: torch max_memory_reserved of rank 0, 1.34B model
        ({"zero_stage": 0, "micro_batch": 2, "global_batch": 256}, 50.18, 0.05),
        ({"zero_stage": 0, "micro_batch": 1, "global_batch": 256}, 36.67, 0.07),
        ({"zero_stage": 1, "micro_batch": 1, "global_batch": 256}, 24.24, 0.06),
    ],
)
def test_nanotron_reserves_what_its_sweep_measured(
    catalogue: Catalogue, change: dict[str, object], gib: float, tolerance: float
) -> None:
    assert predicted(catalogue, NANOTRON, **change).best[0] / GIB == pytest.approx(gib, rel=tolerance)


def test_nanotron_keeps_twenty_bytes_per_parameter_among_replicas(catalogue: Catalogue) -> None:
    # same table: 25.07 GiB allocated after the backward pass of 1.34e9 parameters; 2 + 2 + 4 + 4 + 8 B
    states = predicted(catalogue, NANOTRON, zero_stage=0, global_batch=256).parts
    held = sum(float(states[name][0]) for name in ("weights", "gradients", "master_weights", "moments"))
    assert held / GIB == pytest.approx(25.07, rel=0.005)


@pytest.mark.parametrize(("micro_batch", "gb"), [(1, 21.3), (2, 29.07)])
def test_adapters_of_litgpt(catalogue: Catalogue, micro_batch: int, gb: float) -> None:
    # LitGPT, tutorials/resource-tables.md: Llama 2 7B, LoRA r 8, bf16-true, 1304 tokens, max_memory_allocated [GB]
    lora = {"model_name": "Llama 2 7B LoRA", "adapter_rank": 8, "seq_len": 1304, "micro_batch": micro_batch,
            "global_batch": micro_batch, "memory_kind": "allocated"}  # fmt: skip
    assert predicted(catalogue, LLAMA_2_7B, **lora).best[0] / 1e9 == pytest.approx(gb, rel=0.1)


def test_a_four_bit_base_of_torchtune(catalogue: Catalogue) -> None:
    # torchtune README, memory and training speed: Llama 3 8B QLoRA on one RTX 4090, 2 x 2048 tokens: 7.4 GiB
    qlora = {"adapter": "qlora", "accelerators": 1, "dp": 1, "seq_len": 2048, "micro_batch": 2, "global_batch": 2,
             "recompute": "full", "precision": "bf16 pure", "zero_stage": 0, "stack": "torchtune"}  # fmt: skip
    assert predicted(catalogue, LLAMA_8B, **qlora).best[0] / GIB == pytest.approx(7.4, rel=0.15)


def test_a_base_that_is_frozen_has_no_optimizer(catalogue: Catalogue) -> None:
    parts = predicted(catalogue, LLAMA_2_7B, adapter="lora").parts
    assert float(parts["weights"][0]) == 2 * 6_738_415_616  # huggingface.co/meta-llama/Llama-2-7b
    assert float(parts["moments"][0]) < 0.02 * float(parts["weights"][0])


@pytest.mark.parametrize("precision", ["fp32", "tf32"])
def test_activations_in_four_bytes_take_twice_the_room(catalogue: Catalogue, precision: str) -> None:
    # github.com/manuelescobar-dev/LLM-Tools, issue 6: FP32 activations counted as 16-bit ones
    half, single = (predicted(catalogue, LLAMA_8B, precision=p).parts for p in ("bf16", precision))
    softmax = 4 * 32 * 8192 * 32  # one FP32 number per head, token and layer, whatever the activations are
    assert float(single["activations"][0]) - softmax == pytest.approx(2 * (float(half["activations"][0]) - softmax))
    assert float(single["head"][0]) == 2 * float(half["head"][0])


def test_unknown_software_is_answered_with_a_wider_range(catalogue: Catalogue) -> None:
    known, unknown = (predicted(catalogue, LLAMA_8B, stack=name) for name in ("megatron-core", "somebody's own"))
    width = [float(found.high[0] - found.low[0]) for found in (known, unknown)]
    assert width[1] > width[0]
    assert unknown.low[0] <= known.best[0] <= unknown.high[0]
