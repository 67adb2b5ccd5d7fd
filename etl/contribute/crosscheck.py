"""Our runs beside a table of models that somebody else keeps: what agrees, what differs, and the likely cause."""

from __future__ import annotations

import csv
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etl.database.rowset import Answer
from schemas import files
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

CREDIT = (
    "Compared with Epoch AI, 'Data on AI Models', published at epoch.ai under the Creative Commons Attribution license"
    " (CC BY 4.0)."
)
NAME = "Model"
EPOCHS = "Epochs"
# What is compared, and the column of theirs that holds it.
MEASURES = {
    "parameters": "Parameters",
    "tokens": "Training dataset size (total)",
    "compute": "Training compute (FLOP)",
    "accelerators": "Hardware quantity",
    "hours": "Training time (hours)",
    "MFU": "Hardware utilization (MFU)",
    "HFU": "Hardware utilization (HFU)",
}
CLOSE = 0.05
RECOMPUTED = "recomputation counted by one (8ND : 6ND)"
# A ratio near one of these (or near one over it) has a usual cause; `''` stands for every measure.
CAUSES: tuple[tuple[float, dict[str, str]], ...] = (
    (4 / 3, {"tokens": "0.75 words per token", "compute": RECOMPUTED, "MFU": RECOMPUTED, "HFU": RECOMPUTED}),
    (2, {"accelerators": "chips against cores or dies", "MFU": "FP8 against BF16 peak, or a sparse peak"}),
    (3, {"compute": "backward pass left out by one (2ND : 6ND)"}),
    (3.17, {"MFU": "peak of an A100 against that of an H100"}),
    (6, {"compute": "the factor 6 left out by one"}),
    (8, {"accelerators": "nodes against accelerators"}),
    (24, {"hours": "days against hours"}),
    (1000, {"": "a unit: thousands"}),
)
DATED = re.compile(r"\([^()]*\b(?:19|20)\d\d\)")


@dataclass(frozen=True)
class Pair:
    """One figure that both tables have."""

    run_id: str
    measure: str
    ours: float
    theirs: float
    agrees: bool
    cause: str = ""


@dataclass(frozen=True)
class Comparison:
    """Every common figure, and the runs that the other table does not have."""

    pairs: list[Pair]
    unmatched: list[str]


def key(name: str) -> str:
    """A name without what spellings differ in.

    >>> key("Llama 3.1-405B"), key("PaLM (540B)")
    ('llama3.1405b', 'palm540b')
    """
    return re.sub(r"[^a-z0-9.+]", "", name.lower())


def read(path: Path) -> list[dict[str, str]]:
    """Rows of a downloaded table.

    Parameters
    ----------
    path : the CSV file

    Returns
    -------
    rows by column name

    Raises
    ------
    RefusalError : the file is missing, no CSV text, or another table
    """
    try:
        with files.require_file(path).open(encoding="utf-8-sig", newline="") as file:
            reader = csv.DictReader(file)
            names, rows = reader.fieldnames or (), list(reader)
    except (OSError, UnicodeDecodeError, csv.Error) as error:
        reason = error.strerror if isinstance(error, OSError) and error.strerror else "it is no CSV text"
        raise RefusalError(f"{path} can't be read: {reason}; give the table of notable models as downloaded.") from None
    missing = [name for name in (NAME, *MEASURES.values()) if name not in names]
    if missing:
        raise RefusalError(f"{path} has no column {missing[0]!r}; give Epoch AI's table of notable models.")
    return rows


def by_name(rows: Sequence[Mapping[str, str]]) -> dict[str, Mapping[str, str]]:
    """Their rows by normalised name; a name with a date in brackets also goes without it where that is unique.

    >>> sorted(by_name([{"Model": "GPT-4 (Mar 2023)"}, {"Model": "PaLM (540B)"}]))
    ['gpt4', 'gpt4mar2023', 'palm540b']
    """
    short = [key(DATED.sub("", row[NAME])) for row in rows]
    unique = {name: row for name, row in zip(short, rows, strict=True) if short.count(name) == 1}
    return unique | {key(row[NAME]): row for row in reversed(rows)}


