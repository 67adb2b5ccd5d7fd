"""The state of the data at a commit, in a checkout or in a database file: every value by name, and the verdicts."""

from __future__ import annotations

import io
import tarfile
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, Any

from etl.database import building
from etl.database.rowset import cell
from etl.paths import Paths
from etl.records import loading, repository
from etl.records.loading import FOLDERS
from schemas import sandbox
from schemas.refusal import RefusalError
from schemas.sandbox_process import plain

if TYPE_CHECKING:
    from duckdb import DuckDBPyConnection

Assess = Callable[["DuckDBPyConnection"], None]
Key = tuple[str, str]
BESIDE = ("cite.", "sources.", "not_disclosed.")
"""How the names start of what says where a value comes from, and is none itself."""
OWNERS = {f"{kind}_id": kind for kind in FOLDERS}
NAMING = ("block", "key", "name", "id", "field", "position")
"""Columns that name a row of a child table, in the order in which its path has them."""
POINTING = ("accelerator", "benchmark", "calibration", "model", "organization", "system")
"""Kinds of record whose change may turn the verdict of a run that points at them."""


@dataclass
class Snapshot:
    """All values and verdicts of one state, by name."""

    records: dict[Key, dict[str, str]] = field(default_factory=dict)
    verdicts: dict[tuple[str, str, str], tuple[str, str]] = field(default_factory=dict)
    claims: dict[str, tuple[str, str]] = field(default_factory=dict)
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


class State:
    """The records of a checkout in a database in memory; records that cannot be read are left out.

    Parameters
    ----------
    paths : the checkout
    """

    def __init__(self, paths: Paths) -> None:
        self._paths, self._catalogue = paths, (catalogue := loading.load(paths.data))
        for kind, records in catalogue.kinds.items():
            catalogue.kinds[kind] = {key: one for key, one in records.items() if isinstance(one.doc.value, dict)}
        self.connection = building.of_catalogue(paths, catalogue)
        self.snapshot = of_connection(self.connection, assessed=False)
        # Accepted findings and other lists without a table are compared as they are written.
        for kind in sorted(catalogue.kinds.keys() - FOLDERS.keys() - {"calibration"}):
            for key, record in catalogue.kinds[kind].items():
                self.snapshot.records[kind, key] = dict(_leaves(record.value))

    def judge(self, runs: Iterable[str], assess: Assess) -> None:
        """Fill in the verdicts of some runs; the other runs, and the measured rows, leave the database.

        Parameters
        ----------
        runs : ids
        assess : fills the result tables
        """
        self.connection.execute("create temp table kept as select unnest($ids::varchar[]) as id", {"ids": list(runs)})
        for table, column in (("phases", "run_id"), ("runs", "id"), ("benchmark_rows", "benchmark_id")):
            self.connection.execute(f"delete from record.{table} where {column} not in (from kept)")  # noqa: S608  (names of our own tables)
        assess(self.connection)
        self.snapshot.verdicts = of_connection(self.connection, assessed=True).verdicts
        self.snapshot.assessed = True

    def judge_all(self, file: Path, assess_file: Callable[[Path], object]) -> None:
        """Fill in all verdicts, and those on claims.

        Parameters
        ----------
        file : where to write a database, which must not exist
        assess_file : fills the result tables of a file
        """
        building.write(file, self._paths, self._catalogue)
        assess_file(file)
        judged = of_file(file)
        self.snapshot.verdicts, self.snapshot.claims, self.snapshot.assessed = judged.verdicts, judged.claims, True


def both(
    paths: Paths,
    base: str,
    place: Path,
    assess: Assess | None,
    step: Callable[[str], None] = lambda _: None,
    assess_file: Callable[[Path], object] | None = None,
) -> tuple[Snapshot, Snapshot]:
    """The state of a base and that of a checkout, with the verdicts of the runs that a change may reach.

    Parameters
    ----------
    paths : the checkout
    base : a commit, or a database file with its verdicts
    place : an empty folder for the records of a commit
    assess : fills the result tables; None leaves verdicts out
    step : receives what is being done
    assess_file : where given, everything is judged anew, claims included; it fills the result tables of a file

    Returns
    -------
    the two states
    """
    step("reading the working tree")
    after = State(paths)
    step(f"reading {base}")
    if Path(base).is_file():
        before = of_file(Path(base))
        return before, after.snapshot
    earlier = State(at_commit(paths, base, place))
    runs = affected(earlier.snapshot, after.snapshot)
    if assess_file is not None:
        for number, state in enumerate((earlier, after)):
            step("judging all runs and claims")
            state.judge_all(place / f"{number}.duckdb", assess_file)
    elif assess is not None:
        for state in (earlier, after) if runs else ():
            step(f"judging {len(runs)} runs")
            state.judge(runs, assess)
        earlier.snapshot.assessed = after.snapshot.assessed = True
    return earlier.snapshot, after.snapshot


def of_checkout(paths: Paths) -> Snapshot:
    """The values of a checkout, without verdicts.

    Parameters
    ----------
    paths : the checkout

    Returns
    -------
    its values
    """
    return State(paths).snapshot


