"""A file is replaced whole or not at all, and killed commands leave nothing that stays."""

import subprocess
import sys
from pathlib import Path

import pytest

from schemas import files
from schemas.refusal import RefusalError


def names(folder: Path) -> list[str]:
    return sorted(path.name for path in folder.iterdir())


def test_an_interrupted_write_leaves_the_old_file_and_no_draft(tmp_path: Path) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(UnicodeEncodeError), files.draft(target) as unfinished:
        unfinished.write_text("half of the text, then a character without an encoding: \ud800")
    assert target.read_text() == "old"
    assert names(tmp_path) == ["a.txt"]


def test_permissions_and_links_are_kept(tmp_path: Path) -> None:
    target, link = tmp_path / "a.txt", tmp_path / "link"
    target.write_text("old")
    target.chmod(0o600)
    link.symlink_to(target)
    files.replace(link, "new")
    assert link.is_symlink()
    assert (target.read_text(), target.stat().st_mode & 0o777) == ("new", 0o600)


def test_a_folder_takes_the_place_of_an_older_one(tmp_path: Path) -> None:
    target = tmp_path / "export"
    target.mkdir()
    (target / "old.csv").touch()
    with files.draft(target) as unfinished:
        unfinished.mkdir()
        (unfinished / "new.csv").touch()
    assert names(tmp_path) == ["export"]
    assert names(target) == ["new.csv"]


def test_an_old_folder_comes_back_when_the_new_one_is_missing(tmp_path: Path) -> None:
    target = tmp_path / "export"
    target.mkdir()
    (target / "old.csv").touch()
    with pytest.raises(FileNotFoundError), files.draft(target):
        pass
    assert names(target) == ["old.csv"]


def test_the_draft_of_a_killed_process_goes_with_the_next_write(tmp_path: Path) -> None:
    script = f"""
import os, signal
from pathlib import Path
from schemas import files
with files.draft(Path({str(tmp_path)!r}) / "a.txt") as unfinished:
    unfinished.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""
    subprocess.run([sys.executable, "-c", script], check=False, cwd=Path(files.__file__).parents[1])
    assert len(names(tmp_path)) == 1
    files.replace(tmp_path / "a.txt", "whole")
    assert names(tmp_path) == ["a.txt"]


def test_what_another_program_replaced_meanwhile_is_kept(tmp_path: Path) -> None:
    target = tmp_path / "a.duckdb"
    target.write_text("old")
    with pytest.raises(RefusalError, match="replaced by another program"), files.draft(target, keep_newer=True) as mine:
        mine.write_text(files.replace(target, "newer") or "mine")
    assert target.read_text() == "newer"
    assert names(tmp_path) == ["a.duckdb"]