def compare(connection: DuckDBPyConnection, rows: Sequence[Mapping[str, str]]) -> Comparison:
    """Match our runs with their rows and set the figures side by side.

    Parameters
    ----------
    connection : a database with our records
    rows : their table

    Returns
    -------
    the comparison, runs in order
    """
    theirs = by_name(rows)
    cursor = connection.execute((Path(__file__).parent / "queries" / "crosscheck.sql").read_text("utf-8"))
    columns = [column[0] for column in cursor.description or ()]
    comparison = Comparison([], [])
    for values in cursor.fetchall():
        ours = dict(zip(columns, values, strict=True))
        row = next((theirs[key(name)] for name in ours["names"] if name and key(name) in theirs), None)
        if row is None:
            comparison.unmatched.append(ours["run_id"])
        else:
            comparison.pairs.extend(pairs(ours, row))
    return comparison


def pairs(ours: Mapping[str, Any], row: Mapping[str, str]) -> Iterator[Pair]:
    """The figures that one run and one row of theirs both have.

    Parameters
    ----------
    ours : figures of a run, by measure
    row : their row

    Yields
    ------
    one pair per common figure

    >>> [pair.cause for pair in pairs({"run_id": "a/b", "hours": 10}, {"Training time (hours)": "240"})]
    ['days against hours']
    """
    for measure, column in MEASURES.items():
        mine, other = ours.get(measure), number(row.get(column, ""))
        if not mine or not other:
            continue
        low, high = ours.get(f"{measure}_low") or mine, ours.get(f"{measure}_high") or mine
        agrees = low * (1 - CLOSE) <= other <= high * (1 + CLOSE)
        yield Pair(ours["run_id"], measure, mine, other, agrees, "" if agrees else cause(measure, ours, other, row))


def cause(measure: str, ours: Mapping[str, Any], other: float, row: Mapping[str, str]) -> str:
    """Why two figures may differ.

    Parameters
    ----------
    measure : what is compared
    ours : our figures
    other : their figure
    row : their row

    Returns
    -------
    the usual cause of such a ratio, or nothing

    >>> cause("tokens", {"tokens": 4e11}, 2e11, {"Epochs": "2"})
    'their data set times 2 epochs is ours'
    """
    ratio = other / ours[measure]
    epochs = number(row.get(EPOCHS, "")) or 1
    if measure == "tokens" and epochs != 1 and _near(ratio * epochs, 1):
        return f"their data set times {epochs:g} epochs is ours"
    if measure == "parameters" and ours.get("parameters_active") and _near(other / ours["parameters_active"], 1):
        return "total against active parameters"
    for usual, said in CAUSES:
        if _near(max(ratio, 1 / ratio), usual):
            return said.get(measure, said.get("", ""))
    if measure == "MFU" and ours.get("mfu_basis"):
        return f"another convention: ours is {ours['mfu_basis']}"
    return ""


def _near(ratio: float, wanted: float) -> bool:
    return abs(ratio / wanted - 1) <= CLOSE / 2


def number(text: str) -> float | None:
    """A number of their table, or None.

    >>> number("16384.0"), number(""), number("n/a")
    (16384.0, None, None)
    """
    try:
        return float(text)
    except ValueError:
        return None


def answer(comparison: Comparison) -> Answer:
    """The comparison as a table, differences first, the largest ratio on top.

    Parameters
    ----------
    comparison : the comparison

    Returns
    -------
    run, figure, ours, theirs, ratio, agreement, likely cause
    """
    ordered = sorted(comparison.pairs, key=lambda one: (one.agrees, -max(one.theirs / one.ours, one.ours / one.theirs)))
    columns = ("run_id", "figure", "ours", "theirs", "theirs / ours", "agrees", "likely cause")
    rows = [
        (one.run_id, one.measure, one.ours, one.theirs, round(one.theirs / one.ours, 3), one.agrees, one.cause)
        for one in ordered
    ]
    return Answer(columns, rows)
