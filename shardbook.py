"""The front door: one `shardbook` command made of the command groups of `etl`, `analysis` and `reports`.

It is the only module that imports all three packages, and it holds no logic: it joins their commands and hands one
package's results to another. Heavy libraries are imported inside the commands that need them.
"""

from __future__ import annotations

import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

if TYPE_CHECKING:
    import duckdb

HELP = "The open record of how large models were really trained: every number cited, every number recomputed."


def records(kinds: Sequence[str]) -> duckdb.DuckDBPyConnection:
    """An in-memory database with the records of some kinds of the checkout."""
    from etl import database
    from etl.paths import Paths, find_root

    return database.memory(Paths(find_root(Path.cwd())), kinds)


def architecture(path: Path) -> dict[str, Any]:
    """Architecture facts of a published config, in the words of the physics."""
    raise ValueError(f"{path} cannot be read yet")


def verdicts(connection: duckdb.DuckDBPyConnection) -> None:
    """Recompute every run of an open database and fill its result tables."""
    from analysis.assess import results, write

    write(connection, results(connection))


def application() -> typer.Typer:
    """All commands in one application."""
    from analysis import commands as analysis_commands
    from etl.commands import database as database_commands
    from etl.commands import records as record_commands
    from etl.commands.shared import Front

    front = typer.Typer(name="shardbook", help=HELP, no_args_is_help=True, add_completion=False)
    groups = (record_commands.app, database_commands.app, analysis_commands.application(records, architecture))
    for group in groups:
        front.registered_commands += group.registered_commands

    @front.callback()
    def share(context: typer.Context) -> None:
        context.obj = Front(verdicts)

    return front


def main() -> None:
    """Run the command line; a closed pipe ends it quietly."""
    try:
        application()()
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
