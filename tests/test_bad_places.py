"""Pipes, devices, foreign databases, full disks and terminals without Chinese end in one sentence, soon."""

import os
import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

ROOT = Path(__file__).parents[1]
FRONT = [sys.executable, "-c", "import shardbook; shardbook.main()"]


def run(*words: str | Path, **more):
    place = {**os.environ, "PYTHONPATH": str(ROOT)} | more.pop("env", {})
    return subprocess.run(
        [*FRONT, *map(str, words)], cwd=ROOT, env=place, capture_output=True, text=True, timeout=60, check=False, **more
    )


@pytest.fixture
def pipe(tmp_path):
    os.mkfifo(tmp_path / "pipe")
    return tmp_path / "pipe"


@pytest.fixture
def foreign(tmp_path):
    path = tmp_path / "foreign.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("create table x as select 1 as a")
    return path


@pytest.mark.parametrize(
    "words", [("predict",), ("crosscheck", "epoch"), ("claims", "--database"), ("assess", "--database")], ids="-".join
)
def test_a_pipe_is_not_waited_for(words, pipe):
    done = run(*words, pipe)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "not a file" in done.stderr


@pytest.mark.parametrize(
    "words",
    [("diff",), ("assess", "--database"), ("claims", "--database"), ("show", "meta/llama-3.1-405b", "--database")],
    ids="-".join,
)
def test_a_foreign_database_is_refused_in_one_sentence(words, foreign):
    done = run(*words, foreign)
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "Traceback" not in done.stderr


def test_a_disk_without_room_ends_in_one_sentence_and_leaves_nothing(tmp_path):
    resource = pytest.importorskip("resource")
    for name in ("schemas", "data"):
        (tmp_path / name).symlink_to(ROOT / "tests" / "data" / "house" if name == "data" else ROOT / name)
    done = subprocess.run(
        [*FRONT, "build"],
        cwd=tmp_path,
        env={**os.environ, "PYTHONPATH": str(ROOT)},
        preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_FSIZE, (50_000, 50_000)),
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert (done.returncode, len(done.stderr.splitlines())) == (1, 1)
    assert "large" in done.stderr
    assert list((tmp_path / "build").iterdir()) == []


def test_a_terminal_without_chinese_shows_numbers_in_its_place():
    done = run("sql", "select chr(20013) as x", env={"PYTHONIOENCODING": "ascii"})
    assert "Traceback" not in done.stderr
