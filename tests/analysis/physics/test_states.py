"""Weights, gradients and optimizer states against papers and cases people stumbled over."""

from typing import Any

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from analysis.physics import bubble, pipeline, states
from analysis.physics.architecture import describe
from analysis.physics.parameters import Buckets, count
from analysis.physics.split import split

from .policies import policy
from .published import DEEPSEEK_V3, GPT_1T, GPT_22B, GPT_175B, GPT_530B, LLAMA_3_405B, MIXTRAL, Facts, gpt

GIB = 2.0**30
ZERO = np.asarray(0.0)


def total(parameters: float, experts: float = 0.0, cut: dict[str, Any] | None = None, **widths: float) -> float:
    """Bytes of all states of a rank that holds so many parameters."""
    held = (np.asarray(parameters), np.asarray(experts))
    return float(sum(states.state_bytes(held, split(seq_len=1, **(cut or {})), policy(**widths)).values()))


def on_stage(facts: Facts, stage: int, **cut: Any) -> float:
    """GiB of the states (18 B mixed precision) of one rank of a stage."""
    arch, cuts = describe(facts), split(seq_len=2048, micro_batches=512, **cut)
    place = pipeline.place(arch, cuts, np.asarray(float(stage)))
    held = states.stage_on_rank(states.rank_pieces(arch, cuts), place)
    return float(sum(states.state_bytes(held, cuts, policy()).values())) / GIB


@pytest.mark.parametrize(("zero_stage", "gb"), [(0, 120), (1, 31.4), (2, 16.6), (3, 1.9)])
def test_zero_stages_match_figure_1_of_the_paper(zero_stage: int, gb: float) -> None:
    # arXiv:1910.02054, fig. 1: 7.5e9 parameters on 64 ranks, 16 B each
    bytes_needed = total(7.5e9, cut={"dp": 64, "zero_stage": zero_stage}, gradient=2)
    assert bytes_needed / 1e9 == pytest.approx(gb, abs=0.051)


@pytest.mark.parametrize(
    ("facts", "pp", "gib"), [(GPT_22B, 1, 46.24), (GPT_175B, 8, 46.89), (GPT_530B, 35, 33.84), (GPT_1T, 64, 35.71)]
)
def test_first_stage_states_of_korthikanti_2022(facts: Facts, pp: int, gib: float) -> None:
    # layouts of arXiv:2205.05198, table 3: TP 8, no ZeRO, 18 B per parameter
    assert on_stage(facts | {"norm_vectors": 2}, 0, tp=8, pp=pp) == pytest.approx(gib, abs=0.0051)


@pytest.mark.parametrize(("stage", "gib"), [(0, 17.33), (7, 18.09), (15, 17.33)])
def test_llama_405b_is_heavier_in_the_middle(stage: int, gib: float) -> None:
    # arXiv:2407.21783, table 4: TP 8, PP 16 (7, 8, ..., 8, 7 layers), DP 128
    assert on_stage(LLAMA_3_405B, stage, tp=8, pp=16, dp=128, zero_stage=1) == pytest.approx(gib, abs=0.011)


@pytest.mark.parametrize(
    ("stage", "layers", "before", "gib"), [(0, 4.0, 0.0, 18.48), (7, 4.0, 28.0, 13.16), (15, 1.0, 60.0, 8.55)]
)
def test_deepseek_v3_stages(stage: int, layers: float, before: float, gib: float) -> None:
    # arXiv:2412.19437, sec. 3.2: PP 16, EP 64, ZeRO-1 over 128 ranks; MTP left out, 18 B per parameter
    arch = describe(DEEPSEEK_V3 | {"mtp_layers": 0})
    cut = split(seq_len=4096, pp=16, ep=64, dp=128, zero_stage=1)
    place = pipeline.place(arch, cut, np.asarray(float(stage)), np.asarray(layers), np.asarray(before))
    held = states.stage_on_rank(states.rank_pieces(arch, cut), place)
    assert float(sum(states.state_bytes(held, cut, policy()).values())) / GIB == pytest.approx(gib, abs=0.0051)


@pytest.mark.parametrize(("width", "tb"), [(16, 8.48), (18, 9.54), (20, 10.60)])
def test_530b_at_three_widths(width: int, tb: float) -> None:
    # github.com/Azure/MS-AMP/issues/173: 16-bit gradients, an FP32 buffer, or both
    gradient = {16: 2, 18: 4, 20: 6}[width]
    assert total(530e9, gradient=gradient) / 1e12 == pytest.approx(tb, abs=0.0051)


@pytest.mark.parametrize(("gradient", "gb"), [(2, 10.69), (4, 16.40)])
def test_zero_2_of_t5_3b_on_eight_cards(gradient: int, gb: float) -> None:
    # github.com/deepspeedai/DeepSpeed/pull/5099: 2P + 14P/N, not 4P + 16P/N = 17.11 GB
    kept = total(2851e6, cut={"dp": 8, "zero_stage": 2}, gradient=gradient)
    expected = {2: gb, 4: (2 * 2.851 + 16 * 2.851 / 8)}[gradient]
    assert kept / 1e9 == pytest.approx(expected, abs=0.0051)


