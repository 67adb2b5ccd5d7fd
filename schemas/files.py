"""Files that are replaced whole: after a crash the old content stands there, or the new one."""

from __future__ import annotations

import os
import re
import shutil
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

MARK = re.compile(r"\.draft-(\d+)-")
"""Drafts are called `.draft-<process>-<name>`, so that those of killed processes can be told apart and removed."""


def replace(path: Path, content: str | bytes) -> None:
    """Replace a file in one step.

    Parameters
    ----------
    path : the file; a link is followed, missing folders are made
    content : its new content, text as UTF-8

    Raises
    ------
    OSError : the folder cannot be written, or the disk is full; the old file stays
    """
    with draft(path) as unfinished:
        unfinished.write_bytes(content.encode() if isinstance(content, str) else content)


@contextmanager
def draft(path: Path) -> Iterator[Path]:
    """A place beside a file or folder to write its successor to; it takes its place when the block ends well.

    Parameters
    ----------
    path : the file or folder to replace; a link is followed, missing folders are made

    Yields
    ------
    a path where nothing is; a file or a folder must be there at the end

    Raises
    ------
    OSError : the draft cannot be put in place; the old file or folder stays
    """
    target = path.resolve()
    target.parent.mkdir(parents=True, exist_ok=True)
    clear(target.parent)
    unfinished = target.with_name(f".draft-{os.getpid()}-{target.name}")
    remove(unfinished)
    try:
        yield unfinished
        if unfinished.is_dir():
            _swap(unfinished, target)
        else:
            unfinished.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            unfinished.replace(target)
    finally:
        remove(unfinished)
        remove(unfinished.with_name(f"{unfinished.name}.wal"))  # the journal of a database that was not finished


def _swap(fresh: Path, target: Path) -> None:
    """Put a folder where an older one may be; the old one comes back if that fails."""
    aside = fresh.with_name(f"{fresh.name}.old")
    if target.exists():
        target.rename(aside)
    try:
        fresh.rename(target)
    except OSError:
        if aside.exists():
            aside.rename(target)
        raise
    remove(aside)


def clear(folder: Path) -> None:
    """Remove drafts that killed processes left in a folder.

    Parameters
    ----------
    folder : where to look; folders below it are not searched
    """
    for path in folder.glob(".draft-*"):
        mark = MARK.match(path.name)
        if mark and not alive(int(mark[1])):
            remove(path)


def alive(process: int) -> bool:
    """Whether a process of this number runs.

    >>> alive(os.getpid())
    True
    """
    try:
        os.kill(process, 0)
    except ProcessLookupError:
        return False
    except OSError:
        return True
    return True


def remove(path: Path) -> None:
    """Remove a file or a folder, if it is there."""
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
