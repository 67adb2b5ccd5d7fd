"""Commands on reported runs: repair, infer."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated, Any

import typer

from analysis.commands.of_database import usable
from analysis.commands.shared import DATABASE, AsJson, Database, print_json, refusing

if TYPE_CHECKING:
    from collections.abc import Iterator

    from analysis.infer.of_database import Outcome
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


@app.command(epilog="Example: shardbook infer meta/llama-3.1-405b")
def infer(
    run: Annotated[str, typer.Argument(help="A run: ORG/NAME, or words of it.")],
    database: Database = DATABASE,
    as_json: AsJson = False,
) -> None:
    """Find the layouts consistent with what a run discloses, its memory and its speed: inferred, not reported."""
    from analysis.infer import of_database
    from schemas import sandbox

    with refusing(), usable(database), sandbox.connect(database) as connection:
        name, outcomes = of_database.of_run(connection, run)
    if as_json:
        print_json({"run": name, "phases": [inferred_json(one) for one in outcomes]})
        return
    typer.echo(f"{name} (inferred, not reported)")
    for one in outcomes:
        typer.echo(f"\n{one.phase}")
        for line in inferred_lines(one):
            typer.echo(f"  {line}")


def inferred_json(one: Outcome) -> dict[str, Any]:
    """What was inferred of a phase as plain values."""
    made = one.inference
    if made is None:
        return {"phase": one.phase, "why": one.why}
    return {
        "phase": one.phase,
        "legal": made.legal,
        "consistent": len(made.consistent),
        "mfu_causal": made.speed,
        "none_left": made.none_left or None,
        "shared": {shared.fact: [plain(value) for value in shared.values] for shared in made.shared},
        "narrows_most": None if made.narrows is None else {"fact": made.narrows[0], "leaves": made.narrows[1]},
    }


def plain(value: Any) -> Any:
    """A NumPy value as Python's own."""
    return value.item() if hasattr(value, "item") else value


def inferred_lines(one: Outcome) -> Iterator[str]:
    """What was inferred of a phase in sentences."""
    made = one.inference
    if made is None:
        yield one.why
        return
    speed = "no speed is reported" if made.speed is None else f"MFU {100 * made.speed:.1f}% with causal attention"
    yield f"{len(made.consistent):,} of {made.legal:,} layouts are consistent ({speed})"
    if made.none_left:
        yield made.none_left
    yield from (f"in all of them {shared.text()}" for shared in made.shared)
    if made.narrows is not None and len(made.consistent) > 1:
        yield f"knowing {made.narrows[0].replace('_', ' ')} would leave {made.narrows[1]:,.0f} on average"


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
