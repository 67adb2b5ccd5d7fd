"""Stated splits of layers over stages."""

import numpy as np
import pytest

from analysis.layout.stage_split import counts

from ..rows import read


@pytest.mark.parametrize(
    ("text", "stages"),
    [("[7, 8, 8, 7]", [7, 8, 8, 7]), ("7,8,8,7", [7, 8, 8, 7]), ("7 8*2 7", [7, 8, 8, 7]), ("", [])],
)
def test_lists_in_any_dress(text: str, stages: list[float]) -> None:
    assert counts(text) == stages


def test_a_stated_split_is_kept_per_stage() -> None:
    rows = read({"layers_per_stage": "[7, 9, 9, 7]", "pp": 4, "dp": 2}, {})
    assert rows.stage_layers.tolist()[0] == [7, 9, 9, 7]
    assert np.isnan(rows.stage_layers[1]).all()


def test_chunks_of_interleaved_stages_are_added_up() -> None:
    rows = read({"layers_per_stage": "[7, 8, 8, 9]", "pp": 2, "vpp": 2, "dp": 4})
    assert rows.stage_layers.tolist() == [[15, 17]]


def test_rows_without_a_split_have_no_stages() -> None:
    assert read({}, {}).stage_layers.shape == (2, 0)


@pytest.mark.parametrize(
    ("text", "sentence"),
    [
        ("[8, 8, 8]", "layers_per_stage has 3 values for pp 4"),
        ("[8, 8, 8, 7]", "layers_per_stage adds up to 31, layers is 32"),
        ("a;b", "layers_per_stage is not understood: 'a;b'"),
        ("8*999999999999", "layers_per_stage is not understood: '8*999999999999'"),
        ("8" * 60 + "x", "layers_per_stage is not understood: '8888"),
    ],
)
def test_a_split_that_contradicts_the_row_is_refused(text: str, sentence: str) -> None:
    assert sentence in str(read({"layers_per_stage": text, "pp": 4, "dp": 2}).memory_reasons[0])
