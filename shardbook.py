"""The front door: one `shardbook` command made of the command groups of `etl`, `analysis` and `reports`.

It is the only module that imports all three packages, and it holds no logic: it joins their commands and hands one
package's results to another. Heavy libraries are imported inside the commands that need them.
"""

from __future__ import annotations

import sys

import typer

HELP = "The open record of how large models were really trained: every number cited, every number recomputed."


def application() -> typer.Typer:
    """All commands in one application."""
    from analysis import commands as analysis_commands
    from etl.commands import database as database_commands
    from etl.commands import records as record_commands

    front = typer.Typer(name="shardbook", help=HELP, no_args_is_help=True, add_completion=False)
    for group in (record_commands.app, database_commands.app, analysis_commands.app):
        front.registered_commands += group.registered_commands
    return front


def main() -> None:
    """Run the command line; a closed pipe ends it quietly."""
    try:
        application()()
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
