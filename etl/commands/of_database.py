"""Commands on the database: build, sql, export, stats, diff, crosscheck and docs. Only these functions print."""

from __future__ import annotations

import shutil
import sys
from enum import StrEnum
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from etl.commands.shared import checkout, progress, refusing
from schemas.front import Front

if TYPE_CHECKING:
    from etl.database.rowset import Answer
    from etl.paths import Paths
    from etl.records.loading import Catalogue

app = typer.Typer(no_args_is_help=True, add_completion=False, help="The database and what is made from it.")


GRAVE = ("YAM", "SCH", "TDO", "REF", "SRC")
"""Families of findings that keep records from being built."""


class Form(StrEnum):
    """How an answer is printed."""

    table = "table"
    csv = "csv"
    json = "json"


@app.command(epilog="Example: shardbook build")
def build() -> None:
    """Write build/shardbook.duckdb from the records, after checking them. A killed build leaves the last good file."""
    from etl.database import building

    with refusing(), progress("build") as step:
        paths = checkout()
        step("reading and checking records")
        counts = building.build(paths, checked(paths), step)
    summary = ", ".join(f"{number} {kind}{'' if number == 1 else 's'}" for kind, number in counts.items() if number)
    typer.echo(f"{paths.database.relative_to(paths.root)}: {summary or 'no records'}")


def checked(paths: Paths) -> Catalogue:
    """The records of a checkout, refused where a check finds more than style.

    Parameters
    ----------
    paths : the checkout

    Returns
    -------
    the catalogue

    Raises
    ------
    RefusalError : some record has findings of a family in GRAVE
    """
    from datetime import date

    from etl.checks.runner import examine
    from etl.records import loading, schema
    from schemas.refusal import RefusalError

    catalogue = loading.load(paths.data)
    findings = examine(catalogue, schema.load(paths.schemas), date.today())
    # What cannot be read, is a draft, is not in the schema, points nowhere or has no source stays out. All
    # else may be just what a source prints (numbers that contradict one another): it is built, and the verdicts judge.
    grave = [finding for finding in findings if finding.code.startswith(GRAVE)]
    if findings and not grave:
        typer.echo(f"shardbook: built with {len(findings)} findings; `shardbook check` lists them", err=True)
    if grave:
        first = grave[0]
        more = f" and {len(grave) - 1} more" if len(grave) > 1 else ""
        raise RefusalError(
            f"{first.path}:{first.line}:{first.col} {first.code} {first.message}{more};"
            " nothing was built, `shardbook check` lists all."
        )
    return catalogue


@app.command(
    epilog='Example: shardbook sql "select run_id, tokens from run_summary order by tokens desc limit 5"',
    context_settings={"ignore_unknown_options": True},  # a query may begin with a remark, which begins with --
)
def sql(
    query: Annotated[str, typer.Argument(help="One statement that reads; `-` takes it from standard input.")],
    form: Annotated[Form, typer.Option("--format", help="table for people, csv or json for programs.")] = Form.table,
) -> None:
    """Run one read-only query on the built database; nothing outside it can be read and nothing is written."""
    from etl.database.querying import query as ask

    with refusing():
        paths = checkout()
        text = sys.stdin.read() if query == "-" else query
        answer = ask(paths.database, text)
    show(answer, form)


def show(answer: Answer, form: Form) -> None:
    """Print an answer in one of the three forms."""
    from etl.database import rowset

    width = shutil.get_terminal_size().columns if sys.stdout.isatty() else None
    if form is Form.table:
        typer.echo(rowset.as_table(answer, width))
    else:
        typer.echo(rowset.as_json(answer) if form is Form.json else rowset.as_csv(answer), nl=form is Form.json)


@app.command(epilog="Example: shardbook export")
def export() -> None:
    """Write every table and view as CSV and Parquet to build/export, with datapackage.json."""
    from etl.publish.export import export as write

    with refusing(), progress("export") as step:
        paths = checkout()
        files = write(paths, step)
    typer.echo(f"{paths.export.relative_to(paths.root)}: {len(files)} files, described by datapackage.json")


@app.command(epilog="Example: shardbook stats --markdown")
def stats(
    markdown: Annotated[bool, typer.Option("--markdown", help="Only the summary, as it stands in README.md.")] = False,
) -> None:
    """Count what the records hold: by kind, by year, by accelerator; where values come from; how much is known."""
    from etl.database import building
    from etl.publish import stats as statistics
    from etl.records import schema

    with refusing():
        paths = checkout()
        with building.memory(paths) as connection:
            sections = statistics.sections(connection, statistics.SUMMARY if markdown else statistics.ALL)
            known = statistics.coverage(connection, schema.load(paths.schemas))
    typer.echo(statistics.as_markdown(sections) if markdown else statistics.as_text([*sections, known]))


