"""Layout rows and a small accelerator table for tests of reading and prediction."""

from typing import Any

import pandas as pd

from analysis.layout.arrays import Rows, read_rows

LLAMA_8B: dict[str, Any] = {
    "id": "row", "accelerator": "nvidia/h100-sxm-80gb", "accelerators": 8, "layers": 32, "hidden": 4096,
    "ffn_hidden": 14336, "heads": 32, "kv_heads": 8, "head_dim": 128, "vocab": 128256, "gated_mlp": True,
    "tied_embeddings": False, "seq_len": 8192, "tp": 1, "sequence_parallel": False, "cp": 1, "pp": 1, "vpp": 1,
    "ep": 1, "dp": 8, "micro_batch": 1, "global_batch": 64, "precision": "bf16", "attention_kernel": "flash",
    "zero_stage": 1, "recompute": "none", "stack": "megatron-core",
}  # fmt: skip
ACCELERATORS = pd.DataFrame([
    {"id": "nvidia/h100-sxm-80gb", "name": "H100", "hbm_gb": 80, "usable_memory_gib": 79.65, "bf16_tflops": 989.5,
     "hbm_bandwidth_gb_s": 3350, "scale_out_gbit_s": 400, "int8_tops": 1979, "tdp_w": 700, "scale_up_domain": 8},
    {"id": "nvidia/a100-sxm-80gb", "name": "A100", "hbm_gb": 80, "bf16_tflops": 312, "scale_up_domain": 8},
])  # fmt: skip

CONSTANTS = {
    "logits.chunked_bytes": 4.0,
    "logits.in_place_bytes": 2.0,
    "logits.fused_bytes": 6.0,
    "logits.unfused_bytes": 10.0,
    "logits.eager_bytes": 14.0,
    "slack.reserved": 1.05,
    "slack.device": 1.2,
    "slack.widest_gaps": 0.45,
    "deepest_ratio": 300.0,
    "adapter.rank": 16.0,
    "adapter.four_bit_bytes": 0.5159,
    "stacks.megatron-core.reports": 0.0,
    "stacks.megatron-deepspeed.reports": 2.0,
    "stacks.torchtitan.reports": 1.0,
    "context_gib": 1.5,
    "bucket_gib": 2.0,
    "slack.device_prior": 1.093,
    "slack.gap_prior": 0.15,
    **{f"margin.{kind}.{end}": 0.1 for kind in ("torch", "device", "other") for end in ("low", "high")},
}


def table(*changes: dict[str, Any]) -> pd.DataFrame:
    """One row per change of the Llama row; without any, the row itself."""
    return pd.DataFrame([LLAMA_8B | change for change in changes or ({},)])


def read(*changes: dict[str, Any]) -> Rows:
    """The rows in base units."""
    return read_rows(table(*changes), ACCELERATORS)
