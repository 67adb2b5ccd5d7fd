"""Divisions over whole tables say the same as the identities over single layouts."""

import itertools

import numpy as np

from analysis.layout.legal import DIVISIONS, broken
from analysis.whatif.divisibility import contradictions

LLAMA_70B = {"heads": 64, "kv_heads": 8, "layers": 80, "seq_len": 4104, "global_batch": 96}


def test_table_and_single_layout_agree():
    grid = [
        LLAMA_70B | {"tp": tp, "cp": cp, "pp": pp, "vpp": vpp, "dp": dp, "micro_batch": 1, "sequence_parallel": tp > 1}
        for tp, cp, pp, vpp, dp in itertools.product((1, 3, 8, 16), (1, 2, 4), (1, 3, 8, 16), (1, 2, 5), (1, 5, 32))
    ]
    table = {name: np.asarray([float(row[name]) for row in grid]) for name in grid[0]}
    refused = np.logical_or.reduce([broken(table)[name] for name in DIVISIONS])
    assert refused.tolist() == [bool(list(contradictions(row))) for row in grid]
    assert 0 < refused.sum() < len(grid)


def test_experts_are_divided_over_their_ranks():
    # DeepSeek-V3: 256 routed experts; 96 ranks cannot share them evenly (its report, Section 4.2).
    moe = {"experts": np.array([256.0, 256.0]), "ep": np.array([64.0, 96.0])}
    assert broken(moe)["experts-divide"].tolist() == [False, True]
