"""Tables of layouts from the shell: read whole, resolved by name, written whole or not at all."""

import pandas as pd
import pytest

from analysis.layout.columns import REQUIRED
from analysis.whatif.csv_table import RefusalError, fill_models, filled, read, render, run, write

from ..rows import LLAMA_8B


def csv(tmp_path, text):
    path = tmp_path / "rows.csv"
    path.write_bytes(text if isinstance(text, bytes) else text.encode())
    return path


HEADER = ",".join(REQUIRED)


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ("id,accelerator\nx,y\n", "lacks the columns"),
        ("", "cannot be read as CSV"),
        (b"\xff\xfe\x00\x01", "cannot be read as CSV"),
        (HEADER.replace(",tp,", ",") + "\n", "lacks the column tp"),
        (HEADER + "\n" + "1," * len(REQUIRED) + "\n", "more columns than the header"),
    ],
)
def test_a_table_that_cannot_be_used_gets_one_sentence(tmp_path, content, words):
    with pytest.raises(RefusalError, match=words):
        read(csv(tmp_path, content))


def test_a_missing_file_is_named(tmp_path):
    with pytest.raises(RefusalError, match=r"nowhere\.csv cannot be read"):
        read(tmp_path / "nowhere.csv")


def test_no_rows_give_no_rows(tmp_path, catalogue):
    assert len(run(*filled(read(csv(tmp_path, HEADER + "\n")), catalogue, dict), catalogue)) == 0


@pytest.mark.parametrize(
    ("column", "value"),
    [("tp", "-8"), ("tp", "eight"), ("hidden", "nan"), ("layers", ""), ("seq_len", "1e30"), ("accelerator", "nvidia/x"),
     ("heads", "inf"), ("global_batch", "0")],
)  # fmt: skip
def test_a_bad_cell_makes_its_own_row_unknown_and_names_the_field(tmp_path, catalogue, column, value):
    rows = [{k: str(v) for k, v in LLAMA_8B.items()} for _ in range(2)]
    rows[1][column] = value
    good, bad = run(*filled(pd.DataFrame(rows, dtype=str), catalogue, dict), catalogue).to_dict("records")
    assert good["step_time_s"] > 0
    assert pd.isna(bad["step_time_s"])
    assert column in bad["missing"]


def test_a_model_record_fills_blank_architecture_cells_only(catalogue):
    names = ("id", "model", "layers", "hidden")
    table = pd.DataFrame([dict(zip(names, ("a", "meta/llama-3.1-405b", "", "1024"), strict=True))], dtype=str)
    filled, why = fill_models(table, catalogue.models, dict)
    assert (filled["layers"][0], filled["hidden"][0], why[0]) == ("126", "1024", "")


def test_a_model_nobody_knows_makes_its_row_unknown(catalogue):
    def nothing(name):
        raise ValueError("no such file")

    row = {k: str(v) for k, v in LLAMA_8B.items()} | {"model": "nobody/nothing"}
    answer = run(*filled(pd.DataFrame([row], dtype=str), catalogue, nothing), catalogue)
    assert "nobody/nothing" in answer["missing"][0]


def test_unknown_is_an_empty_cell_and_a_json_null():
    answer = pd.DataFrame([{"id": "a", "memory_gib": float("nan")}])
    assert render(answer, as_json=False) == "id,memory_gib\na,\n"
    assert '"memory_gib":null' in render(answer, as_json=True).replace(" ", "")


def test_a_write_that_fails_leaves_the_old_file(tmp_path, monkeypatch):
    target = tmp_path / "out.csv"
    target.write_text("old")
    monkeypatch.setattr("pathlib.Path.replace", lambda *_: (_ for _ in ()).throw(OSError(28, "No space left")))
    with pytest.raises(RefusalError, match="No space left"):
        write("new", target)
    assert target.read_text() == "old"
    assert [path.name for path in tmp_path.iterdir()] == ["out.csv"]


def test_a_target_that_is_no_file_is_not_replaced(tmp_path):
    with pytest.raises(RefusalError, match="is not a regular file"):
        write("new", tmp_path)


@pytest.mark.parametrize(
    ("extra", "words"),
    [
        ("num_experts", "the column num_experts is not one that is read; did you mean experts"),
        ("sequence_paralel", "did you mean sequence_parallel"),
        ("top_k", "did you mean experts_per_token"),
        ("tp", "has the column tp twice"),
    ],
)
def test_a_column_that_would_be_ignored_is_named(tmp_path, extra, words):
    with pytest.raises(RefusalError, match=words):
        read(csv(tmp_path, f"{HEADER},{extra}\n"))


def test_columns_of_another_kind_stay(tmp_path):
    from analysis.whatif.csv_table import unused

    assert unused(read(csv(tmp_path, f"{HEADER},colour,step_time_s\n")).columns) == ["colour"]


def test_accelerators_go_by_the_words_that_mean_one(catalogue):
    rows = [{k: str(v) for k, v in LLAMA_8B.items()} | {"accelerator": name} for name in ("H800", "h100", "")]
    table, _ = filled(pd.DataFrame(rows, dtype=str), catalogue, dict)
    assert table["accelerator"].tolist() == ["nvidia/h800-sxm-80gb", "h100", ""]
