"""The nearest published measurements of a layout."""

import numpy as np
import pandas as pd
import pytest

from analysis.layout.table import table_of
from analysis.whatif.csv_table import explained
from analysis.whatif.neighbours import LARGEST_TABLE, nearest
from schemas.refusal import RefusalError

from ..rows import LLAMA_8B


def measured(*changes):
    """Published rows: the Llama row with changes, timed by hand."""
    rows = [
        LLAMA_8B
        | {"id": f"r{i}", "source": f"table-{i}", "model_name": "Llama", "step_time_s": 2.0, "memory_gib": np.nan}
        | change
        for i, change in enumerate(changes)
    ]
    return pd.DataFrame(rows)


def names(found):
    return [one.row for one in found]


def test_the_row_itself_is_its_nearest_neighbour(catalogue):
    rows = measured({"tp": 8, "dp": 1}, {}, {"layers": 64})
    found = nearest(table_of([LLAMA_8B]), rows, catalogue)[0]
    assert names(found) == ["r1", "r2", "r0"]
    assert found[0].distance == 0
    assert found[0].measured_s == 2.0
    assert found[0].modelled_s > 0


def test_another_part_counts_more_than_twice_the_batch(catalogue):
    rows = measured({"accelerator": "nvidia/a100-sxm-80gb"}, {"micro_batch": 2})
    assert names(nearest(table_of([LLAMA_8B]), rows, catalogue)[0]) == ["r1", "r0"]


def test_a_row_without_measurement_is_no_neighbour(catalogue):
    rows = measured({"step_time_s": np.nan}, {})
    assert names(nearest(table_of([LLAMA_8B]), rows, catalogue)[0]) == ["r1"]
    assert nearest(table_of([LLAMA_8B]), rows.iloc[:1], catalogue) == [[]]


def test_one_table_of_one_layout_counts_once(catalogue):
    rows = measured({"source": "same"}, {"source": "same"}, {"source": "other"})
    assert names(nearest(table_of([LLAMA_8B]), rows, catalogue)[0]) == ["r0", "r2"]


def test_too_many_rows_are_refused(catalogue):
    many = pd.DataFrame({"tp": range(LARGEST_TABLE + 1)})
    with pytest.raises(RefusalError, match="--explain answers 10,000 rows at most"):
        explained(many, measured({}), catalogue)