@app.command(epilog="Example: shardbook diff main")
def diff(
    context: typer.Context,
    base: Annotated[str, typer.Argument(help="A commit (main, HEAD~1, a tag) or another database file.")],
    claims: Annotated[bool, typer.Option("--claims", help="Judge all runs and claims anew (slower).")] = False,
) -> None:
    """Show which records, values, verdicts and claims differ from BASE, as Markdown for a pull request."""
    import tempfile

    from etl.contribute import states
    from etl.contribute.diff import markdown

    front = context.find_root().obj
    assess, whole = (front.assess, front.assess_file) if isinstance(front, Front) else (None, None)
    with refusing(), progress("diff") as step, tempfile.TemporaryDirectory() as folder:
        before, after = states.both(checkout(), base, Path(folder), assess, step, whole if claims else None)
        text = markdown(base, before, after)
    typer.echo(text)


@app.command(epilog='Example: shardbook changelog v0.1.0 "0.2.0 (2026-12-01)"')
def changelog(
    base: Annotated[str, typer.Argument(help="A commit (main, HEAD~1, a tag) of the version before.")],
    title: Annotated[str, typer.Argument(help="Version and date of the records as they are now.")],
) -> None:
    """Write what changed in the records since BASE into data/CHANGELOG.md."""
    import tempfile

    from etl.contribute import changelog as changes
    from etl.contribute import states
    from etl.records import loading
    from schemas import files

    with refusing(), progress("changelog") as step, tempfile.TemporaryDirectory() as folder:
        paths = checkout()
        step(f"reading {base}")
        before = states.of_checkout(states.at_commit(paths, base, Path(folder)))
        step("reading the working tree")
        listed = loading.load(paths.data)["removed"].get("removed")
        entries = listed.value.get("removed", ()) if listed else ()
        removed = {(one["kind"], one["id"]): one for one in entries}
        section = changes.section(title, before, states.of_checkout(paths), removed)
        target = paths.data / loading.CHANGELOG
        old = target.read_text("utf-8") if target.exists() else changes.HEAD
        files.replace(target, changes.with_section(old, title, section))
    typer.echo(target.relative_to(paths.root))


class Table(StrEnum):
    """Whose table is compared with."""

    epoch = "epoch"


@app.command(epilog="Example: shardbook crosscheck epoch notable_ai_models.csv --format csv")
def crosscheck(
    whose: Annotated[Table, typer.Argument(help="Whose table it is: epoch, Epoch AI's notable models.")],
    file: Annotated[
        Path, typer.Argument(help="The CSV file as downloaded from epoch.ai/data; it is read and never kept.")
    ],
    form: Annotated[Form, typer.Option("--format", help="table for people, csv or json for programs.")] = Form.table,
) -> None:
    """Compare our runs with somebody else's table: agreements, differences with their ratio, likely causes."""
    from etl.contribute import crosscheck as comparison
    from etl.database import building

    with refusing():
        rows = {Table.epoch: comparison.read}[whose](file)
        with building.memory(checkout(), ("run", "model")) as connection:
            compared = comparison.compare(connection, rows)
    show(comparison.answer(compared), form)
    if form is Form.table:
        agree = sum(pair.agrees for pair in compared.pairs)
        typer.echo(f"{agree} of {len(compared.pairs)} common figures agree within {comparison.CLOSE:.0%}.")
        typer.echo(f"Not in their table: {', '.join(compared.unmatched) or 'none'}.\n{comparison.CREDIT}")


@app.command(epilog="Example: shardbook docs --check")
def docs(
    context: typer.Context,
    check: Annotated[bool, typer.Option("--check", help="Write nothing; exit 1 where a page is out of date.")] = False,
) -> None:
    """Make docs/data-dictionary.md, docs/checks.md, docs/cli.md and the statistics in README.md anew."""
    import duckdb

    from etl.commands.pages import commands_page
    from etl.database import building, filling
    from etl.publish import docs as generated
    from etl.records import loading, schema

    with refusing(), duckdb.connect() as connection:
        paths, catalogue = checkout(), loading.load(checkout().data)
        schemas = schema.load(paths.schemas)
        tables = filling.fill(connection, schemas, catalogue, building.about(paths, catalogue))
        wanted = generated.pages(paths, schemas, connection, tables, commands_page(context.find_root()))
        stale = generated.stale(wanted)
        if not check:
            generated.write(wanted, stale)
    names = ", ".join(path.relative_to(paths.root).as_posix() for path in stale)
    if check and stale:
        typer.echo(f"shardbook: out of date: {names}; run `{generated.COMMAND}` and commit what it writes.", err=True)
        raise typer.Exit(1)
    typer.echo(f"written: {names}" if stale else "every generated page is up to date")


if __name__ == "__main__":
    app()
