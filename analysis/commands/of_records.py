"""Finding records: list."""

from __future__ import annotations

from enum import StrEnum
from typing import Annotated, Any

import typer

from analysis.commands.shared import AsJson, front, print_json, refusing
from schemas.refusal import RefusalError

app = typer.Typer()


class Kind(StrEnum):
    """What can be listed."""

    models = "models"
    runs = "runs"
    accelerators = "accelerators"
    systems = "systems"


COLUMNS: dict[Kind, tuple[str, ...]] = {
    Kind.models: ("name", "organization", "sparsity", "params_total", "params_active", "layers", "hidden"),
    Kind.runs: ("name", "organization", "released", "purpose", "model"),
    Kind.accelerators: ("name", "vendor", "architecture", "hbm_gb", "hbm_gib", "bf16_tflops"),
    Kind.systems: ("name", "accelerator", "accelerators_per_node", "scale_up_domain", "scale_out_gbit_s"),
}
"""Columns shown beside the id."""


@app.command(name="list", epilog="Example: shardbook list accelerators h100")
def list_records(
    context: typer.Context,
    kind: Annotated[str, typer.Argument(help="models, runs, accelerators or systems; or words, for models.")],
    words: Annotated[list[str] | None, typer.Argument(help="Words of id, name, alias or lab; all must fit.")] = None,
    as_json: AsJson = False,
) -> None:
    """List records whose id, name, alias or lab has all the words."""
    from schemas.naming import matching

    if kind in set(Kind):
        chosen, wanted = Kind(kind), " ".join(words or [])
    else:
        chosen, wanted = Kind.models, " ".join([kind, *(words or [])])
    with refusing():
        rows = _rows(context, chosen)
        fitting = set(matching(wanted, {row["id"]: row.pop("names") for row in rows}))
        shown = [row for row in rows if row["id"] in fitting]
        if not shown:
            raise RefusalError(
                f"no {chosen.value[:-1]} fits {wanted!r}; try fewer words, or another kind: {', '.join(Kind)}"
            )
    if as_json:
        print_json(shown)
    else:
        _print(chosen, shown)


def _rows(context: typer.Context, kind: Kind) -> list[dict[str, Any]]:
    """Every record of a kind: id, its columns, and the names it goes by."""
    from analysis.records.facts import facts_of, records
    from analysis.records.spans import Span

    with front(context).records((kind.value[:-1],), {}) as connection:
        table = connection.execute(f"select * from record.{kind.value} order by id").df()  # noqa: S608  (an enum's words)
    made = []
    for row in records(table):
        facts = facts_of(row)
        values = {name: facts.get(name) for name in COLUMNS[kind]}
        plain = {name: value.best if isinstance(value, Span) else value for name, value in values.items()}
        others = [facts.get("name"), facts.get("organization"), facts.get("vendor"), *facts.get("aliases", [])]
        made.append({"id": facts["id"], **plain, "names": [str(one) for one in others if one]})
    return made


def _print(kind: Kind, rows: list[dict[str, Any]]) -> None:
    import sys

    from rich.console import Console
    from rich.table import Table

    from schemas.reasons import count

    table = Table(box=None, pad_edge=False)
    for name in ("id", *COLUMNS[kind]):
        table.add_column(name.replace("_", " "))
    for row in rows:
        cells = ("" if row[name] is None else row[name] for name in ("id", *COLUMNS[kind]))
        table.add_row(*(count(cell) if isinstance(cell, int | float) else str(cell) for cell in cells))
    Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 160).print(table)
