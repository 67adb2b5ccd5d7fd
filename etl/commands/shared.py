"""What the commands on the database share: the checkout, refusals in one sentence, progress on a terminal."""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import typer

from etl.paths import Paths, find_root
from schemas.refusal import RefusalError


@contextmanager
def refusing() -> Iterator[None]:
    """Say a refusal as one sentence and end with exit code 1."""
    try:
        yield
    except (RefusalError, FileNotFoundError, PermissionError) as error:
        typer.echo(f"shardbook: {error}", err=True)
        raise typer.Exit(1) from None


def checkout() -> Paths:
    """The checkout that the working directory lies in.

    Raises
    ------
    FileNotFoundError : there is none
    """
    return Paths(find_root(Path.cwd()))


@contextmanager
def progress(title: str) -> Iterator[Callable[[str], None]]:
    """A line that shows the current step, on a terminal only.

    Parameters
    ----------
    title : what the command does

    Yields
    ------
    a function to call with the name of each step
    """
    if not sys.stderr.isatty():
        yield lambda _: None
        return
    from rich.console import Console

    with Console(stderr=True).status(title) as status:
        yield lambda step: status.update(f"{title}: {step}")
