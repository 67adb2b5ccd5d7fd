"""What git knows about a checkout; everything here also works, and says nothing, without git."""

from __future__ import annotations

import shutil
import subprocess
from pathlib import Path


def git(root: Path, *arguments: str) -> bytes | None:
    """What git prints.

    Parameters
    ----------
    root : folder to run in
    arguments : of git

    Returns
    -------
    its output, or None where git, the repository or what was asked for does not exist

    >>> git(Path("/"), "no-such-command")
    """
    program = shutil.which("git")
    if program is None:
        return None
    done = subprocess.run([program, "-C", str(root), *arguments], capture_output=True, check=False)
    return done.stdout if done.returncode == 0 else None


def last_commit(root: Path) -> tuple[str, str]:
    """Id and time of the last commit.

    Parameters
    ----------
    root : the checkout

    Returns
    -------
    (id, ISO time); both empty outside a repository

    >>> last_commit(Path("/"))
    ('', '')
    """
    output = (git(root, "log", "-1", "--format=%H %cI") or b"").decode().strip()
    commit, _, committed = output.partition(" ")
    return commit, committed
