"""Models beyond plain attention: windows, chunks, an indexer, linear layers; and those that no field describes."""

from pathlib import Path

import numpy as np
import pytest

from analysis.layout.table import table_of
from analysis.physics.architecture import describe
from analysis.physics.flops import attention_context, per_token
from analysis.records.load import Catalogue
from analysis.whatif.fit import fit
from etl.importers.counting import arguments
from etl.importers.formats_list import read_files

LAYOUT = {
    "accelerator": "nvidia/h100-sxm-80gb", "accelerators": 64, "seq_len": 32768, "global_batch": 64, "micro_batch": 1,
    "zero_stage": 1, "precision": "bf16", "recompute": "full", "attention_kernel": "flash",
}  # fmt: skip


@pytest.mark.parametrize(
    ("model", "seq_len", "gflop", "tolerance"),
    [
        ("openai/gpt-oss-20b", 32768, 31.37, 0.001),  # AI-Hypercomputer/maxtext#2009: half of the layers see 128 tokens
        ("deepseek/deepseek-v3.2", 131072, 446, 0.02),  # AI-Hypercomputer/maxtext#2979: 2,048 keys and the indexer
        ("zhipu/glm-5", 131072, 397, 0.02),  # the same with 32 indexer heads
    ],
)
def test_causal_flop_per_token(catalogue: Catalogue, model: str, seq_len: int, gflop: float, tolerance: float) -> None:
    flop = per_token(describe(catalogue.models[model]), seq_len)["causal"]
    assert float(flop) / 1e9 == pytest.approx(gflop, rel=tolerance)


def test_a_quarter_of_the_layers_of_qwen3_next_scores_tokens(catalogue: Catalogue) -> None:
    # NVIDIA-NeMo/Megatron-Bridge#3029: 12 of 48 layers; 16 heads of 256: 9.66e9 FLOP/token of scores at 32,768
    arch = describe(catalogue.models["alibaba/qwen3-next-80b-a3b"])
    scores = 6 * arch.heads * (arch.qk_dim + arch.v_dim) * attention_context(arch, np.asarray(32768.0), causal=True)
    assert float(scores) == pytest.approx(9.66e9, rel=1e-3)


@pytest.mark.parametrize(
    ("model", "total"),
    [
        # huggingface.co/Qwen/Qwen3-Next-80B-A3B-Instruct: 81.3e9 with its prediction module, 79.67e9 without
        ("alibaba/qwen3-next-80b-a3b", 79_674_391_296),
        # DeepSeek-V3's 671,026,419,200 and an indexer of 13,959,424 parameters in each of 61 layers
        ("deepseek/deepseek-v3.2", 671_026_419_200 + 61 * (1536 * 8192 + 7168 * 192 + 256)),
    ],
)
def test_exact_counts(catalogue: Catalogue, model: str, total: int) -> None:
    assert catalogue.models[model]["exact_total"] == total


def test_chunks_meet_half_a_chunk_and_windows_nearly_a_whole_one() -> None:
    # 8 layers at 1,024 tokens: full attention meets 512 keys on average, chunks of 128 meet 64, windows of 128 meet
    # 128 - 128^2 / 2,048 = 120
    plain = {"layers": 8, "hidden": 64, "heads": 4}
    met = {
        name: float(attention_context(describe(plain | change), np.asarray(1024.0), causal=True))
        for name, change in {
            "full": {},
            "chunk": {"attention_chunk": 128, "attention_chunk_layers": 6},
            "window": {"sliding_window": 128, "sliding_window_layers": 6},
            "picked": {"index_topk": 128, "index_heads": 4, "index_head_dim": 16},
            "linear": {"linear_layers": 6},
        }.items()
    }
    assert met == {"full": 8 * 512, "chunk": 2 * 512 + 6 * 64, "window": 2 * 512 + 6 * 120, "picked": 8 * 120,
                   "linear": 2 * 512}  # fmt: skip


def test_chunks_of_llama_4_shorten_attention(catalogue: Catalogue) -> None:
    # 12 full layers and 36 with chunks of 8,192 (model card): at 131,072 tokens 12 x 65,536 + 36 x 4,096
    arch = describe(catalogue.models["meta/llama-4-scout"])
    assert float(attention_context(arch, np.asarray(131072.0), causal=True)) == 12 * 65536 + 36 * 4096


@pytest.mark.parametrize("model", ["nvidia/nemotron-h-8b", "minimax/minimax-text-01", "tii/falcon-mamba-7b"])
def test_layers_that_no_field_describes_are_unknown_by_name(catalogue: Catalogue, model: str) -> None:
    facts = catalogue.models[model]
    assert "exact_total" not in facts
    found = fit(facts, LAYOUT, catalogue)
    assert found.verdict == "unknown"
    assert "not_modelled" in found.why
    assert not np.isfinite(found.breakdown.prediction["memory_gib"])


def test_a_config_and_its_record_are_one_model(catalogue: Catalogue) -> None:

    config = Path(__file__).parents[1] / "data" / "models-as-they-are" / "qwen3-next.json"
    from_config = fit(arguments(read_files([str(config)])), LAYOUT | {"ep": 8}, catalogue)
    from_record = fit(catalogue.models["alibaba/qwen3-next-80b-a3b"], LAYOUT | {"ep": 8}, catalogue)
    for name in ("memory_gib", "step_time_s"):
        assert from_config.breakdown.prediction[name] == pytest.approx(from_record.breakdown.prediction[name])


def test_the_table_of_layouts_knows_every_new_fact() -> None:
    facts = {"linear_layers": 36, "index_topk": 2048, "attention_chunk": 8192, "attention_gate": True}
    assert table_of([facts])[list(facts)].iloc[0].tolist() == [36, 2048, 8192, 1]
