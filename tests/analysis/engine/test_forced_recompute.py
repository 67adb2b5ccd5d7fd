"""Memory and time take the same rows as recomputing everything."""

import numpy as np

from analysis.engine.forced_recompute import has_to_recompute, with_recompute
from analysis.engine.peak_memory import predict_memory

from ..rows import CONSTANTS, read

LONG = {"seq_len": 131072, "recompute": ""}
"""What is kept of one sequence of 131,072 tokens takes 32 layers x 143 KB x 131,072 = 600 GB: far beyond any card."""


def test_a_row_that_cannot_keep_everything_is_recomputed_in_both() -> None:
    rows = read(LONG, {"recompute": ""})
    peak = predict_memory(rows, CONSTANTS)
    full = has_to_recompute(rows, np.zeros(2, dtype=bool), CONSTANTS, 1.5, peak)
    assert full.tolist() == [1, 0]
    taken = with_recompute(rows, peak, full, CONSTANTS)
    stated = predict_memory(read(LONG | {"recompute": "full"}), CONSTANTS)
    assert taken.best[0] == stated.best[0] < peak.best[0]
    assert taken.best[1] == peak.best[1]
    assert (taken.low == peak.low).all()
    assert (taken.high == peak.high).all()
    assert sum(float(part[0]) for part in taken.parts.values()) == float(taken.best[0])


def test_rows_that_fit_are_left_alone() -> None:
    rows = read({})
    peak = predict_memory(rows, CONSTANTS)
    assert with_recompute(rows, peak, np.zeros(1), CONSTANTS) is peak
