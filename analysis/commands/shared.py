"""What the commands of the analysis share: records from the front door, refusals in one sentence, common options."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from schemas.front import Front
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from pandas import DataFrame

    from analysis.records.load import Catalogue

DATABASE = Path("build/shardbook.duckdb")
Database = Annotated[Path, typer.Option("--database", help="Database file that `shardbook build` made.")]
AsJson = Annotated[bool, typer.Option("--json", help="Print JSON.")]
NEEDED = ("accelerator", "system", "model", "calibration")
"""Kinds of records that the engine reads."""


def front(context: typer.Context) -> Front:
    """What the front door gives."""
    given = context.find_root().obj
    if not isinstance(given, Front):
        raise RefusalError("this command runs from the front door: shardbook")
    return given


@contextmanager
def refusing(code: int = 1) -> Iterator[None]:
    """Print a refusal as one sentence on standard error and leave with a code."""
    try:
        yield
    except RefusalError as error:
        typer.echo(f"shardbook: {error}", err=True)
        raise typer.Exit(code) from None


def catalogue(given: Front, model: str | None = None) -> Catalogue:
    """Accelerators, models (or the one named) and constants of the checkout."""
    from analysis.records.load import load

    with given.records(NEEDED, {} if model is None else {"model": model}) as connection:
        return load(connection)


def model_named(given: Front, words: str) -> tuple[str, Catalogue]:
    """The id of the model that is meant, or the path of a config as it is; with what the engine reads.

    Raises
    ------
    RefusalError
        Several records fit, or none.
    """
    from schemas.naming import resolve

    known = catalogue(given, words)
    if Path(words).exists() or words in known.models:
        return words, known
    from analysis.whatif.csv_table import CONFIGS

    if Path(words).suffix in CONFIGS:
        raise RefusalError(f"there is no file {words}; give the path of a config, or words of a model")
    with given.records(("model",), {}) as connection:
        rows = connection.execute("select id, name, organization, aliases from record.models").fetchall()
    name = resolve(words, {row[0]: _names(row[1:]) for row in rows}, "model")
    return name, catalogue(given, name)


def accelerator_named(known: Catalogue, words: str) -> str:
    """The id of the accelerator that is meant.

    Raises
    ------
    RefusalError
        Several records fit, or none.
    """
    from schemas.naming import resolve

    table = known.accelerators
    rows = table[[name for name in ("id", "name", "vendor", "aliases") if name in table]].itertuples(index=False)
    return resolve(words, {row[0]: _names(row[1:]) for row in rows}, "accelerator")


def _names(values: Iterable[Any]) -> list[str]:
    """Texts, and the texts of lists, of a row."""
    lists = [[value] if isinstance(value, str) else value for value in values if value is not None]
    return [str(one) for value in lists if hasattr(value, "__iter__") for one in value]


def measured(given: Front) -> DataFrame:
    """Published measurements not marked doubtful."""
    from analysis.records.load import measured_rows

    with given.records(("benchmark",), {}) as connection:
        return measured_rows(connection)


def print_json(value: Any) -> None:
    """A value as JSON on standard output."""
    import json

    typer.echo(json.dumps(value, indent=1, ensure_ascii=False))
