"""Plans over many models, parts and sizes: one Parquet file each, in any pool of workers, resumed where it stopped."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import Executor, as_completed
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import pandas as pd

from analysis.plan.question import Question
from analysis.plan.ranking import plan
from analysis.plan.terminal_table import write
from analysis.records.load import Catalogue
from schemas.refusal import RefusalError

COLUMNS = ("model", "accelerator", "accelerators", "seq_len", "global_batch")
"""Columns that a grid must have; `precision` may stand beside them."""


@dataclass(frozen=True)
class Cell:
    """One question of a grid, and the names that its place is made of."""

    model: str
    question: Question

    def place(self, folder: Path) -> Path:
        """Where its ranked layouts go: folders that DuckDB reads as columns."""
        ask = self.question
        names = {
            "model": self.model.replace("/", "--"),
            "accelerator": ask.accelerator.replace("/", "--"),
            "accelerators": ask.accelerators,
            "seq_len": ask.seq_len,
            "global_batch": ask.global_batch,
        }
        return folder.joinpath(*(f"{name}={value}" for name, value in names.items()), "layouts.parquet")


@dataclass(frozen=True)
class Done:
    """What became of one cell: layouts written, or why there are none."""

    cell: Cell
    rows: int
    why: str = ""


def read(path: Path, question: Callable[[dict[str, Any]], Question]) -> list[Cell]:
    """The cells of a CSV.

    Parameters
    ----------
    path
        CSV with the columns of `COLUMNS`.
    question
        Makes a question of a row.

    Raises
    ------
    RefusalError
        No such file, no CSV, a column missing, a number that is none.
    """
    try:
        table = pd.read_csv(path, dtype=str, keep_default_na=False)
    except (OSError, UnicodeDecodeError, pd.errors.ParserError, pd.errors.EmptyDataError) as error:
        reason = str(error).strip().splitlines()[0]
        raise RefusalError(f"{path} cannot be read as CSV ({reason}); it needs {', '.join(COLUMNS)}") from None
    absent = [name for name in COLUMNS if name not in table]
    if absent:
        raise RefusalError(f"{path} lacks the column {absent[0]}; it needs {', '.join(COLUMNS)}")
    cells = []
    for number, row in enumerate(table.to_dict("records"), 2):
        for name in COLUMNS[2:]:
            if not str(row[name]).isascii() or not str(row[name]).isdigit() or int(row[name]) < 1:
                raise RefusalError(f"{path}:{number} {name} takes a whole number from 1, not {row[name]!r}")
        cells.append(Cell(str(row["model"]), question({str(name): value for name, value in row.items()})))
    return cells


def work(cell: Cell, catalogue: Catalogue, folder: Path, top: int) -> Done:
    """Plan one cell and write its ranked layouts in one step; a pure function but for the file.

    Parameters
    ----------
    cell
        The question.
    catalogue
        Accelerators and constants.
    folder
        Where the partitions go.
    top
        Layouts to keep.
    """
    try:
        made = plan(cell.question, catalogue)
    except RefusalError as error:
        return Done(cell, 0, str(error))
    kept = made.ranked.head(top)
    write(type(made)(**{**made.__dict__, "ranked": kept}), cell.place(folder))
    return Done(cell, len(kept))


def run(cells: Sequence[Cell], catalogue: Catalogue, folder: Path, pool: Executor, top: int = 1000) -> Iterator[Done]:
    """Plan every cell whose file is not there yet, in a pool of workers.

    Parameters
    ----------
    cells
        Questions.
    catalogue
        Accelerators and constants, sent to the workers.
    folder
        Where the partitions go; files that are there are kept, so that a run that was ended goes on.
    pool
        Any `concurrent.futures` executor: processes of this machine, or of a cluster
        (`dask.distributed.Client(...).get_executor()`).
    top
        Layouts to keep of each cell.

    Yields
    ------
    Done
        As the workers finish.
    """
    open_cells = [cell for cell in cells if not cell.place(folder).is_file()]
    futures = [pool.submit(work, cell, catalogue, folder, top) for cell in open_cells]
    for future in as_completed(futures):
        yield future.result()
