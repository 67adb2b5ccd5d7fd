"""The command `shardbook import`: facts of published configs and logs. Only this module prints."""

from __future__ import annotations

import json
import sys
from collections.abc import Callable, Iterable, Iterator
from itertools import islice
from pathlib import Path, PurePosixPath
from typing import Annotated, Any

import typer

from etl.importers.facts import Reading
from etl.importers.formats_list import formats, read_files
from etl.importers.problems import ImporterError
from etl.importers.together import runs, visible

Counter = Callable[[dict[str, Any]], Any]
"""Counts parameters of a mapping of architecture facts; the front door gives the one of the analysis layer."""

MOST_FILES = 20_000
MOST_COMPANIONS = 32
FAULTS = (ValueError, TypeError, LookupError, AttributeError, ArithmeticError, RecursionError, MemoryError)

Paths = Annotated[
    list[str] | None, typer.Argument(help="Config or log, then the files it needs beside it; or the folder of a run.")
]
AsJson = Annotated[bool, typer.Option("--json", help="One JSON object (one per line and file with --each).")]
Each = Annotated[bool, typer.Option("--each", help="Read every path on its own instead of the first with companions.")]
ListFormats = Annotated[bool, typer.Option("--list", help="Show the formats, what each gives and what it cannot.")]


def application(counter: Counter | None = None) -> typer.Typer:
    """The command, bound to a parameter counter.

    Parameters
    ----------
    counter : called with one mapping of facts when an architecture is complete; without it no totals are given
    """
    app = typer.Typer(add_completion=False, no_args_is_help=True)

    @app.command("import", epilog="Example: shardbook import docs/examples/train.sh --json")
    def import_(paths: Paths = None, as_json: AsJson = False, each: Each = False, list_: ListFormats = False) -> None:
        """Read a published config or log into facts with origin, key and line. Nothing that is read is executed."""
        if list_:
            typer.echo(formats_text())
            return
        if not paths:
            raise _refuse("no file was named; pass the path of a config or log, or --list")
        try:
            if each or len(paths) > MOST_COMPANIONS:
                raise typer.Exit(_print_each([[path] for path in _files(paths)], as_json, counter))
            if Path(paths[0]).is_dir():
                hits = [run for path in paths for run in (runs(path) if Path(path).is_dir() else [[path]])]
                raise typer.Exit(_print_each(hits, as_json, counter))
            reading = one(paths, counter)
        except ImporterError as problem:
            raise _refuse(str(problem)) from None
        _echo(json.dumps(reading.as_json()) if as_json else facts_text(reading))

    return app


def one(paths: list[str], counter: Counter | None) -> Reading:
    """One reading; a fault of a reader becomes a sentence as well.

    Raises ImporterError.
    """
    try:
        return read_files(paths, counter)
    except ImporterError:
        raise
    except FAULTS as fault:
        kind = type(fault).__name__
        raise ImporterError(f"{paths[0]} cannot be followed by its reader ({kind}); please report it") from None


def facts_text(reading: Reading) -> str:
    """A reading as an aligned table.

    >>> reading = Reading("hf_config")
    >>> reading.state("layers", 80, "num_hidden_layers", 12)
    True
    >>> print(facts_text(reading))
    hf_config
      layers  80  stated  num_hidden_layers, line 12
    """
    names = max((len(name) for name in reading.facts), default=0)
    values = max((len(str(fact.value)) for fact in reading.facts.values()), default=0)
    rows = [reading.format]
    for name, fact in reading.facts.items():
        where = ", ".join(filter(None, (fact.key, f"line {fact.line}" if fact.line else "")))
        rows.append(f"  {name:<{names}}  {fact.value!s:>{values}}  {fact.origin}  {where}".rstrip())
    return "\n".join([*rows, *(f"  warning  {warning}" for warning in reading.warnings)])


def formats_text() -> str:
    """The formats, what each gives and what it cannot."""
    width = max(len(row.name) for row in formats())
    return "\n".join(f"{row.name:<{width}}  tells {row.tells}; cannot tell {row.cannot}" for row in formats())


def _print_each(hits: Iterable[list[str]], as_json: bool, counter: Counter | None) -> int:
    """Read every run, a file with its companions; the exit code is 1 when none could be read."""
    done = failed = 0
    for path, *beside in hits:
        extra = {"companions": beside} if beside else {}
        title = f"{path} with {', '.join(PurePosixPath(b).name for b in beside)}" if beside else path
        try:
            reading = one([path, *beside[:MOST_COMPANIONS]], counter)
        except ImporterError as problem:
            failed += 1
            _echo(json.dumps({"path": path, **extra, "error": str(problem)}) if as_json else f"{title}\n  {problem}")
            continue
        done += 1
        _echo(
            json.dumps({"path": path, **extra, **reading.as_json()}) if as_json else f"{title}\n{facts_text(reading)}"
        )
    if not done:
        why = f"none of {failed} files could be read as a config or log" if failed else "no file was found"
        typer.echo(f"shardbook: {why}; --list shows the formats", err=True)
    return 0 if done else 1


def _files(paths: list[str]) -> Iterator[str]:
    """Visible regular files of folders in order of name, links to folders not followed; other paths as they are."""
    for path in paths:
        if not Path(path).is_dir():
            yield path
            continue
        yield from islice(visible(path), MOST_FILES)


def _refuse(sentence: str) -> typer.Exit:
    typer.echo(f"shardbook: {_plain(sentence)}", err=True)
    return typer.Exit(1)


def _plain(text: str) -> str:
    """Text of unknown origin without control characters, so that it cannot steer a terminal."""
    return "".join(c if c.isprintable() or c == "\n" else "?" for c in text)


def _echo(text: str) -> None:
    sys.stdout.write(_plain(text) + "\n")
