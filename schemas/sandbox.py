"""How a database is opened whose SQL somebody else wrote: a claim, a query, a view of a file that was handed over."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from schemas.refusal import RefusalError

if TYPE_CHECKING:
    import duckdb

DATABASE = Path("build") / "shardbook.duckdb"
"""Where `shardbook build` puts the database, below the checkout."""

SANDBOX: dict[str, str | bool | int | float | list[str]] = {
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


def connect(path: Path) -> duckdb.DuckDBPyConnection:
    """Open a database read-only, without access to anything else, its settings locked.

    Parameters
    ----------
    path : the database file

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
    if not path.is_file():
        raise RefusalError(f"{name} does not exist; run `shardbook build` first.")
    try:
        return duckdb.connect(str(path), read_only=True, config=SANDBOX)
    except duckdb.Error as error:
        if "conflicting lock" in str(error).lower():
            raise RefusalError(f"{path} is being written by another program; try again when that has ended.") from None
        raise RefusalError(
            f"{path} is not a readable DuckDB database; run `shardbook build` to write it anew."
        ) from None
