"""The `report` command."""

from __future__ import annotations

import sys
import time
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console

app = typer.Typer(no_args_is_help=True)
DATABASE = Path("build/shardbook.duckdb")
FOLDER = Path("build/report")
WIDE = 160
"""Columns of a line when the output is no terminal."""


@app.command(epilog="Example: shardbook report")
def report(
    database: Annotated[Path, typer.Option(help="The built and assessed database.")] = DATABASE,
    folder: Annotated[Path, typer.Option(help="Where the pages go.")] = FOLDER,
) -> None:
    """Write the offline report: one narrative page, one page per run, one table of all runs."""
    from reports import site
    from reports.source import ReportError, Source

    console = Console(stderr=True)
    started = time.monotonic()
    try:
        with console.status("reading the database") as status:
            index = site.build(Source.open(database), folder, status.update)
    except (ReportError, OSError) as error:
        console.print(f"report: {error}", markup=False, highlight=False, soft_wrap=True)
        raise typer.Exit(1) from None
    console.print(f"report: done in {time.monotonic() - started:.1f} s", markup=False, highlight=False)
    print(index)


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
