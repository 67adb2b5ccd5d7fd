"""The command: one JSON object on standard output, one sentence and exit code 1 for what cannot be read."""

import json

import pytest
from typer.testing import CliRunner

from etl.importers.commands import application

CONFIG = {
    "model_type": "llama", "hidden_size": 64, "intermediate_size": 256, "num_hidden_layers": 2,
    "num_attention_heads": 4, "vocab_size": 100, "tie_word_embeddings": True,
}  # fmt: skip


def counter(_facts):
    return {"total": 1234.0, "active": 1234.0}


def run(*arguments: str):
    return CliRunner().invoke(application(counter), list(arguments))


@pytest.fixture
def config(tmp_path):
    path = tmp_path / "config.json"
    path.write_text(json.dumps(CONFIG))
    return path


def test_json_holds_format_facts_and_warnings(config):
    answer = json.loads(run(str(config), "--json").stdout)
    assert answer["format"] == "hf_config"
    assert answer["facts"]["layers"] == {"value": 2, "origin": "stated", "key": "num_hidden_layers", "line": 1}
    assert answer["warnings"] == []


def test_the_total_comes_from_the_counter_that_is_passed_in(config):
    fact = json.loads(run(str(config), "--json").stdout)["facts"]["params_total"]
    assert (fact["value"], fact["origin"]) == (1234, "derived")


def test_the_table_names_value_origin_key_and_line(config):
    assert "layers" in run(str(config)).stdout
    assert "stated  num_hidden_layers, line 1" in run(str(config)).stdout


def test_a_refusal_is_one_sentence_and_exit_code_1(tmp_path):
    (tmp_path / "notes.json").write_text('{"dear": "diary"}')
    result = run(str(tmp_path / "notes.json"), "--json")
    assert (result.exit_code, result.stdout) == (1, "")
    assert result.stderr.count("\n") == 1
    assert "no known format" in result.stderr


def test_a_folder_is_read_file_by_file_and_bad_ones_are_told(config):
    (config.parent / "bad.json").write_text("{")
    lines = [json.loads(line) for line in run(str(config.parent), "--json").stdout.splitlines()]
    assert [("error" in line, line["path"].rpartition("/")[2]) for line in lines] == [
        (True, "bad.json"),
        (False, "config.json"),
    ]


def test_an_empty_folder_is_exit_code_1(tmp_path):
    assert run(str(tmp_path)).exit_code == 1


def test_each_reads_every_path_on_its_own(config):
    assert len(run(str(config), str(config), "--each", "--json").stdout.splitlines()) == 2


def test_the_list_names_what_each_format_can_and_cannot_tell():
    answer = run("--list").stdout
    assert "hf_config" in answer
    assert "cannot tell any fact of a run" in answer


def test_text_of_the_file_cannot_steer_the_terminal(tmp_path):
    (tmp_path / "\x1b[31m.json").write_text("{}")
    assert "\x1b" not in run(str(tmp_path / "\x1b[31m.json")).stderr


def test_content_and_not_the_name_decides_the_format(tmp_path):
    texts = {
        "hf_config": json.dumps(CONFIG),
        "megatron_sh": "#!/bin/bash\npython pretrain_gpt.py --num-layers 4 --hidden-size 64 --micro-batch-size 1\n",
        "torchtitan_toml": "[training]\nlocal_batch_size = 4\nseq_len = 64\nsteps = 9\n[parallelism]\n"
        "tensor_parallel_degree = 2\n",
        "nanotron_yaml": "parallelism: {dp: 2, tp: 2, pp: 1}\ntokens: {micro_batch_size: 3, sequence_length: 64}\n",
    }
    for name, text in texts.items():
        for suffix in ("", ".txt", ".json"):
            (tmp_path / f"file{suffix}").write_text(text)
            assert json.loads(run(str(tmp_path / f"file{suffix}"), "--json").stdout)["format"] == name


def test_a_folder_without_files_is_not_called_unreadable(tmp_path):
    result = run(str(tmp_path))
    assert result.exit_code == 1
    assert "no file was found" in result.output
