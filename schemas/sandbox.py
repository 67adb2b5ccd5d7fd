"""How a database is read whose SQL somebody else wrote: a claim, a query, a view of a file that was handed over."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import threading
from dataclasses import dataclass
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any

from schemas.refusal import RefusalError

if TYPE_CHECKING:
    import duckdb

DATABASE = Path("build") / "shardbook.duckdb"
"""Where `shardbook build` puts the database, below the checkout."""

Settings = dict[str, str | bool | int | float | list[str]]

SANDBOX: Settings = {
    "enable_external_access": False,
    "autoload_known_extensions": False,
    "autoinstall_known_extensions": False,
    "temp_directory": "",
    "memory_limit": "2GB",
    "lock_configuration": True,
}
"""DuckDB settings under which SQL reaches no file, address, extension or setting, and spills nothing to disk."""

LONGEST = 60.0
"""Time limit of one query [s]; those of the project take milliseconds."""

MOST_ROWS = 1_000_000
"""Rows of an answer, which is held in memory."""

LARGEST_CELL = 1_000_000
"""Characters of one value."""


@dataclass(frozen=True)
class Limits:
    """What one query may use.

    Attributes
    ----------
    seconds : time, after which its process is ended
    rows : rows of the answer
    cell : characters of one value of the answer
    """

    seconds: float = LONGEST
    rows: int = MOST_ROWS
    cell: int = LARGEST_CELL


class QueryError(RefusalError):
    """A query that was refused, failed or stopped.

    Attributes
    ----------
    kind : `database`, `statement`, `sql`, `rows`, `cell`, `time` or `memory`
    detail : DuckDB's own message where it gave one
    """

    def __init__(self, kind: str, sentence: str, detail: str = "") -> None:
        super().__init__(sentence)
        self.kind, self.detail = kind, detail


def connect(path: Path, writes_to: Path | None = None) -> duckdb.DuckDBPyConnection:
    """Open a database read-only, without access to anything else, its settings locked.

    Only SQL of the project is run on it; views in the file are somebody else's and reach nothing either.

    Parameters
    ----------
    path : the database file
    writes_to : a folder that `copy ... to` may write to, and nothing else

    Returns
    -------
    the connection; the caller closes it

    Raises
    ------
    RefusalError : the file is missing, locked by a program that writes it, or not a DuckDB database

    >>> connect(Path("nowhere.duckdb"))
    Traceback (most recent call last):
    schemas.refusal.RefusalError: nowhere.duckdb does not exist; run `shardbook build` first.
    """
    import duckdb

    name = Path(*path.parts[-2:])
    if not path.exists():
        raise RefusalError(f"{name} does not exist; run `shardbook build` first.")
    if not path.is_file():
        raise RefusalError(f"{name} is not a file; give a database that `shardbook build` made.")
    try:
        return _opened(path, writes_to)
    except duckdb.Error as error:
        if "conflicting lock" in str(error).lower():
            raise RefusalError(f"{path} is being written by another program; try again when that has ended.") from None
        raise RefusalError(
            f"{path} is not a readable DuckDB database; run `shardbook build` to write it anew."
        ) from None


def _opened(path: Path, writes_to: Path | None) -> duckdb.DuckDBPyConnection:
    import duckdb

    if writes_to is None:
        return duckdb.connect(str(path), read_only=True, config=SANDBOX)
    # The folder has to be named before access is closed. One thread writes the rows of a file in one order.
    later = {name: SANDBOX[name] for name in ("enable_external_access", "lock_configuration")}
    before = {name: value for name, value in SANDBOX.items() if name not in later}
    connection = duckdb.connect(str(path), read_only=True, config={**before, "threads": 1})
    connection.execute("set allowed_directories = $folders", {"folders": [str(writes_to.resolve())]})
    for name, value in later.items():
        connection.execute(f"set {name} = {value}")
    return connection


class Sandbox:
    """A process that runs untrusted SQL on one database file, and that can be ended in the middle of it.

    Parameters
    ----------
    path : the database file
    limits : what one query may use
    """

    def __init__(self, path: Path, limits: Limits = Limits()) -> None:
        self._path, self._limits = path, limits
        self._child: subprocess.Popen[str] | None = None

    def __enter__(self) -> Sandbox:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """End the process."""
        if self._child is not None:
            self._child.kill()
            self._child.communicate()
            self._child = None

    def query(self, sql: str) -> tuple[tuple[str, ...], list[tuple[Any, ...]]]:
        """Run one statement that reads.

        Parameters
        ----------
        sql : the statement

        Returns
        -------
        columns and rows; values are those that JSON knows, dates are text

        Raises
        ------
        QueryError : it does more than read, fails, or exceeds a limit
        """
        limits = self._limits
        sql = sql.encode("utf-8", "surrogateescape").decode("utf-8", "replace")
        reply = self._ask({"path": str(self._path), "sql": sql, "rows": limits.rows, "cell": limits.cell})
        if "kind" in reply:
            raise QueryError(reply["kind"], reply["sentence"], reply.get("detail", ""))
        return tuple(reply["columns"]), [tuple(row) for row in reply["values"]]

    def _ask(self, request: dict[str, Any]) -> dict[str, Any]:
        child = self._child = self._child or _start()
        stopped = threading.Event()

        def stop() -> None:
            stopped.set()
            child.kill()

        watch = threading.Timer(self._limits.seconds, stop)
        watch.start()
        try:
            reply = _spoken(child, json.dumps(request))
        finally:
            watch.cancel()
        if reply:
            answer: dict[str, Any] = json.loads(reply)
            return answer
        self.close()
        if stopped.is_set():
            sentence = f"The query was stopped after {self._limits.seconds:g} s; simplify it or add a limit."
            return {"kind": "time", "sentence": sentence}
        return {"kind": "memory", "sentence": "The query needs more memory than it may have; simplify it."}


def _start() -> subprocess.Popen[str]:
    """The process; it finds this package wherever this package was found, and nothing else of the environment."""
    kept = {name: os.environ[name] for name in ("PATH", "SYSTEMROOT", "TMPDIR") if name in os.environ}
    place = kept | {"PYTHONPATH": str(Path(__file__).parents[1]), "PYTHONUTF8": "1"}
    return subprocess.Popen(
        [sys.executable, "-P", "-m", "schemas.sandbox_process"],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.DEVNULL,
        encoding="utf-8",
        env=place,
    )


def _spoken(child: subprocess.Popen[str], line: str) -> str:
    """The reply to one line, or nothing where the process has ended."""
    if child.stdin is None or child.stdout is None:
        return ""
    try:
        child.stdin.write(f"{line}\n")
        child.stdin.flush()
        return child.stdout.readline()
    except OSError:
        return ""
