"""Files meant to hurt: each is one sentence within two seconds, and nothing is executed."""

import os
import time

import pytest

from etl.importers.commands import FAULTS, one
from etl.importers.formats_list import read_files
from etl.importers.problems import ImporterError
from etl.importers.read.documents import LARGEST_FILE, load

LLAMA = '{"model_type": "llama", "hidden_size": 4, "num_hidden_layers": %s}'
NEMO = (
    "trainer: {devices: 8, num_nodes: 1, max_steps: 5}\n"
    "model: {micro_batch_size: 1, tensor_model_parallel_size: 2, hidden_size: %s}\n"
)
START = "\npython pretrain_gpt.py --num-layers %s --hidden-size 64 --micro-batch-size 1\n"
ANCHORS = "\n".join(f"a{i + 1}: &a{i + 1} [{', '.join([f'*a{i}'] * 9)}]" for i in range(20))
GROWTH = "\n".join(f"g{i + 1}: ${{g{i}}}${{g{i}}}" for i in range(60))
TEXTS = {
    "deep.json": '{"a": ' * 50_000,
    "deep.yaml": "a: " + "[" * 50_000,
    "deep.toml": "a = " + "[" * 20_000 + "]" * 20_000 + "\n[training]\nseq_len = 1\n",
    "deep.py": "x = " + "(" * 50_000,
    "deep.sh": "X=" + "$(" * 50_000 + "y" + ")" * 50_000 + START % "$X",
    "dotted.toml": "a." * 8_000 + "b = 1\n[training]\nsteps = 3\n",
    "arrays.sh": "A=( " * 50_000 + START % "1",
    "bomb.yaml": "a0: &a0 [x, x]\n" + ANCHORS + "\nmodel: *a20\n",
    "loop.yaml": NEMO % "${model.hidden_size}",
    "growth.yaml": "g0: xxxxxxxxxx\n" + GROWTH + "\n" + NEMO % "${g60}",
    "growth.sh": "A=x\n" + 'A="$A$A$A$A$A$A$A$A"\n' * 60 + START % "$A",
    "names.sh": "A=B\nB=A" + START % "$((A))",
    "digits.json": LLAMA % ("9" * 100_000),
    "digits.yaml": NEMO % ("9" * 100_000),
    "digits.sh": START % ("9" * 100_000),
    "array.json": LLAMA % ("[" + "1," * 1_000_000 + "1]"),
    "array.yaml": NEMO % ("[" + "1," * 1_000_000 + "1]"),
    "array.sh": "A=(" + "1 " * 1_000_000 + ")" + START % "${A[@]}",
    "array.py": "x = [" + "1," * 1_000_000 + "1]\nglobal_batch_size = 8\n",
    "objects.yaml": '!!python/object/apply:os.system ["exit"]\n',
    "steps.sh": "while true; do A+=x; done\n"
    + "for i in 1 2 3 4 5 6 7 8 9; do " * 9
    + "echo"
    + "; done" * 9
    + START % "$Z",
}


def refusal(path) -> str:
    started = time.process_time()
    with pytest.raises(ImporterError) as caught:
        read_files([str(path)])
    assert time.process_time() - started < 2
    assert "\n" not in str(caught.value).strip()
    return str(caught.value)


@pytest.mark.parametrize("name", TEXTS)
def test_a_text_meant_to_hurt_is_refused_in_one_sentence(tmp_path, name):
    path = tmp_path / name
    path.write_text(TEXTS[name])
    assert (
        name in refusal(path)
        or "refers to itself" in refusal(path)
        or "digits" in refusal(path)
        or "script" in refusal(path)
    )


def test_commands_in_a_script_are_not_run(tmp_path):
    mark = tmp_path / "mark"
    path = tmp_path / "run.sh"
    path.write_text(f"X=$(touch {mark})\nY=`touch {mark}`" + START % f"<(touch {mark}) $X $Y >(touch {mark})")
    assert read_files([str(path)]).get("layers") is None
    assert not mark.exists()


def test_only_unknown_values_are_no_reading(tmp_path):
    path = tmp_path / "run.sh"
    path.write_text("python pretrain_gpt.py --num-layers $(rm -rf x) --hidden-size `ls` --micro-batch-size <(ls)\n")
    assert "without running it" in refusal(path)


@pytest.mark.parametrize("data", [b"\xff\xfe{}", b'{"a": "\xc3\x28"}'])
def test_bytes_that_are_no_utf_8_are_named_with_their_place(tmp_path, data):
    (tmp_path / "config.json").write_bytes(data)
    assert "UTF-8" in refusal(tmp_path / "config.json")


def test_a_nul_byte_makes_it_no_text_file(tmp_path):
    (tmp_path / "config.yaml").write_bytes(b"a: 1\n\0b: 2\n")
    assert "NUL byte at offset 5" in refusal(tmp_path / "config.yaml")


def test_a_file_of_200_mb_is_not_read(tmp_path):
    with (tmp_path / "big.log").open("wb") as handle:
        handle.truncate(200 * 2**20)
    assert f"larger than {LARGEST_FILE // 2**20} MiB" in refusal(tmp_path / "big.log")


def test_what_is_no_regular_file_is_not_opened(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "a").symlink_to(tmp_path / "b")
    (tmp_path / "b").symlink_to(tmp_path / "a")
    assert "not a regular file" in refusal(tmp_path / "pipe")
    assert "not a regular file" in refusal(tmp_path)
    assert "cannot be opened" in refusal(tmp_path / "a")
    assert "cannot be opened" in refusal(tmp_path / "nowhere")


def test_a_byte_order_mark_and_dos_line_ends_are_no_obstacle(tmp_path):
    (tmp_path / "config.json").write_bytes(b"\xef\xbb\xbf\r\n" + (LLAMA % "3").replace(" ", "\r\n").encode())
    assert read_files([str(tmp_path / "config.json")]).get("layers") == 3


def test_a_fault_of_a_reader_is_a_sentence_as_well(tmp_path, monkeypatch):
    def broken(*_):
        raise FAULTS[0]("boom")

    monkeypatch.setattr("etl.importers.commands.read_files", broken)
    with pytest.raises(ImporterError, match="please report it"):
        one([str(tmp_path / "x")], None)


def test_a_log_of_30_mb_is_read_in_two_seconds(tmp_path):
    line = "iteration 5/ 10 | elapsed time per iteration (ms): 3500.0 | global batch size: 8 | lm loss: 1.0 |\n"
    (tmp_path / "a.log").write_text(line * (30 * 2**20 // len(line)))
    started = time.process_time()
    assert read_files([str(tmp_path / "a.log")]).get("step_time_s") == 3.5
    assert time.process_time() - started < 2
    assert load(str(tmp_path / "a.log")).kind == "log"
