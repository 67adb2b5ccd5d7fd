"""What is stored unless said otherwise."""

import numpy as np
import pytest

from analysis.physics.memory_policy import memory_policy


def test_a_policy_is_eighteen_bytes_unless_said_otherwise() -> None:
    # Megatron-LM, distributed optimizer's table (docs, "Distributed Optimizer"): BF16 with FP32 gradients, 18 B
    plain = memory_policy()
    assert float(plain.weight + plain.gradient + plain.master + plain.moments) == 18
    assert (float(plain.working_weight), float(plain.linear_input), float(plain.logit_bytes)) == (2, 2, 10)
    assert float(plain.recompute.layer) == 0


def test_misspelt_names_are_refused_by_name() -> None:
    with pytest.raises(ValueError, match="gradients"):
        memory_policy(gradients=4)
    with pytest.raises(ValueError, match="attention"):
        memory_policy(recompute={"attention": 1})


def test_rows_of_a_table_are_cut() -> None:
    table = memory_policy(weight=np.array([2.0, 4.0]), recompute={"core": np.array([0.0, 1.0])})
    second = table.rows(slice(1, 2))
    assert (second.weight.tolist(), second.recompute.core.tolist()) == ([4], [1])
