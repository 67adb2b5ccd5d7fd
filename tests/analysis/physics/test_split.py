"""Degrees: derived shares and refusals."""

import numpy as np
import pytest

from analysis.physics.split import split


def test_tokens_of_a_micro_batch_are_split_over_context_ranks() -> None:
    assert float(split(seq_len=8192, micro_batch=3, cp=4).tokens) == 6144


def test_the_residual_stream_is_split_only_with_sequence_parallelism() -> None:
    assert [float(split(seq_len=1, tp=8, sequence_parallel=p).residual_share) for p in (0, 1)] == [1, 0.125]


def test_replicas_are_data_and_context_ranks_or_the_stated_shard() -> None:
    assert float(split(seq_len=1, dp=8, cp=4).replicas) == 32
    assert float(split(seq_len=1, dp=8, cp=4, shard_ranks=8).replicas) == 8


def test_expert_replicas_are_the_rest_of_the_world() -> None:
    # Megatron-Core: expert data parallelism = world / (ETP * EP * PP)
    assert float(split(seq_len=1, tp=4, cp=2, pp=2, dp=8, ep=16, etp=1).expert_replicas) == 4 * 2 * 8 / 16
    assert float(split(seq_len=1, dp=8, ep=16).expert_replicas) == 1


def test_experts_follow_tp_unless_they_are_split_over_ep() -> None:
    assert float(split(seq_len=1, tp=4).etp) == 4
    assert float(split(seq_len=1, tp=4, ep=2).etp) == 1


def test_degrees_that_are_not_named_are_one() -> None:
    plain = split(seq_len=1)
    assert {
        float(getattr(plain, n)) for n in ("micro_batch", "micro_batches", "tp", "cp", "pp", "vpp", "ep", "dp")
    } == {1}
    assert {float(getattr(plain, n)) for n in ("sequence_parallel", "zero_stage", "shard_ranks")} == {0}


def test_misspelt_names_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="tensor_parallel"):
        split(tensor_parallel=8)


def test_rows_of_a_table_are_cut() -> None:
    assert split(seq_len=np.array([1.0, 2.0, 3.0])).rows(slice(1, 2)).seq_len.tolist() == [2]
