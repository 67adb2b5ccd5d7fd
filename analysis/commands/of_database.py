"""Commands on the built database: assess, claims."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Annotated

import typer

from analysis.commands.shared import DATABASE, AsJson, Database, print_json, refusing
from schemas.refusal import RefusalError

app = typer.Typer()


@contextmanager
def usable(database: Path) -> Iterator[None]:
    """Faults of the database file as refusals."""
    import duckdb

    if not database.exists():
        raise RefusalError(f"there is no database at {database}; make it with: shardbook build && shardbook assess")
    try:
        yield
    except (KeyError, duckdb.CatalogException, duckdb.BinderException) as error:
        older = f"{database} is not a database of this version ({str(error).splitlines()[0]})"
        raise RefusalError(f"{older}; make it anew with: shardbook build") from None


@app.command(epilog="Example: shardbook assess")
def assess(database: Database = DATABASE) -> None:
    """Recompute every run and phase; write parameters, FLOP, memory, communication, timing and verdicts."""
    import duckdb

    from analysis.assess.results import assess as fill

    with refusing():
        try:
            with usable(database):
                written = fill(database, lambda text: typer.echo(f"  {text} ...", err=True))
        except duckdb.IOException as error:
            raise RefusalError(f"the database {database} cannot be used ({str(error).splitlines()[0]})") from None
    typer.echo(", ".join(f"{count:,} {table}" for table, count in written.items()) + f" in {database}")


@app.command(epilog="Example: shardbook claims --topic utilisation")
def claims(
    topic: Annotated[str | None, typer.Option(help="Only one topic: memory, parallelism, layouts, ...")] = None,
    database: Database = DATABASE,
    as_json: AsJson = False,
) -> None:
    """Print each claim with its verdict, the numbers, and what would change it."""
    from analysis.records.facts import query
    from schemas import sandbox

    with refusing():
        with usable(database), sandbox.connect(database) as connection:
            judged = query(connection, "judged_claims").to_dict("records")
        shown = [row for row in judged if topic in (None, row["topic"])]
        if not shown:
            about = f" on {topic!r}" if topic else ""
            raise RefusalError(f"there are no judged claims{about}; run: shardbook assess")
    if as_json:
        print_json(shown)
        return
    for row in shown:
        typer.echo(f"{row['number']}. [{row['verdict']}] {row['statement_en']}\n   {row['finding_en']}")
        typer.echo(f"   Would change: {row['would_change_en']}\n")