def test_llama_8b_takes_128_gb_and_405b_6480_gb_of_states() -> None:
    assert total(8e9, gradient=2) / 1e9 == pytest.approx(128)
    assert total(405e9, gradient=2) / 1e12 == pytest.approx(6.48)
    assert np.ceil(total(405e9, gradient=2) / 80e9) == 81


def test_a_whole_half_precision_copy_of_7b_explains_what_nvidia_smi_showed() -> None:
    # github.com/deepspeedai/DeepSpeed/issues/4527: 14,678 MiB beside 12,980 MiB of weights
    weights = total(6805e6, gradient=0, master=0, moments=0)
    assert weights / 2**20 == pytest.approx(12_980, abs=1)


def test_offloaded_states_leave_the_device() -> None:
    assert total(1e9, cut={"zero_stage": 3, "dp": 4}, weight=0, gradient=0, master=0, moments=0) == 0


def test_unsharded_half_precision_weights_of_gpt_j() -> None:
    # github.com/deepspeedai/DeepSpeed/issues/4093: 11.27 GiB, not the 0.77 GB of its embedding alone
    assert total(6.05e9, gradient=0, master=0, moments=0) / GIB == pytest.approx(11.27, abs=0.005)


def test_twelve_bytes_per_parameter_are_mebibytes() -> None:
    # github.com/flagos-ai/FlagScale/pull/454: 4.1055e9 parameters, 46,983 MiB = 49,266 MB
    needed = total(4.1055e9, cut={"dp": 2, "zero_stage": 1})
    assert needed / 2**20 == pytest.approx(46_983, abs=1)
    assert needed / 1e6 == pytest.approx(49_266, abs=1)


def test_six_plus_twelve_over_two_is_twelve() -> None:
    # github.com/NVIDIA/TransformerEngine/pull/2043: 0.4860e9 parameters on the shard, 5562 "MB" are MiB
    assert total(0.4860e9, cut={"dp": 2, "zero_stage": 1}) / 2**20 == pytest.approx(5562, abs=1)


def test_a_pipeline_shard_adds_weights_gradients_and_sharded_states() -> None:
    # github.com/NVIDIA/Megatron-LM/pull/482: 0.80 + 1.61 + 0.60 GiB of 431.4e6 parameters at 2, 4 and 12/8 B
    parts = states.state_bytes((np.asarray(431.4e6), ZERO), split(seq_len=1, dp=8, zero_stage=1), policy())
    sizes = [float(parts[name]) / GIB for name in ("weights", "gradients")]
    sizes.append(float(parts["master_weights"] + parts["moments"]) / GIB)
    assert sizes == pytest.approx([0.80, 1.61, 0.60], abs=0.0051)


def test_experts_are_divided_by_expert_parallelism_and_not_by_tp() -> None:
    # github.com/NVIDIA/Megatron-LM/issues/4050: Mixtral at TP 2, EP 8, ETP 1: 1.605e9/2 + 45.10e9/8 = 6.44e9
    counted = count(MIXTRAL)
    buckets = Buckets(counted["tp_sharded"], counted["replicated"], counted["routed_experts"])
    dense, experts = states.on_rank(buckets, split(seq_len=1, tp=2, ep=8))
    assert float(dense + experts) == pytest.approx(6.44e9, rel=1e-3)
    assert float(experts) == 45_097_156_608 / 8


def test_expert_tensor_parallelism_divides_experts_too() -> None:
    bucket = Buckets(ZERO, ZERO, np.asarray(800.0))
    assert float(states.on_rank(bucket, split(seq_len=1, tp=4, ep=2, etp=4))[1]) == 100
    assert float(states.on_rank(bucket, split(seq_len=1, tp=4))[1]) == 200  # etp follows tp without ep


def test_each_rank_holds_48_of_384_experts() -> None:
    # github.com/ai-dynamo/aiconfigurator/pull/1390
    bucket = Buckets(ZERO, ZERO, np.asarray(384.0))
    assert float(states.on_rank(bucket, split(seq_len=1, ep=8))[1]) == 48


def test_all_experts_are_resident_not_only_the_active_ones() -> None:
    # github.com/signerless/llm-checker/issues/27
    assert on_stage(MIXTRAL, 0) * GIB == pytest.approx(18 * 46_702_792_704)


def test_expert_optimizer_states_are_divided_by_expert_data_parallelism() -> None:
    # github.com/NVIDIA/Megatron-LM/issues/2439: world / (ETP * EP * PP); here 4 * 8 ranks over EP 16
    cut = {"tp": 4, "dp": 8, "ep": 16, "etp": 1, "zero_stage": 1}
    assert total(0, experts=1000.0, cut=cut, weight=0, gradient=0) == 12 * 1000 / 2


