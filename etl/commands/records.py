"""Commands on records: check, fmt and new. Only these functions print."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from etl.paths import Paths, find_root

app = typer.Typer(no_args_is_help=True, add_completion=False, help="Records: check, format, draft.")


class Form(StrEnum):
    """How findings are printed."""

    text = "text"
    json = "json"
    github = "github"


@app.callback()
def group() -> None:
    """Records: check, format, draft."""


Where = Annotated[list[Path] | None, typer.Argument(help="Files or folders below data/; all of it when none is given.")]


def _misuse(sentence: str) -> typer.Exit:
    typer.echo(f"shardbook: {sentence}", err=True)
    return typer.Exit(2)


def _paths() -> Paths:
    try:
        return Paths(find_root(Path.cwd()))
    except FileNotFoundError as error:
        raise _misuse(str(error)) from None


@app.command(epilog="Example: shardbook check data/runs/meta --format github")
def check(
    where: Where = None,
    form: Annotated[
        Form, typer.Option("--format", help="text for people, json for programs, github for pull requests.")
    ] = Form.text,
) -> None:
    """Check records: strict YAML, schema, references, citations, arithmetic, canonical form. All findings at once."""
    from datetime import date

    from etl import findings, schema
    from etl.checks.runner import examine
    from etl.records import load
    from etl.selection import Selection

    paths = _paths()
    try:
        selection = Selection.of(paths.data, where or [])
    except ValueError as error:
        raise _misuse(str(error)) from None
    catalogue = load(paths.data)
    found = [one for one in examine(catalogue, schema.load(paths.schemas), date.today()) if selection.holds(one.path)]
    printed = findings.render(found, form.value)
    if printed:
        typer.echo(printed)
    if form is Form.text:
        count = sum(selection.holds(record.doc.path) for record in catalogue)
        typer.echo(findings.summary(found, count))
    raise typer.Exit(1 if found else 0)


if __name__ == "__main__":
    app()
