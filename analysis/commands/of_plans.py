"""Planning a run: plan."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, cast

import typer

from analysis.commands.shared import (
    AsJson,
    accelerator_named,
    catalogue,
    front,
    measured,
    model_named,
    print_json,
    refusing,
)

if TYPE_CHECKING:
    from collections.abc import Iterable
    from concurrent.futures import Executor

    from analysis.plan.question import Question
    from analysis.records.load import Catalogue

app = typer.Typer()


@app.command(
    epilog="Example: shardbook plan meta/llama-3.1-405b --accelerator nvidia/h100-sxm-80gb --accelerators 16384"
    " --seq-len 8192 --global-batch 2048"
)
def plan(
    context: typer.Context,
    model: Annotated[str, typer.Argument(help="A model (ORG/NAME, or words of it) or the path of a published config.")],
    accelerator: Annotated[str, typer.Option(help="Accelerator: VENDOR/PART, or words of it.")],
    accelerators: Annotated[str, typer.Option(help="Accelerators: 1024, or 256..4096 to see how it scales.")],
    seq_len: Annotated[int, typer.Option(min=1, help="Sequence length [tokens].")],
    global_batch: Annotated[int, typer.Option(min=1, help="Sequences per optimizer step.")],
    precision: Annotated[str, typer.Option(help="bf16, fp16, fp8, mxfp8, nvfp4.")] = "bf16",
    stack: Annotated[str | None, typer.Option(help="Software: megatron-core (as assumed), nanotron, ...")] = None,
    fix: Annotated[str | None, typer.Option(help="Columns that are given: tp=8,recompute=full.")] = None,
    tokens: Annotated[float | None, typer.Option(min=1, help="Tokens of the run: adds days, hours and energy.")] = None,
    price: Annotated[str | None, typer.Option(help="Of an accelerator-hour, with its currency: '2.50 USD'.")] = None,
    deadline: Annotated[
        float | None, typer.Option(help="Days: the smallest cluster of a range that is in time.")
    ] = None,
    budget: Annotated[float | None, typer.Option(help="In the price's currency: the fastest that it pays.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Layouts to show.")] = 20,
    out: Annotated[Path | None, typer.Option("-o", "--output", help="All ranked layouts: .csv or .parquet.")] = None,
    as_json: AsJson = False,
) -> None:
    """Rank every legal layout by step time, drop what does not fit, and show which are equally fast."""
    from analysis.plan import terminal_table
    from analysis.plan.sizes import Wishes, chosen, parse_price, parse_sizes, sweep
    from analysis.whatif.completion import parse_change
    from analysis.whatif.csv_table import facts_of_model

    given = front(context)
    with refusing(2):
        name, known = model_named(given, model)
        facts = facts_of_model(name, known.models, lambda path: given.architecture(Path(path)))
        wishes = Wishes(tokens, parse_price(price), deadline, budget)
        given_columns = {"precision": precision} | parse_change(fix or "", "--fix")
        question = _question(known, facts, accelerator, (seq_len, global_batch), given_columns, stack)
        plans = sweep(question, parse_sizes(accelerators), known)
        best = chosen(plans, wishes, known)
        if out is not None:
            terminal_table.write(best, out)
    near = terminal_table.nearest_to_winner(best, measured(given), known)
    answer = terminal_table.Answer(str(facts.get("name", model)), plans, best, wishes, known, near, top)
    if as_json:
        print_json(terminal_table.as_json(answer))
    else:
        _print(terminal_table.sections(answer))


def _question(
    known: Catalogue,
    facts: dict[str, Any],
    words: str,
    batch: tuple[int, int],
    fixed: dict[str, Any],
    stack: str | None,
) -> Question:
    """The question with its part result and its model checked."""
    from analysis.plan.question import Question, check_fixed, check_model

    check_model(facts)
    check_fixed(fixed, facts)
    part = accelerator_named(known, words)
    domain = known.accelerators.set_index("id")["scale_up_domain"].to_dict().get(part)
    # A part without fast links of its own shares nothing: TP across hosts is not planned.
    inside = int(domain) if isinstance(domain, int | float) and domain == domain else 1
    return Question(facts, part, 1, *batch, domain=inside, stack=stack, fixed=fixed)


def _print(parts: Iterable[Any]) -> None:
    import sys

    from rich.console import Console

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 160)
    for part in parts:
        console.print(part)


@app.command(name="plan-grid", epilog="Example: shardbook plan-grid docs/examples/grid.csv -o build/grid")
def plan_grid(
    context: typer.Context,
    grid: Annotated[Path, typer.Argument(help="CSV: model, accelerator, accelerators, seq_len, global_batch.")],
    out: Annotated[Path, typer.Option("-o", "--output", help="Folder of Parquet files; those there are kept.")],
    workers: Annotated[int, typer.Option(min=1, help="Processes of this machine.")] = 2,
    scheduler: Annotated[str | None, typer.Option(help="Address of a Dask scheduler, instead of processes.")] = None,
    top: Annotated[int, typer.Option(min=1, help="Layouts to keep of each plan.")] = 1000,
) -> None:
    """Plan many models, parts and sizes into partitioned Parquet; a run that was ended goes on where it stopped."""
    from analysis.plan import grid as grids
    from analysis.whatif.csv_table import facts_of_model

    given = front(context)
    with refusing(2):
        known = catalogue(given)

        def question(row: dict[str, Any]) -> Question:
            facts = facts_of_model(row["model"], known.models, lambda path: given.architecture(grid.parent / path))
            fixed = {"precision": row.get("precision") or "bf16"}
            batch = (int(row["seq_len"]), int(row["global_batch"]))
            made = _question(known, facts, row["accelerator"], batch, fixed, None)
            return replace(made, accelerators=int(row["accelerators"]))

        cells = grids.read(grid, question)
        with _pool(workers, scheduler) as pool:
            for number, done in enumerate(grids.run(cells, known, out, pool, top), 1):
                result = done.why or f"{done.rows:,} layouts"
                size = done.cell.question.accelerators
                typer.echo(f"{number}/{len(cells)} {done.cell.model} on {size:,}: {result}", err=True)
    kept = sum(cell.place(out).is_file() for cell in cells)
    typer.echo(f"{out}: {kept} of {len(cells)} plans; read them with: from read_parquet('{out}/**/*.parquet')")


def _pool(workers: int, scheduler: str | None) -> Executor:
    """Processes of this machine, or of a Dask cluster.

    Raises
    ------
    RefusalError
        Dask is wanted and not installed.
    """
    from schemas.refusal import RefusalError

    if scheduler is None:
        from concurrent.futures import ProcessPoolExecutor
        from multiprocessing import get_context

        return ProcessPoolExecutor(workers, mp_context=get_context("spawn"))
    try:
        from dask.distributed import Client
    except ImportError:
        raise RefusalError("--scheduler needs Dask; install it with: pip install 'dask[distributed]'") from None
    return cast("Executor", Client(scheduler).get_executor())
