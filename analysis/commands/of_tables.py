"""Commands on tables of layouts: predict, calibrate."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from analysis.commands.shared import NEEDED, catalogue, front, measured, refusing

app = typer.Typer()


@app.command(epilog="Example: shardbook predict docs/examples/rows.csv -o build/predicted.csv")
def predict(
    context: typer.Context,
    rows: Annotated[Path, typer.Argument(help="CSV, one layout per row (columns: docs/methodology.md).")],
    out: Annotated[Path | None, typer.Option("-o", "--output", help="CSV to write; standard output if none.")] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Add the three nearest published measurements to each row.")
    ] = False,
    as_json: Annotated[bool, typer.Option("--json", help="Write JSON records instead of CSV.")] = False,
) -> None:
    """Predict memory, step time and MFU of every row; a row that says too little is unknown, with why."""
    from analysis.whatif import csv_table

    given = front(context)
    with refusing():
        table = csv_table.read(rows)
        if ignored := csv_table.unused(table.columns):
            typer.echo(f"{rows}: columns that are not read: {', '.join(ignored)}", err=True)
        known = catalogue(given)
        table, why = csv_table.filled(table, known, lambda path: given.architecture(rows.parent / path))
        answer = csv_table.run(table, why, known)
        if explain:
            answer["nearest_measured"] = csv_table.explained(table, measured(given), known)
        text = csv_table.render(answer, as_json)
        csv_table.write(text, out)
    if out is None:
        typer.echo(text, nl=False)
    else:
        timed, sized = (int(answer[name].notna().sum()) for name in ("step_time_s", "memory_gib"))
        typer.echo(f"{out}: {len(answer):,} rows, {timed:,} with a step time, {sized:,} with memory")


@app.command(epilog="Example: shardbook calibrate")
def calibrate(
    context: typer.Context,
    write: Annotated[bool, typer.Option("--write", help="Put them into data/calibration.")] = False,
) -> None:
    """Refit the engine's constants to the measured rows; print errors fitted beside errors left out by source."""
    from analysis.calibrate import error_tables, left_out, memory
    from analysis.records.load import measured_rows

    given = front(context)
    with given.records((*NEEDED, "benchmark"), {}) as connection:
        rows = measured_rows(connection)
        accelerators = connection.execute("select * from record.accelerators order by id").df()
    before = given.constants.read()
    typer.echo(f"fitting to {len(rows)} measured rows, once for each group left out ...", err=True)
    timed = left_out.fit(rows, accelerators, before)
    fitted = left_out.updated(before, timed)
    after, errors = memory.refit(rows, accelerators, fitted)
    account = "\n\n".join((error_tables.errors(timed), error_tables.coverage(timed, fitted), memory.report(errors)))
    typer.echo(account)
    if write:
        typer.echo(f"wrote {given.constants.write(_changed(before, after))}, {given.constants.publish(account)}")


def _changed(before: dict[str, Any], after: dict[str, Any]) -> dict[str, Any]:
    """The subjects whose constants differ."""
    return {name: constants for name, constants in after.items() if constants != before.get(name)}
