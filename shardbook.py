"""The front door: one `shardbook` command made of the command groups of `etl`, `analysis` and `reports`.

It is the only module that imports all three packages, and it holds no logic: it joins their commands and hands one
package's results to another. Heavy libraries are imported inside the commands that need them.
"""

from __future__ import annotations

import io
import sys
from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

import typer

from schemas.front import Front
from shardbook_data import DEFAULTS, check, connect, fit, measured, phases, predict, runs

if TYPE_CHECKING:
    import duckdb

    from etl.paths import Paths

__all__ = ["DEFAULTS", "check", "connect", "fit", "main", "measured", "phases", "predict", "runs"]

HELP = "The open record of how large models were really trained: every number cited, every number recomputed."


def open_records(kinds: Sequence[str], only: Mapping[str, str] | None = None) -> duckdb.DuckDBPyConnection:
    """An in-memory database with the records of some kinds of the checkout; of those in `only`, one id alone."""
    from etl.database import building
    from etl.paths import Paths, find_root

    return building.memory(Paths(find_root(Path.cwd())), kinds, only, with_views=False)


def count(facts: dict[str, Any]) -> dict[str, Any]:
    """Exact parameter counts of an architecture that an importer read."""
    from analysis.physics.parameters import count as exact

    return exact(facts)


def architecture(path: Path) -> dict[str, Any]:
    """Architecture facts of a published config, in the words of the physics."""
    from etl.importers import read_files, whatif

    return whatif.model(read_files([str(path)], count))


def layout(path: Path) -> dict[str, Any]:
    """Layout facts of a launch script, config or log, by column of a layout; none for a file that cannot be read."""
    from etl.importers import ImporterError, read_files, whatif

    try:
        return whatif.layout(read_files([str(path)]))
    except ImporterError:
        return {}


ACCOUNT_BEGIN = "<!-- calibration: begin; DO NOT EDIT, `shardbook calibrate --write` writes this block -->"
ACCOUNT_END = "<!-- calibration: end -->"


class Constants:
    """The calibration files of the checkout."""

    def read(self) -> dict[str, Any]:
        """Nested constants by subject."""
        from etl.database import building

        return dict(building.some(self._paths().data, ["calibration"]).values("calibration"))

    def write(self, subjects: Mapping[str, dict[str, Any]]) -> Path:
        """Replace the files of some subjects, in canonical form; returns their folder."""
        from etl.records import schema
        from etl.records.canonical import dump
        from schemas.files import replace

        paths = self._paths()
        shape = schema.load(paths.schemas).kind("calibration")
        for subject, constants in subjects.items():
            replace(paths.data / "calibration" / f"{subject}.yaml", dump(constants, shape))
        return paths.data / "calibration"

    def publish(self, account: str) -> Path:
        """Put the account of a fit between the markers of the methodology; returns the page."""
        from schemas.files import replace

        page = self._paths().docs / "methodology.md"
        before, _, rest = page.read_text("utf-8").partition(ACCOUNT_BEGIN)
        _, _, after = rest.partition(ACCOUNT_END)
        replace(page, f"{before}{ACCOUNT_BEGIN}\n```text\n{account}\n```\n{ACCOUNT_END}{after}")
        return page

    @staticmethod
    def _paths() -> Paths:
        from etl.paths import Paths, find_root

        return Paths(find_root(Path.cwd()))


def assess(connection: duckdb.DuckDBPyConnection) -> None:
    """Fill the result tables of an open database."""
    from analysis.assess.results import results, write

    write(connection, results(connection))


def assess_file(path: Path) -> object:
    """Fill the result tables of a database file, trends and claims included."""
    from analysis.assess.results import assess

    return assess(path)


def application() -> typer.Typer:
    """All commands in one application."""
    from analysis import commands as analysis_commands
    from etl.commands import checking, of_database
    from etl.importers import commands as importer_commands
    from reports import commands as report_commands

    front = typer.Typer(name="shardbook", help=HELP, no_args_is_help=True, add_completion=False)
    groups = (
        checking.app,
        importer_commands.application(count),
        of_database.app,
        analysis_commands.app,
        report_commands.app,
    )
    for group in groups:
        front.registered_commands += group.registered_commands

    @front.callback()
    def main(context: typer.Context) -> None:
        context.obj = Front(assess, open_records, architecture, layout, Constants(), assess_file)

    return front


def refusal(error: Exception) -> str | None:
    """What to say instead of a traceback; None where the fault is ours and the traceback is wanted.

    A record that cannot be read, a constant that is missing, a disk that is full or read-only and a file that is no
    sound database can meet any command.
    """
    import duckdb

    from analysis.records.constants import MissingConstantError
    from schemas.refusal import RefusalError

    if isinstance(error, RefusalError | MissingConstantError):
        return str(error)
    if isinstance(error, MemoryError):
        return "there is not enough memory for this; close other programs or give it less to do"
    if isinstance(error, OSError):
        return f"{error.filename}: {error.strerror}" if error.filename else str(error)
    # A damaged file raises plain duckdb.Error; faults in a query have classes of their own.
    faults = duckdb.IOException | duckdb.FatalException | duckdb.TransactionException | duckdb.OutOfMemoryException
    if isinstance(error, faults) or type(error) is duckdb.Error:
        return f"the database cannot be used ({str(error).splitlines()[0]}); make it anew with: shardbook build"
    return None


def main() -> None:
    """Run the command line; a closed pipe ends it quietly, bad input and a bad disk in one sentence."""
    for stream in (sys.stdout, sys.stderr):
        if isinstance(stream, io.TextIOWrapper):
            stream.reconfigure(errors="backslashreplace")  # a terminal without Chinese shows numbers in its place
    try:
        application()()
    except BrokenPipeError:
        sys.stderr.close()
        raise SystemExit(141) from None
    except Exception as error:
        sentence = refusal(error)
        if sentence is None:
            raise
        sys.stderr.write(f"shardbook: {sentence}\n")
        raise SystemExit(1) from None
