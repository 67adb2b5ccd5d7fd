"""Folders and files of a checkout. Every path is an argument elsewhere; only this module knows the folder names."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path


@dataclass(frozen=True)
class Paths:
    """Folders and files of one checkout.

    >>> Paths(Path("checkout")).database.as_posix()
    'checkout/build/shardbook.duckdb'
    """

    root: Path

    @property
    def data(self) -> Path:
        """Records, one YAML file each."""
        return self.root / "data"

    @property
    def schemas(self) -> Path:
        """JSON Schemas, the single description of every field."""
        return self.root / "schemas"

    @property
    def docs(self) -> Path:
        """Pages for people, some of them generated."""
        return self.root / "docs"

    @property
    def build(self) -> Path:
        """Everything made from the records; never committed."""
        return self.root / "build"

    @property
    def database(self) -> Path:
        """The database that the three packages meet at."""
        return self.build / "shardbook.duckdb"

    @property
    def report(self) -> Path:
        """The offline page."""
        return self.build / "report" / "index.html"

    @property
    def export(self) -> Path:
        """Parquet and CSV copies of the tables."""
        return self.build / "export"


def find_root(start: Path) -> Path:
    """Find the checkout that holds a place.

    Parameters
    ----------
    start : file or folder to look upwards from

    Returns
    -------
    the nearest folder at or above `start` with `data/` and `schemas/` in it

    Raises
    ------
    FileNotFoundError : there is none; the sentence says what to do
    """
    here = start.resolve()
    for folder in (here, *here.parents):
        if (folder / "data").is_dir() and (folder / "schemas" / "run.schema.json").is_file():
            return folder
    raise FileNotFoundError(
        f"{start}: no folder here or above holds data/ and schemas/; run shardbook inside a checkout of the project"
    )
