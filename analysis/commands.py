"""Commands of the analysis: assess. Only these functions print."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

Database = Annotated[Path, typer.Option("--database", help="Database file that `shardbook build` made.")]
DEFAULT_DATABASE = Path("build/shardbook.duckdb")

app = typer.Typer(no_args_is_help=True, add_completion=False)


def refuse(sentence: str, code: int = 1) -> typer.Exit:
    """Print one sentence on standard error and leave with a code."""
    typer.echo(f"shardbook: {sentence}", err=True)
    return typer.Exit(code)


@app.command(epilog="Example: shardbook assess")
def assess(database: Database = DEFAULT_DATABASE) -> None:
    """Recompute every run and phase; write parameters, FLOP, memory, communication, timing and verdicts."""
    import duckdb

    from analysis.assess import assess as run

    if not database.exists():
        raise refuse(f"there is no database at {database}; make it with: shardbook build")
    try:
        written = run(database, lambda text: typer.echo(f"  {text} ...", err=True))
    except duckdb.IOException as error:
        raise refuse(f"the database {database} cannot be used ({str(error).splitlines()[0]})") from None
    typer.echo(", ".join(f"{count:,} {table}" for table, count in written.items()) + f" in {database}")