def test_context_parallel_ranks_share_the_optimizer_states() -> None:
    assert total(1000.0, cut={"dp": 2, "cp": 4, "zero_stage": 1}, weight=0, gradient=0) == 12 * 1000 / 8


def test_a_hybrid_shard_divides_by_its_own_size_only() -> None:
    cut = {"dp": 64, "zero_stage": 3, "shard_ranks": 8}
    assert total(8000.0, cut=cut, weight=4, gradient=4, master=0) == 16 * 1000


def test_dualpipe_keeps_the_weights_twice() -> None:
    once, twice = (total(1000.0, cut={"schedule": s}) for s in (bubble.Schedule.ONE_F_ONE_B, bubble.Schedule.DUALPIPE))
    assert twice - once == 2 * 1000


def test_gathered_weights_by_hand() -> None:
    arch = describe(gpt(4, 64, 4, 512) | {"norm_vectors": 0, "tied_embeddings": 0})
    cut = split(seq_len=1, dp=8, zero_stage=3)
    pieces = states.rank_pieces(arch, cut)
    middle, last = (states.gathered_bytes(arch, cut, policy(), pieces, np.asarray(x)) for x in (0.0, 1.0))
    assert float(middle) == 2 * 2 * 12 * 64**2
    assert float(last - middle) == 2 * 2 * 512 * 64


@pytest.mark.parametrize(("pp", "micro_batches", "width"), [(1, 4, 0), (2, 1, 2), (2, 4, 2 + 4)])
def test_a_sharded_pipeline_keeps_weights_and_gradients_whole(pp: int, micro_batches: int, width: int) -> None:
    # torchtitan: reshard_after_forward is off with a pipeline; PyTorch's stages add gradients up without reducing them
    cut = split(seq_len=1, dp=8, zero_stage=3, pp=pp, micro_batches=micro_batches)
    assert float(states.kept_gathered_bytes((np.asarray(100.0), np.asarray(20.0)), cut, policy())) == 120 * width


def test_nothing_is_gathered_layer_by_layer_in_a_pipeline() -> None:
    arch, cut = describe(MIXTRAL), split(seq_len=1, dp=8, zero_stage=3, pp=2)
    assert float(states.gathered_bytes(arch, cut, policy(), states.rank_pieces(arch, cut), np.asarray(1.0))) == 0


def test_a_mixture_gathers_its_moe_layers() -> None:
    arch, cut = describe(MIXTRAL), split(seq_len=1, dp=8, zero_stage=3)
    layer = 3 * 8 * 4096 * 14336 + 4096 * 8 + 4096 * (2 * 4096 + 2 * 1024) + 2 * 4096
    gathered = states.gathered_bytes(arch, cut, policy(), states.rank_pieces(arch, cut), np.asarray(0.0))
    assert float(gathered) == 2 * 2 * layer


def test_nothing_is_gathered_below_zero_3() -> None:
    arch, cut = describe(GPT_22B), split(seq_len=1, dp=8, zero_stage=2)
    assert float(states.gathered_bytes(arch, cut, policy(), states.rank_pieces(arch, cut), np.asarray(1.0))) == 0


def test_a_tied_head_is_stored_twice_in_a_pipeline_and_once_without() -> None:
    small = gpt(4, 64, 4, 512)
    whole, first, last = on_stage(small, 0), on_stage(small, 0, pp=2), on_stage(small, 1, pp=2)
    assert (first + last - whole) * GIB == pytest.approx(18 * 512 * 64)


def test_prediction_depths_are_stored_on_the_last_stage() -> None:
    base = DEEPSEEK_V3 | {"mtp_own_embedding": 0}
    extra = [on_stage(base, i, pp=4) - on_stage(base | {"mtp_layers": 0}, i, pp=4) for i in (0, 3)]
    more = count(base)["total_with_mtp"] - count(base)["total"]
    assert extra[0] == 0
    assert extra[1] * GIB == pytest.approx(18 * float(more))


@given(st.integers(0, 3), st.integers(1, 512), st.floats(1e6, 1e12))
def test_sharding_further_never_needs_more(zero_stage: int, dp: int, parameters: float) -> None:
    less = total(parameters, cut={"dp": dp * 2, "zero_stage": zero_stage})
    assert less <= total(parameters, cut={"dp": dp, "zero_stage": zero_stage})
    assert total(parameters, cut={"dp": dp, "zero_stage": 3}) <= less * 2


@given(st.floats(1e6, 1e12))
def test_one_rank_has_nothing_to_shard(parameters: float) -> None:
    sizes = {total(parameters, cut={"zero_stage": stage}) for stage in range(4)}
    assert len(sizes) == 1


@given(st.integers(1, 8), st.integers(1, 4))
def test_stages_add_up_to_the_model(pp: int, tp: int) -> None:
    untied = gpt(16, 64, 4, 512) | {"tied_embeddings": 0, "norm_vectors": 0}
    stages = sum(on_stage(untied, stage, pp=pp, tp=tp) for stage in range(pp))
    assert stages * tp * GIB == pytest.approx(18 * float(count(untied)["total"]))
