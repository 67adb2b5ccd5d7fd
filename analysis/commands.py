"""Commands of the analysis: assess, predict, calibrate. Only these functions print."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

if TYPE_CHECKING:
    import duckdb

    from analysis.material import Material

DATABASE = Path("build/shardbook.duckdb")
Database = Annotated[Path, typer.Option("--database", help="Database file that `shardbook build` made.")]
Records = Callable[[Sequence[str]], "duckdb.DuckDBPyConnection"]
"""Opens an in-memory database that holds the records of some kinds; the front door gives it."""
ReadArchitecture = Callable[[Path], dict[str, Any]]
"""Reads a published config into architecture facts; the front door gives it."""

NEEDED = ("accelerator", "system", "model", "calibration")


def refuse(sentence: str, code: int = 1) -> typer.Exit:
    """Print one sentence on standard error and leave with a code."""
    typer.echo(f"shardbook: {sentence}", err=True)
    return typer.Exit(code)


def material(records: Records) -> Material:
    """Accelerators, models and constants of the checkout."""
    from analysis.material import load

    with records(NEEDED) as connection:
        return load(connection)


def application(records: Records, architecture: ReadArchitecture) -> typer.Typer:
    """The commands, bound to what reads records and configs."""
    app = typer.Typer(no_args_is_help=True, add_completion=False)

    @app.command(epilog="Example: shardbook assess")
    def assess(database: Database = DATABASE) -> None:
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

    @app.command(epilog="Example: shardbook predict rows.csv -o build/predicted.csv")
    def predict(
        rows: Annotated[Path, typer.Argument(help="CSV, one layout per row (columns: docs/methodology.md).")],
        out: Annotated[
            Path | None, typer.Option("-o", "--output", help="CSV to write; standard output if none.")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Write JSON records instead of CSV.")] = False,
    ) -> None:
        """Predict memory, step time and MFU of every row; a row that says too little is unknown, with why."""
        from analysis import predicting

        try:
            table = predicting.read(rows)
            answer = predicting.run(table, material(records), lambda path: architecture(rows.parent / path))
            text = predicting.render(answer, as_json)
            predicting.write(text, out)
        except predicting.RefusalError as error:
            raise refuse(str(error)) from None
        if out is None:
            typer.echo(text, nl=False)
        else:
            typer.echo(f"{out}: {len(answer):,} rows, {int(answer['step_time_s'].notna().sum()):,} with a step time, "
                       f"{int(answer['memory_gib'].notna().sum()):,} with memory")  # fmt: skip

    return app
