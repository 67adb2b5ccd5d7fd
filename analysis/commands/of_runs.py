"""Commands on reported runs: repair."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from analysis.commands.of_database import usable
from analysis.commands.shared import DATABASE, AsJson, Database, print_json, refusing

if TYPE_CHECKING:
    from analysis.repair.changes import Repair
    from analysis.repair.of_run import Part

app = typer.Typer()


@app.command(epilog="Example: shardbook repair meta/llama-3.1-405b --as-printed")
def repair(
    run: Annotated[str, typer.Argument(help="A run: ORG/NAME, or words of it.")],
    phase: Annotated[str | None, typer.Option(help="Only this phase.")] = None,
    as_printed: Annotated[
        bool, typer.Option("--as-printed", help="Start from the values that our record calls misprints.")
    ] = False,
    database: Database = DATABASE,
    as_json: AsJson = False,
) -> None:
    """Find the smallest changes of one or two printed values that make all equations hold, the likeliest first."""
    from analysis.repair import changes, of_run
    from schemas import sandbox
    from schemas.refusal import RefusalError

    with refusing():
        with usable(database), sandbox.connect(database) as connection:
            name, parts = of_run.parts(connection, run, as_printed)
        chosen = [part for part in parts if phase in (None, part.name)]
        if not chosen:
            raise RefusalError(f"{name} has no phase {phase!r}; phases: {', '.join(part.name for part in parts[1:])}")
    result = [(part, changes.repairs(part.facts, part.scope, part.elsewhere)) for part in chosen]
    failing = [(part, list(changes.failing(part.facts, part.scope))) for part in chosen]
    if as_json:
        print_json(
            {
                "run": name,
                "parts": [
                    {"phase": part.name or None, "failing": names, "repairs": [changes.as_json(one) for one in repairs]}
                    for (part, repairs), (_, names) in zip(result, failing, strict=True)
                ],
            }
        )
    else:
        _print(name, result, {part.name: names for part, names in failing})


def _print(name: str, result: list[tuple[Part, list[Repair]]], failing: dict[str, list[str]]) -> None:
    typer.echo(name)
    if not any(failing.values()):
        typer.echo("Every equation between its printed values that can be tested holds.")
    for part, repairs in result:
        if not failing[part.name]:
            continue
        typer.echo(f"\n{part.name or 'whole run'}: {', '.join(failing[part.name])}")
        if not repairs:
            typer.echo("  no change of one or two values mends it")
            continue
        for sentence in repairs[0].before:
            typer.echo(f"  {sentence}")
        for number, one in enumerate(repairs, 1):
            typer.echo(f"  {number}. {one.change} ({one.edit.kind.replace('-', ' ').replace('+', ', ')})")
            for sentence in one.after:
                typer.echo(f"     {sentence}")
