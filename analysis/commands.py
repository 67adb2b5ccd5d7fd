"""Commands of the analysis: assess, fit, predict, calibrate. Only these functions print."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Protocol

import typer

if TYPE_CHECKING:
    import duckdb

    from analysis.records.load import Material

DATABASE = Path("build/shardbook.duckdb")
Database = Annotated[Path, typer.Option("--database", help="Database file that `shardbook build` made.")]
Records = Callable[[Sequence[str], Mapping[str, str]], "duckdb.DuckDBPyConnection"]
"""Opens an in-memory database that holds the records of some kinds (of some of them one id alone); the front door gives
it."""
ReadArchitecture = Callable[[Path], dict[str, Any]]
"""Reads a published config into architecture facts; the front door gives it."""


class Constants(Protocol):
    """The calibration file: what it holds, and how to replace it; the front door gives it."""

    def read(self) -> dict[str, Any]:
        """Nested sections of constants."""

    def write(self, text: str) -> Path:
        """Replace the file; returns its path."""


NEEDED = ("accelerator", "system", "model", "calibration")


def refuse(sentence: str, code: int = 1) -> typer.Exit:
    """Print one sentence on standard error and leave with a code."""
    typer.echo(f"shardbook: {sentence}", err=True)
    return typer.Exit(code)


def material(records: Records, model: str | None = None) -> Material:
    """Accelerators, models (or the one named) and constants of the checkout."""
    from analysis.records.load import load

    with records(NEEDED, {} if model is None else {"model": model}) as connection:
        return load(connection)


def application(records: Records, architecture: ReadArchitecture, constants: Constants) -> typer.Typer:
    """The commands, bound to what reads records and configs."""
    app = typer.Typer(no_args_is_help=True, add_completion=False)

    @app.command(epilog="Example: shardbook assess")
    def assess(database: Database = DATABASE) -> None:
        """Recompute every run and phase; write parameters, FLOP, memory, communication, timing and verdicts."""
        import duckdb

        from analysis.assess.results import assess as run
        from analysis.trends.claims import ClaimError

        if not database.exists():
            raise refuse(f"there is no database at {database}; make it with: shardbook build")
        try:
            written = run(database, lambda text: typer.echo(f"  {text} ...", err=True))
        except ClaimError as error:
            raise refuse(str(error)) from None
        except (KeyError, duckdb.CatalogException, duckdb.BinderException) as error:
            older = f"the database {database} is older than this version of shardbook ({str(error).splitlines()[0]})"
            raise refuse(f"{older}; make it anew with: shardbook build") from None
        except duckdb.IOException as error:
            raise refuse(f"the database {database} cannot be used ({str(error).splitlines()[0]})") from None
        typer.echo(", ".join(f"{count:,} {table}" for table, count in written.items()) + f" in {database}")

    @app.command(epilog="Example: shardbook claims --topic utilisation")
    def claims(
        topic: Annotated[str | None, typer.Option(help="Only one topic: memory, parallelism, layouts, ...")] = None,
        database: Database = DATABASE,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Print each claim with its verdict, the numbers, and what would change it."""
        import json

        import duckdb

        from analysis.records.facts import query

        if not database.exists():
            raise refuse(f"there is no database at {database}; make it with: shardbook build && shardbook assess")
        with duckdb.connect(str(database), read_only=True) as connection:
            try:
                found = query(connection, "judged_claims").to_dict("records")
            except (duckdb.CatalogException, duckdb.BinderException) as error:
                raise refuse(f"{database} is no database of this version ({str(error).splitlines()[0]})") from None
        shown = [row for row in found if topic in (None, row["topic"])]
        if not shown:
            raise refuse("there are no judged claims" + (f" on {topic!r}" if topic else "") + "; run: shardbook assess")
        if as_json:
            typer.echo(json.dumps(shown, ensure_ascii=False, indent=1))
            return
        for row in shown:
            typer.echo(f"{row['number']}. [{row['verdict']}] {row['statement_en']}\n   {row['finding_en']}")
            typer.echo(f"   Would change: {row['would_change_en']}\n")

    @app.command(epilog="Example: shardbook predict docs/examples/rows.csv -o build/predicted.csv")
    def predict(
        rows: Annotated[Path, typer.Argument(help="CSV, one layout per row (columns: docs/methodology.md).")],
        out: Annotated[
            Path | None, typer.Option("-o", "--output", help="CSV to write; standard output if none.")
        ] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Write JSON records instead of CSV.")] = False,
    ) -> None:
        """Predict memory, step time and MFU of every row; a row that says too little is unknown, with why."""
        from analysis.whatif import csv_table as predicting

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

    @app.command(epilog="Example: shardbook calibrate")
    def calibrate(
        write: Annotated[bool, typer.Option("--write", help="Put them into data/calibration.yaml.")] = False,
    ) -> None:
        """Refit the engine's constants to the measured rows; print errors fitted beside errors left out by source."""
        from analysis.calibrate import memory as calibration_memory
        from analysis.calibrate import step_time as calibration
        from analysis.engine import constants as file_of_constants
        from analysis.records.load import measured_rows

        with records((*NEEDED, "benchmark"), {}) as connection:
            rows = measured_rows(connection)
            accelerators = connection.execute("select * from record.accelerators order by id").df()
        before = constants.read()
        typer.echo(f"fitting to {len(rows)} measured rows, once for each source left out ...", err=True)
        timed = calibration.fit(rows, accelerators, before)
        typer.echo(calibration.report(timed))
        after, errors = calibration_memory.refit(rows, accelerators, calibration.updated(before, timed))
        typer.echo("\n" + calibration_memory.report(errors))
        if write:
            typer.echo(f"wrote {constants.write(file_of_constants.to_yaml(after))}")

    @app.command(
        epilog="Example: shardbook fit meta/llama-3.1-405b --accelerator nvidia/h100-sxm-80gb --accelerators 16384"
        " --tp 8 --pp 16 --seq-len 8192 --global-batch 2048 --vs vpp=8"
    )
    def fit(
        model: Annotated[str, typer.Argument(help="A model record (ORG/NAME) or the path of a published config.")],
        accelerator: Annotated[str, typer.Option(help="Accelerator record: VENDOR/PART.")],
        accelerators: Annotated[int, typer.Option(min=1, help="Accelerators used.")],
        seq_len: Annotated[int, typer.Option(min=1, help="Sequence length [tokens].")],
        global_batch: Annotated[int, typer.Option(min=1, help="Sequences per optimizer step.")],
        tp: Annotated[int, typer.Option(min=1, help="Tensor-parallel degree.")] = 1,
        cp: Annotated[int, typer.Option(min=1, help="Context-parallel degree.")] = 1,
        pp: Annotated[int, typer.Option(min=1, help="Pipeline-parallel degree.")] = 1,
        vpp: Annotated[int, typer.Option(min=1, help="Virtual stages per pipeline rank.")] = 1,
        dp: Annotated[int | None, typer.Option(min=1, help="Data-parallel degree; derived if absent.")] = None,
        ep: Annotated[int, typer.Option(min=1, help="Expert-parallel degree.")] = 1,
        etp: Annotated[int | None, typer.Option(min=1, help="Expert-tensor-parallel degree.")] = None,
        micro_batch: Annotated[int, typer.Option(min=1, help="Sequences per micro-batch.")] = 1,
        zero_stage: Annotated[int, typer.Option(min=0, max=3, help="ZeRO stage; FSDP is 3.")] = 1,
        precision: Annotated[str, typer.Option(help="bf16, fp16, fp8, mxfp8, nvfp4.")] = "bf16",
        recompute: Annotated[str, typer.Option(help="none, selective, 'selective (mlp,moe_act)', full.")] = "none",
        attention_kernel: Annotated[str, typer.Option(help="flash or unfused.")] = "flash",
        schedule: Annotated[str | None, typer.Option(help="1f1b, interleaved, zb1p, zbv, dualpipe.")] = None,
        layers_per_stage: Annotated[str | None, typer.Option(help="Uneven split: 7,8*14,7.")] = None,
        vs: Annotated[list[str] | None, typer.Option(help="Another layout beside it: field=value,...")] = None,
        as_json: Annotated[bool, typer.Option("--json", help="Print JSON.")] = False,
    ) -> None:
        """Does a layout fit, where do its bytes and seconds go? Exit 0 could fit, 1 does not fit, 3 cannot tell."""
        given = {name: value for name, value in locals().items() if name in LAYOUT_OPTIONS and value is not None}
        raise typer.Exit(_fit(records, architecture, model, given, vs or [], as_json))

    return app


