"""`import shardbook` gives what the commands give, with the same defaults."""

import inspect
from pathlib import Path

import pandas as pd
import pytest

import shardbook
import shardbook_data
from analysis.commands.of_layouts import fit as command
from schemas.refusal import RefusalError

ROOT = Path(__file__).parents[1]
LLAMA = {
    "accelerator": "nvidia/h100-sxm-80gb", "accelerators": 16384, "tp": 8, "pp": 16, "seq_len": 8192,
    "global_batch": 2048,
}  # fmt: skip


@pytest.fixture(autouse=True)
def elsewhere(tmp_path, monkeypatch):
    """A folder that is no checkout."""
    monkeypatch.chdir(tmp_path)


def test_defaults_are_those_of_the_command_line():
    options = inspect.signature(command).parameters
    assert {name: options[name].default for name in shardbook_data.DEFAULTS} == shardbook_data.DEFAULTS


def test_one_layout_is_judged_from_any_folder():
    answer = shardbook.fit("meta/llama-3.1-405b", **LLAMA)
    # Llama 3.1 405B, arXiv:2407.21783, Table 4: 16,384 GPUs at TP 8, PP 16 ran, so data parallelism is 128
    assert (answer["verdict"], answer["layout"]["dp"]) == ("could-fit", 128)


def test_a_frame_of_numbers_is_predicted_like_a_table_of_text():
    one = shardbook.fit("meta/llama-3.1-405b", **LLAMA)
    row = {"id": "a", "model": "meta/llama-3.1-405b", "vpp": None} | one["layout"]
    answer = shardbook.predict(pd.DataFrame([row, row | {"id": "b", "accelerator": None}], index=[7, 9]))
    assert list(answer["id"]) == ["a", "b"]
    assert answer["step_time_s"][0] == pytest.approx(one["step_time_s"], rel=1e-6)
    assert pd.isna(answer["step_time_s"][1])


def test_a_database_that_is_not_there_is_refused_in_a_sentence(tmp_path):
    with pytest.raises(RefusalError, match="shardbook build"):
        shardbook.runs(tmp_path / "nowhere.duckdb")


def test_a_record_is_checked_by_its_id():
    assert shardbook.check("runs/meta/llama-3.1-405b") == []
    with pytest.raises(ValueError, match="does not exist"):
        shardbook.check("runs/meta/nowhere")


def test_the_lines_of_the_readme_run(monkeypatch):
    monkeypatch.chdir(ROOT)
    block = (ROOT / "README.md").read_text("utf-8").split("```python\n")[1].split("```")[0]
    names: dict[str, object] = {}
    lines = block.partition("shardbook.runs()")[0]  # what follows needs a built database
    exec(lines, names)  # noqa: S102  (our own README)
    rows = names["rows"]
    # of these three only TP 8 is a layout of the paper; 16 leaves the node, 4 does not fit its 80 GB
    assert list(shardbook.predict(rows)["step_time_s"].notna()) == [True, True, True]
    assert shardbook.fit("meta/llama-3.1-405b", tp=8, pp=16, **names["card"])["verdict"] == "could-fit"
