"""What the front door says when a command meets a bad record, a bad constant, a bad disk or a bad database."""

import errno
import json
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from shardbook import ACCOUNT_BEGIN, ACCOUNT_END, Constants, refusal

ROOT = Path(__file__).parents[1]
FIT = ("fit", "meta/llama-3.1-8b", "--accelerator", "nvidia/h100-sxm-80gb", "--accelerators", "8", "--seq-len", "8192",
       "--global-batch", "8")  # fmt: skip
BROKEN = [
    (FIT, "data/accelerators/nvidia/h100-sxm-80gb.yaml", b"name: [", "h100-sxm-80gb.yaml can't be read"),
    (FIT, "data/calibration/links.yaml", b"x: {value: 1, unit: x}\n", "data/calibration lacks links.scale_up_share"),
    (("claims",), "build/shardbook.duckdb", b"no database", "not a readable DuckDB database"),
    (("assess",), "build/shardbook.duckdb", b"", "not a readable DuckDB database"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    for folder in ("accelerators", "systems", "models/meta"):
        shutil.copytree(ROOT / "data" / folder, tmp_path / "data" / folder)
    shutil.copytree(ROOT / "data" / "calibration", tmp_path / "data" / "calibration")
    (tmp_path / "build").mkdir()
    return tmp_path


def called(checkout: Path, *words: str) -> subprocess.CompletedProcess[str]:
    call = [sys.executable, "-c", "from shardbook import main; main()", *words]
    return subprocess.run(call, cwd=checkout, capture_output=True, text=True, check=False)


@pytest.mark.parametrize(("command", "place", "content", "said"), BROKEN)
def test_bad_material_ends_in_one_sentence(
    checkout: Path, command: tuple[str, ...], place: str, content: bytes, said: str
) -> None:
    (checkout / place).write_bytes(content)
    done = called(checkout, *command)
    assert done.returncode == 1
    assert done.stderr.startswith("shardbook: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_claims_of_another_database_are_refused_in_a_sentence(checkout: Path) -> None:
    duckdb.connect(str(checkout / "build" / "shardbook.duckdb")).close()
    done = called(checkout, "claims")
    assert done.returncode == 1
    assert done.stderr.startswith("shardbook: build/shardbook.duckdb is not a database of this version")
    assert "Traceback" not in done.stderr


def test_what_a_killed_writer_left_does_not_spoil_an_assessed_database(checkout: Path) -> None:
    assert called(checkout, "build").returncode == 0
    file = checkout / "build" / "shardbook.duckdb"
    killed = "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('create table x (a int)'); os._exit(9)"
    subprocess.run([sys.executable, "-c", killed, str(file)], check=False)
    assert file.with_name("shardbook.duckdb.wal").exists()
    assert called(checkout, "assess").returncode == 0
    assert called(checkout, "sql", "select count(*) from result.parameters").returncode == 0


def test_a_full_disk_is_named_with_its_file() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "build/x.duckdb")
    assert refusal(full) == "build/x.duckdb: No space left on device"


@pytest.mark.parametrize("ours", [TypeError("x"), duckdb.BinderException("Binder Error: no column"), KeyError("tp")])
def test_our_own_faults_keep_their_traceback(ours: Exception) -> None:
    assert refusal(ours) is None


def test_the_account_of_a_fit_replaces_the_old_one(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    page = checkout / "docs" / "methodology.md"
    page.parent.mkdir()
    page.write_text(f"# Methodology\n\n{ACCOUNT_BEGIN}\nold\n{ACCOUNT_END}\n\nThe end.\n", encoding="utf-8")
    monkeypatch.chdir(checkout)
    assert Constants().publish("rows 3") == page
    assert page.read_text("utf-8") == (
        f"# Methodology\n\n{ACCOUNT_BEGIN}\n```text\nrows 3\n```\n{ACCOUNT_END}\n\nThe end.\n"
    )


def test_constants_are_written_by_subject_in_canonical_form(checkout: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(checkout)
    store = Constants()
    before = store.read()
    store.write({name: before[name] for name in ("links", "overlap")})
    assert store.read() == before
    written, kept = (root / "data" / "calibration" / "overlap.yaml" for root in (checkout, ROOT))
    assert written.read_text("utf-8") == kept.read_text("utf-8")


SCRIPT = """\
torchrun --nnodes=1 --nproc_per_node=8 pretrain_gpt.py --num-layers 16 --hidden-size 2048 --num-attention-heads 16 \\
  --ffn-hidden-size 5632 --swiglu --normalization RMSNorm --disable-bias-linear --position-embedding-type rope \\
  --vocab-size 32000 --seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --bf16 \\
  --tensor-model-parallel-size 2 --pipeline-model-parallel-size 2 --use-distributed-optimizer
"""


def test_fit_takes_layout_and_model_from_a_launch_script_and_what_is_typed_wins(checkout: Path) -> None:
    path = checkout / "train.sh"
    path.write_text(SCRIPT)
    command = ["fit", str(path), "--accelerator", "nvidia/h100-sxm-80gb", "--json"]
    layout = json.loads(called(checkout, *command).stdout)["layout"]
    assert {name: layout[name] for name in ("accelerators", "tp", "pp", "dp", "zero_stage", "seq_len")} == {
        "accelerators": 8, "tp": 2, "pp": 2, "dp": 2, "zero_stage": 1, "seq_len": 2048,
    }  # fmt: skip
    typed = json.loads(called(checkout, *command, "--tp", "4").stdout)["layout"]
    assert (typed["tp"], typed["dp"]) == (4, 1)


def test_fit_names_what_neither_the_command_nor_the_file_states(checkout: Path) -> None:
    done = called(checkout, "fit", "meta/llama-3.1-8b", "--accelerator", "nvidia/h100-sxm-80gb", "--seq-len", "8192")
    assert done.returncode == 2
    assert "--accelerators, --global-batch" in done.stderr
