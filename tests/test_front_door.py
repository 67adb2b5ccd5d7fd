"""What the front door says when a command meets a bad record, a bad constant, a bad disk or a bad database."""

import errno
import os
import shutil
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from shardbook import refusal

ROOT = Path(__file__).parents[1]
FIT = ("fit", "meta/llama-3.1-8b", "--accelerator", "nvidia/h100-sxm-80gb", "--accelerators", "8", "--seq-len", "8192",
       "--global-batch", "8")  # fmt: skip
BROKEN = [
    (FIT, "data/accelerators/nvidia/h100-sxm-80gb.yaml", b"name: [", "h100-sxm-80gb.yaml can't be read"),
    (FIT, "data/calibration.yaml", b"gemm: {value: 1, unit: x}\n", "data/calibration.yaml lacks timing"),
    (("claims",), "build/shardbook.duckdb", b"no database", "the database cannot be used"),
    (("assess",), "build/shardbook.duckdb", b"", "cannot be used"),
]


@pytest.fixture
def checkout(tmp_path: Path) -> Path:
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    for folder in ("accelerators", "systems", "models/meta"):
        shutil.copytree(ROOT / "data" / folder, tmp_path / "data" / folder)
    shutil.copy(ROOT / "data" / "calibration.yaml", tmp_path / "data")
    (tmp_path / "build").mkdir()
    return tmp_path


@pytest.mark.parametrize(("command", "place", "content", "said"), BROKEN)
def test_bad_material_ends_in_one_sentence(
    checkout: Path, command: tuple[str, ...], place: str, content: bytes, said: str
) -> None:
    (checkout / place).write_bytes(content)
    call = [sys.executable, "-c", "from shardbook import main; main()", *command]
    done = subprocess.run(call, cwd=checkout, capture_output=True, text=True, check=False)
    assert done.returncode == 1
    assert done.stderr.startswith("shardbook: ")
    assert said in done.stderr
    assert "Traceback" not in done.stderr + done.stdout


def test_a_full_disk_is_named_with_its_file() -> None:
    full = OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), "build/x.duckdb")
    assert refusal(full) == "build/x.duckdb: No space left on device"


@pytest.mark.parametrize("ours", [TypeError("x"), duckdb.BinderException("Binder Error: no column"), KeyError("tp")])
def test_our_own_faults_keep_their_traceback(ours: Exception) -> None:
    assert refusal(ours) is None
