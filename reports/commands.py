"""The `report` command."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable
from concurrent.futures import BrokenExecutor
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True)
DATABASE = Path("build/shardbook.duckdb")
FOLDER = Path("build/report")
WIDE = 160
"""Columns of a line when the output is not a terminal."""


@app.command(epilog="Example: shardbook report")
def report(
    database: Annotated[Path, typer.Option(help="The built and assessed database.")] = DATABASE,
    folder: Annotated[Path, typer.Option(help="Where the pages go.")] = FOLDER,
) -> None:
    """Write the offline report: one narrative page, one page per run, one table of all runs."""
    from reports.page import site
    from reports.source import ReportError, Source

    console = Console(stderr=True)
    started = time.monotonic()
    try:
        with console.status("reading the database") as status:
            progress = status.update if console.is_terminal else _lines(console)
            index = site.build(Source.open(database), folder, progress)
    except (ReportError, OSError, BrokenExecutor) as error:
        console.print(f"report: {_said(error, folder)}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(f"report: done in {time.monotonic() - started:.1f} s", markup=False, highlight=False)
    print(index)


def _said(error: Exception, folder: Path) -> str:
    if isinstance(error, BrokenExecutor):
        return "a process that draws was stopped from outside; see that memory is left, and run it again"
    return f"{folder} cannot be written ({error.strerror})" if isinstance(error, OSError) else str(error)


def _lines(console: Console) -> Callable[[str], None]:
    """Progress where no line can be redrawn: a line per step, one for all the pages of runs."""
    printed: set[str] = set()

    def tell(step: str) -> None:
        line = "drawing the pages of runs" if step.startswith("run ") else step
        if line not in printed:
            printed.add(line)
            console.print(f"report: {line}", markup=False, highlight=False)

    return tell


@app.command(epilog="Example: shardbook show meta/llama-3.1-405b")
def show(
    run: Annotated[str, typer.Argument(help="Id of the run: ORG/NAME.", metavar="RUN")],
    database: Annotated[Path, typer.Option(help="The built and assessed database.")] = DATABASE,
) -> None:
    """Show one run: facts with their sources, layouts, memory, communication, time, verdicts."""
    from rich.console import Console

    from reports import show as terminal
    from reports.source import ReportError, Source

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else WIDE)
    try:
        source = Source.open(database)
        for part in terminal.sections(source, terminal.find(source, run)):
            console.print(part)
            console.print()
    except ReportError as error:
        typer.echo(f"shardbook: {error}", err=True)
        raise typer.Exit(1) from None
