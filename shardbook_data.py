"""What `import shardbook` gives a Python program: tables as data frames, predictions, one layout, checks.

Defaults are those of the command line. Inside a checkout it is the one of the working directory, elsewhere the one that
this module was installed from.
"""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import duckdb
    import pandas as pd

    from analysis.records.load import Catalogue
    from etl.paths import Paths
    from etl.yaml.findings import Finding

DEFAULTS: dict[str, Any] = {
    "tp": 1, "cp": 1, "pp": 1, "micro_batch": 1, "zero_stage": 1, "precision": "bf16", "recompute": "none",
    "attention_kernel": "flash",
}  # fmt: skip
"""What a layout is taken to have where nothing else is said."""


def connect(database: str | Path | None = None) -> duckdb.DuckDBPyConnection:
    """Open the built database, read-only and without access to anything else.

    Parameters
    ----------
    database : the file; that of the checkout when None

    Returns
    -------
    a DuckDB connection

    Raises
    ------
    RefusalError : there is none; run `shardbook build` and `shardbook assess`

    >>> connect().sql("select count(*) > 100 from run_summary").fetchall()  # doctest: +SKIP
    [(True,)]
    """
    from schemas import sandbox

    return sandbox.connect(_paths().database if database is None else Path(database))


def runs(database: str | Path | None = None) -> pd.DataFrame:
    """One row per run: the view `run_summary`.

    Parameters
    ----------
    database : the file; that of the checkout when None

    Returns
    -------
    columns as in docs/data-dictionary.md
    """
    return _table("run_summary", database)


def phases(database: str | Path | None = None) -> pd.DataFrame:
    """One row per phase of a run, with its layout: the view `phase_summary`.

    Parameters
    ----------
    database : the file; that of the checkout when None

    Returns
    -------
    columns as in docs/data-dictionary.md
    """
    return _table("phase_summary", database)


def measured(database: str | Path | None = None) -> pd.DataFrame:
    """One row per published measurement: the table `record.benchmark_rows`.

    Parameters
    ----------
    database : the file; that of the checkout when None

    Returns
    -------
    columns as in docs/data-dictionary.md
    """
    return _table("record.benchmark_rows", database)


def predict(frame: pd.DataFrame) -> pd.DataFrame:
    """Predict memory, step time and MFU of every row, as `shardbook predict` does.

    Parameters
    ----------
    frame : one layout per row, with the columns of docs/methodology.md; missing values are unknown

    Returns
    -------
    one row per layout, in order; a row that says too little is unknown, with why

    Raises
    ------
    ValueError : the frame lacks a column
    """
    from analysis.layout.columns import check_columns
    from analysis.whatif import csv_table

    known = _catalogue(_paths().root)
    table = frame.astype(str).where(frame.notna(), "").reset_index(drop=True)
    table, why = csv_table.filled(table, known, _architecture)
    check_columns(table.columns)
    return csv_table.run(table, why, known)


def fit(model: str, *, tokens: float | None = None, **layout: Any) -> dict[str, Any]:
    """Judge one layout, as `shardbook fit --json` does.

    Parameters
    ----------
    model : id of a model, or the path of a config
    tokens : of the run; adds days, hours and energy
    **layout : accelerator, accelerators, seq_len, global_batch, tp, pp, ... as the options of `shardbook fit`

    Returns
    -------
    verdict, memory by part, seconds by part, traffic

    Raises
    ------
    RefusalError : the model is unknown, or the layout cannot be
    """
    from analysis.commands.shared import accelerator_named
    from analysis.whatif import fit as fitting
    from analysis.whatif.csv_table import facts_of_model

    known = _catalogue(_paths().root)
    row = DEFAULTS | layout
    row["accelerator"] = accelerator_named(known, row["accelerator"])
    facts = facts_of_model(model, known.models, _architecture)
    return fitting.fit(facts, row, known, tokens).as_json()


def check(path: str | Path | None = None) -> list[Finding]:
    """Check records, as `shardbook check` does.

    Parameters
    ----------
    path : a file or folder below data/, or an id such as `runs/meta/llama-3.1-405b`; all records when None

    Returns
    -------
    findings, in order of file and line

    Raises
    ------
    ValueError : there is no such record
    """
    from datetime import date

    from etl.checks.runner import examine
    from etl.commands.selection import Selection
    from etl.records import loading, schema

    paths = _paths()
    chosen = Selection.of(paths.data, [] if path is None else [Path(path)])
    everything = examine(loading.load(paths.data), schema.load(paths.schemas), date.today())
    return [one for one in everything if chosen.holds(one.path)]


def _paths() -> Paths:
    from etl.paths import Paths, find_root

    try:
        return Paths(find_root(Path.cwd()))
    except FileNotFoundError:
        return Paths(find_root(Path(__file__)))


def _table(name: str, database: str | Path | None) -> pd.DataFrame:
    with connect(database) as connection:
        frame: pd.DataFrame = connection.table(name).df()
        return frame


@cache
def _catalogue(root: Path) -> Catalogue:
    from analysis.commands.shared import NEEDED
    from analysis.records.load import load
    from etl.database import building
    from etl.paths import Paths

    with building.memory(Paths(root), NEEDED, with_views=False) as connection:
        return load(connection)


def _architecture(name: str) -> dict[str, Any]:
    import shardbook

    return shardbook.architecture(Path(name))