LAYOUT_OPTIONS = frozenset((
    "accelerator", "accelerators", "seq_len", "global_batch", "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "micro_batch",
    "zero_stage", "precision", "recompute", "attention_kernel", "schedule", "layers_per_stage",
))  # fmt: skip


def _fit(
    records: Records, architecture: ReadArchitecture, model: str, given: dict[str, Any], vs: list[str], as_json: bool
) -> int:
    """Judge the layouts, print them, return the exit code of the first."""
    import json

    from analysis.whatif import fit as fitting
    from analysis.whatif.csv_table import RefusalError, facts_of_model

    found = material(records, model)
    try:
        facts = facts_of_model(model, found.models, lambda name: architecture(Path(name)))
        changes: list[dict[str, Any]] = [{}, *(fitting.parse_change(text) for text in vs)]
        # A changed axis leaves dp to be derived again.
        layouts = [{k: v for k, v in given.items() if k != "dp" or not change} | change for change in changes]
        known = set(found.accelerators["id"])
        for layout in layouts:
            if layout["accelerator"] not in known:
                raise RefusalError(_unknown_accelerator(layout["accelerator"], known))
        fits = [fitting.fit(facts, layout, found) for layout in layouts]
    except (fitting.LayoutError, RefusalError) as error:
        raise refuse(str(error), 2) from None
    if as_json:
        shown = [one.as_json() for one in fits]
        typer.echo(json.dumps(shown[0] if not vs else shown, indent=1, ensure_ascii=False))
    else:
        _print_fits(str(facts.get("name", model)), fits)
    return fitting.EXIT_CODES[fits[0].verdict]


def _unknown_accelerator(name: str, known: set[str]) -> str:
    from difflib import get_close_matches

    near = get_close_matches(name, sorted(known), 3, 0.4)
    return f"there is no accelerator {name!r}; did you mean {' or '.join(near) or 'one under data/accelerators'}?"


def _print_fits(name: str, fits: list[Any]) -> None:
    import sys

    from rich.console import Console

    from analysis.whatif import terminal as fit_text

    console = Console(highlight=False, markup=False, width=None if sys.stdout.isatty() else 140)
    for part in fit_text.sections(name, fits):
        console.print(part)