def of_file(path: Path) -> Snapshot:
    """The state of a built database file, with the verdicts and claims in it.

    Parameters
    ----------
    path : the file

    Returns
    -------
    its values and verdicts
    """
    import duckdb

    try:
        with sandbox.connect(path) as connection:
            return of_connection(connection, assessed=True)
    except duckdb.CatalogException as error:
        reason = str(error).split("\n")[0]
        raise RefusalError(f"{path} is not a database of this version ({reason}); give one that was built.") from None


def affected(before: Snapshot, after: Snapshot) -> set[str]:
    """Runs whose verdicts may differ: those that changed, and those that point at a record that changed.

    Parameters
    ----------
    before : one state
    after : another

    Returns
    -------
    ids of runs
    """
    keys = before.records.keys() | after.records.keys()
    changed = {key for key in keys if before.records.get(key) != after.records.get(key)}
    runs = {key for kind, key in keys if kind == "run"}
    if any(kind == "calibration" for kind, _ in changed):
        return runs
    marks = {key for kind, key in changed if kind in POINTING}
    # A model may be another one trained further.
    for _ in range(3):
        marks |= {key for kind, key in keys if kind == "model" and _points(before, after, (kind, key), marks)}
    return {run for run in runs if ("run", run) in changed or _points(before, after, ("run", run), marks)}


def _points(before: Snapshot, after: Snapshot, key: Key, marks: set[str]) -> bool:
    return any(not marks.isdisjoint(state.records.get(key, {}).values()) for state in (before, after))


def of_connection(connection: DuckDBPyConnection, assessed: bool) -> Snapshot:
    """The state of an open database: every row of every record table.

    Parameters
    ----------
    connection : the database
    assessed : whether its result tables are filled

    Returns
    -------
    its values and verdicts
    """
    snapshot = Snapshot(assessed=assessed)
    listed = "select table_name from information_schema.tables where table_schema = 'record' order by table_name"
    kinds = {folder: kind for kind, folder in FOLDERS.items()}
    for (name,) in connection.execute(listed).fetchall():
        seen: Counter[tuple[Key, str]] = Counter()
        for row in _rows(connection, f"record.{name}"):
            owner, path = _place(row, name, kinds)
            seen[owner, path] += 1
            path = f"{path}.{seen[owner, path]}" if seen[owner, path] > 1 else path
            values = snapshot.records.setdefault(owner, {})
            values.update({f"{path}.{column}" if path else column: text for column, text in _texts(row).items()})
    for row in _rows(connection, "result.verdicts"):
        snapshot.verdicts[row["run_id"], row["phase"] or "", row["check_name"]] = (row["status"], row["why"] or "")
    for row in _rows(connection, "result.claims"):
        snapshot.claims[row["claim_id"]] = (row["verdict"], row["finding_en"] or "")
    return snapshot


def _place(row: dict[str, Any], table: str, kinds: Mapping[str, str]) -> tuple[Key, str]:
    """The record that a row belongs to, and its path inside; what names it leaves the row."""
    if table in kinds:
        return (kinds[table], row.pop("id")), ""
    if "record_id" in row:
        owner, word = (row.pop("kind"), row.pop("record_id")), "cite" if table == "citations" else table
        row.pop("value", None)  # a citation repeats the value that it is for
    else:
        column = next((name for name in row if name in OWNERS), None)
        owner = (OWNERS[column], row.pop(column)) if column else (table, str(row.pop("key")))
        word = table.removeprefix(f"{owner[0]}_") if column else ""
    names = [str(row.pop(name)) for name in NAMING[:5] if row.get(name) is not None]
    position = row.pop("position", None)
    names = names or ([] if position is None else [str(position)])
    return owner, ".".join(name for name in (word, *names) if name)


def _rows(connection: DuckDBPyConnection, name: str) -> Iterator[dict[str, Any]]:
    cursor = connection.execute(f"from {name}")
    columns = [column[0] for column in cursor.description or ()]
    return (dict(zip(columns, row, strict=True)) for row in cursor.fetchall())


def _texts(row: Mapping[str, Any]) -> dict[str, str]:
    """Values as text, in full: a change in the last digit is a change."""
    values = {name: plain(value) for name, value in row.items() if value is not None}
    texts = {name: _exact(value) if isinstance(value, float) else cell(value) for name, value in values.items()}
    return texts or {"stated": "yes"}


def _exact(value: float) -> str:
    """The shortest text that is this number and no other.

    >>> _exact(1638.4), _exact(1640.0), _exact(3.8e25)
    ('1638.4', '1640', '3.8e+25')
    """
    return repr(value).removesuffix(".0")


def _leaves(value: Any, path: str = "") -> Iterator[tuple[str, str]]:
    if isinstance(value, dict):
        for key, below in value.items():
            yield from _leaves(below, f"{path}.{key}" if path else str(key))
    elif isinstance(value, list):
        for number, below in enumerate(value, 1):
            yield from _leaves(below, f"{path}.{number}" if path else str(number))
    else:
        yield path, cell(plain(value))
