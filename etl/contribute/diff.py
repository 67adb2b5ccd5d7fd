"""Which records, values and verdicts differ between two states of the data, as Markdown for a pull request."""

from __future__ import annotations

import io
import tarfile
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etl.database import building
from etl.database.rowset import Answer, cell, plain
from etl.paths import Paths
from etl.publish.stats import table
from etl.records import loading, repository
from etl.records.loading import FOLDERS
from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Assess = Callable[["DuckDBPyConnection"], None]
# Child tables: kind of their record, column of its id, what a row is called in a path, column that names it.
CHILDREN = {
    "phases": ("run", "run_id", "phases", "name"),
    "cluster_points": ("cluster", "cluster_id", "points", "position"),
    "benchmark_rows": ("benchmark", "benchmark_id", "rows", "id"),
}
MOST = 40


@dataclass
class Snapshot:
    """All values and verdicts of one state, by name."""

    records: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    assessed: bool = False


def at_commit(paths: Paths, commit: str, place: Path) -> Paths:
    """Unpack the records of a commit beside today's schemas.

    Parameters
    ----------
    paths : the checkout
    commit : anything that git understands as one: main, HEAD~3, a tag
    place : an empty folder

    Returns
    -------
    the unpacked checkout

    Raises
    ------
    RefusalError : there is no such commit, or it has no data
    """
    # A name that starts with a dash would be read as an option.
    packed = None if commit.startswith("-") else repository.git(paths.root, "archive", "--format=tar", commit, "data")
    if packed is None:
        raise RefusalError(f"{commit} is neither a database file nor a commit with a data folder; try main or HEAD~1.")
    with tarfile.open(fileobj=io.BytesIO(packed)) as archive:
        archive.extractall(place, filter="data")
    (place / "schemas").symlink_to(paths.schemas.resolve())
    return Paths(place)


def of_checkout(paths: Paths, assess: Assess | None) -> Snapshot:
    """The state of a checkout; records that can't be read are left out, so that an old commit still compares.

    Parameters
    ----------
    paths : the checkout
    assess : fills the result tables; None leaves verdicts out

    Returns
    -------
    its values and verdicts
    """
    catalogue = loading.load(paths.data)
    for kind, found in catalogue.kinds.items():
        catalogue.kinds[kind] = {key: one for key, one in found.items() if isinstance(one.doc.value, dict)}
    with building.of_catalogue(paths, catalogue) as connection:
        if assess is not None:
            assess(connection)
        return of_connection(connection, assessed=assess is not None)


def of_file(path: Path) -> Snapshot:
    """The state of a built database file, with the verdicts in it.

    Parameters
    ----------
    path : the file

    Returns
    -------
    its values and verdicts
    """
    from schemas import sandbox

    with sandbox.connect(path) as connection:
        return of_connection(connection, assessed=True)


def of_connection(connection: DuckDBPyConnection, assessed: bool) -> Snapshot:
    """The state of an open database.

    Parameters
    ----------
    connection : the database
    assessed : whether its result tables are filled

    Returns
    -------
    its values and verdicts
    """
    found = Snapshot(assessed=assessed)
    for kind, folder in FOLDERS.items():
        for row in _rows(connection, f"record.{folder}"):
            found.records[kind, row["id"]] = _texts(row, {"id"})
    for name, (kind, owner, word, key) in CHILDREN.items():
        for row in _rows(connection, f"record.{name}"):
            values = _texts(row, {owner, key, "position"})
            record = found.records.setdefault((kind, row[owner]), {})
            record.update({f"{word}.{row[key]}.{column}": text for column, text in values.items()})
    for row in _rows(connection, "result.verdicts"):
        check = (row["run_id"], row["phase"] or "", row["check_name"])
        found.verdicts[check] = (row["status"], row["why"] or "")
    return found


def _rows(connection: DuckDBPyConnection, name: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"from {name}")
    columns = [column[0] for column in cursor.description or ()]
    return (dict(zip(columns, row, strict=True)) for row in cursor.fetchall())


def _texts(row: Mapping[str, Any], without: set[str]) -> dict[str, str]:
    """Values as text, in full: a change in the last digit is a change."""
    said = {name: plain(value) for name, value in row.items() if value is not None and name not in without}
    return {name: f"{value:.17g}" if isinstance(value, float) else cell(value) for name, value in said.items()}


def markdown(base: str, before: Snapshot, after: Snapshot) -> str:
    """What changed, verdicts first.

    Parameters
    ----------
    base : what to call the state before
    before : the state before
    after : the state after

    Returns
    -------
    Markdown, without a line end

    >>> print(markdown("main", Snapshot(), Snapshot({("run", "a/b"): {"name": "B", "tokens": "1"}})))
    ## Changes against main
    <BLANKLINE>
    1 record added, 0 removed, 0 changed.
    <BLANKLINE>
    Added:
    - run `a/b`: 2 values
    """
    keys = sorted(before.records.keys() | after.records.keys())
    added = [key for key in keys if key not in before.records]
    removed = [key for key in keys if key not in after.records]
    changed = [key for key in keys if before.records.get(key, {}) != after.records.get(key, {})]
    changed = [key for key in changed if key not in {*added, *removed}]
    word = "record" if len(added) == 1 else "records"
    parts = [
        f"## Changes against {base}",
        f"{len(added)} {word} added, {len(removed)} removed, {len(changed)} changed.",
    ]
    parts += _verdicts(before, after)
    parts += _listed("Added", added, after) + _listed("Removed", removed, before)
    parts += [_values(key, before.records[key], after.records[key]) for key in changed]
    return "\n\n".join(parts)


def _verdicts(before: Snapshot, after: Snapshot) -> list[str]:
    if not (before.assessed and after.assessed):
        return []
    keys = sorted(before.verdicts.keys() | after.verdicts.keys())
    none = ("", "")
    rows = [
        (
            *key,
            before.verdicts.get(key, none)[0] or "none",
            after.verdicts.get(key, none)[0] or "none",
            _why(after, before, key),
        )
        for key in keys
        if before.verdicts.get(key, none)[0] != after.verdicts.get(key, none)[0]
    ]
    if not rows:
        return ["No verdict changes."]
    columns = ("run", "phase", "check", "before", "after", "why")
    return ["### Verdicts that change", table(Answer(columns, rows))]


def _why(after: Snapshot, before: Snapshot, key: tuple[str, str, str]) -> str:
    return after.verdicts.get(key, before.verdicts.get(key, ("", "")))[1]


def _listed(word: str, keys: list[tuple[str, str]], snapshot: Snapshot) -> list[str]:
    lines = [f"- {kind} `{key}`: {len(snapshot.records[kind, key])} values" for kind, key in keys]
    return ["\n".join([f"{word}:", *lines])] if lines else []


def _values(key: tuple[str, str], before: dict[str, str], after: dict[str, str]) -> str:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    rows = [(f"`{name}`", _short(before.get(name, "")), _short(after.get(name, ""))) for name in names[:MOST]]
    text = f"### {key[0]} `{key[1]}`\n\n{table(Answer(('field', 'before', 'after'), rows))}"
    return f"{text}\n\nand {len(names) - MOST} more values" if len(names) > MOST else text


def _short(text: str) -> str:
    return text if len(text) <= 80 else f"{text[:77]}..."
