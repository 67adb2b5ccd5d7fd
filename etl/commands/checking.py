"""Commands on records: check, fmt and new. Only these functions print."""

from __future__ import annotations

from enum import StrEnum
from pathlib import Path
from typing import Annotated

import typer

from etl.commands.selection import Selection
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


class Kind(StrEnum):
    """Kinds of record that a draft can be made of."""

    run = "run"
    model = "model"
    accelerator = "accelerator"
    system = "system"
    benchmark = "benchmark"
    cluster = "cluster"
    trend = "trend"
    claim = "claim"
    organization = "organization"


Where = Annotated[list[Path] | None, typer.Argument(help="Files or folders below data/; all of it when none is given.")]


def _misuse(sentence: str) -> typer.Exit:
    typer.echo(f"shardbook: {sentence}", err=True)
    return typer.Exit(2)


def _paths() -> Paths:
    try:
        return Paths(find_root(Path.cwd()))
    except FileNotFoundError as error:
        raise _misuse(str(error)) from None


def _selection(paths: Paths, where: list[Path] | None) -> Selection:
    try:
        return Selection.of(paths.data, where or [])
    except ValueError as error:
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

    from etl.checks.runner import examine
    from etl.records import schema
    from etl.records.loading import load
    from etl.yaml import findings

    paths = _paths()
    selection = _selection(paths, where)
    catalogue = load(paths.data)
    selected = [
        one for one in examine(catalogue, schema.load(paths.schemas), date.today()) if selection.holds(one.path)
    ]
    printed = findings.render(selected, form.value)
    if printed:
        typer.echo(printed)
    if form is Form.text:
        count = sum(selection.holds(record.doc.path) for record in catalogue)
        typer.echo(findings.summary(selected, count))
    raise typer.Exit(1 if selected else 0)


@app.command(epilog="Example: shardbook fmt data/runs/meta")
def fmt(
    where: Where = None,
    only_check: Annotated[bool, typer.Option("--check", help="Change nothing; exit 1 if a file would change.")] = False,
) -> None:
    """Write records in canonical form: key order of the schema, one spelling of quotes, wrapped prose."""
    from etl.records import schema
    from etl.records.formatting import rewrite
    from etl.records.loading import load
    from etl.yaml import findings

    paths = _paths()
    selection = _selection(paths, where)
    shapes = schema.load(paths.schemas).shapes
    catalogue = load(paths.data)
    changed: list[str] = []
    selected = [one for one in catalogue.findings if selection.holds(one.path)]
    for record in catalogue:
        if selection.holds(record.doc.path):
            change = rewrite(record, shapes.get(record.kind), write=not only_check)
            changed += [record.doc.path] if change.changed else []
            selected += change.findings
    for path in changed:
        typer.echo(f"{'would format' if only_check else 'formatted'} {path}")
    if selected:
        typer.echo(findings.render(selected))
    raise typer.Exit(1 if selected or (only_check and changed) else 0)


@app.command(epilog="Example: shardbook new run example-lab/tiny-7b --from docs/examples/config.json")
def new(
    kind: Annotated[Kind, typer.Argument(help="Kind of record.", metavar="KIND")],
    key: Annotated[
        str, typer.Argument(help="Id of the record: ORG/NAME, or NAME for tables and clusters.", metavar="ID")
    ],
    config: Annotated[
        list[Path] | None,
        typer.Option("--from", help="A published config or log whose facts are taken over; again for each companion."),
    ] = None,
) -> None:
    """Write a draft, of a run with its model's, with `todo` wherever a person has to write; print how to fill each."""
    from etl.contribute.drafting import guidelines, write_with_model
    from etl.records import schema

    paths = _paths()
    schemas = schema.load(paths.schemas)
    try:
        made = write_with_model(paths, kind.value, key, config or [])
    except ValueError as error:
        raise _misuse(str(error)) from None
    for one in made:
        for line in one.draft.left_out:
            typer.echo(f"left out: {line}")
        typer.echo(one.name)
        for place, text in guidelines(one.draft.value, schemas.kind(one.kind)):
            typer.echo(f"  {place}: {text}")
    names = " ".join(one.name for one in made)
    typer.echo(f"wrote {names}; fill in each todo, or delete its line where no source prints it")
    typer.echo(f"then: shardbook fmt {names} && shardbook check {names}")


if __name__ == "__main__":
    app()
