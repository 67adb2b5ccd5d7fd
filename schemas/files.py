"""Files that are replaced whole: after a crash the old content stands there, or the new one."""

from __future__ import annotations

import os
import re
import shutil
import stat
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from schemas.refusal import RefusalError

LARGEST = 2**30
"""Bytes of a file that is read whole; 17 million rows of a table of layouts."""

MARK = re.compile(r"\.draft-(\d+)-")
"""Drafts are called `.draft-<process>-<name>`, so that those of killed processes can be recognized and removed."""


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


def require_file(path: Path, largest: int = LARGEST) -> Path:
    """A path that can be read to its end: neither a pipe or device that would be waited for, nor too large.

    Parameters
    ----------
    path : what somebody named
    largest : bytes that it may have

    Returns
    -------
    the path

    Raises
    ------
    RefusalError : it is missing, not a regular file, or too large

    >>> require_file(Path("schemas"))
    Traceback (most recent call last):
    schemas.refusal.RefusalError: schemas is a folder or a device, not a file; give a file.
    """
    try:
        status = path.stat()
    except OSError as error:
        raise RefusalError(f"{path} cannot be read ({error.strerror or 'no such file'}); give a file.") from None
    if not stat.S_ISREG(status.st_mode):
        raise RefusalError(f"{path} is a folder or a device, not a file; give a file.")
    if status.st_size > largest:
        raise RefusalError(f"{path} has {status.st_size:,} bytes, of {largest:,} that are read; give a smaller file.")
    return path


@contextmanager
def draft(path: Path, keep_newer: bool = False) -> Iterator[Path]:
    """A place beside a file or folder to write its successor to; it takes its place when the block ends well.

    Parameters
    ----------
    path : the file or folder to replace; a link is followed, missing folders are made
    keep_newer : refuse where another program replaced or changed the file in the meantime

    Yields
    ------
    a path where nothing is; a file or a folder must be there at the end

    Raises
    ------
    OSError : the draft cannot be put in place; the old file or folder stays
    RefusalError : `keep_newer` and another program was here
    """
    target = path.resolve()
    state = _state(target)
    target.parent.mkdir(parents=True, exist_ok=True)
    clear(target.parent)
    unfinished = target.with_name(f".draft-{os.getpid()}-{target.name}")
    remove(unfinished)
    try:
        yield unfinished
        if keep_newer and _state(target) != state:
            raise RefusalError(f"{path} was replaced by another program in the meantime and is kept; run this again.")
        if unfinished.is_dir():
            _swap(unfinished, target)
        else:
            unfinished.chmod(target.stat().st_mode & 0o777 if target.exists() else 0o644)
            unfinished.replace(target)
    finally:
        remove(unfinished)
        remove(unfinished.with_name(f"{unfinished.name}.wal"))  # the journal of a database that was not finished


def _state(path: Path) -> tuple[int, int, int] | None:
    """What changes with a file: its number, size and time."""
    if not path.exists():
        return None
    status = path.stat()
    return status.st_ino, status.st_size, status.st_mtime_ns


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

    Parameters
    ----------
    process : its number

    Returns
    -------
    False where there is none

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
    """Remove a file or a folder, if it is there.

    Parameters
    ----------
    path : the file or folder
    """
    if path.is_dir() and not path.is_symlink():
        shutil.rmtree(path, ignore_errors=True)
    else:
        path.unlink(missing_ok=True)
