"""Every record of a `data/` folder, by kind and id. The path is the id."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from etl.yaml import reader, row_table
from etl.yaml.findings import Finding
from etl.yaml.nodes import locate

FOLDERS = {
    "run": "runs",
    "model": "models",
    "accelerator": "accelerators",
    "system": "systems",
    "benchmark": "benchmarks",
    "cluster": "clusters",
    "trend": "trends",
    "claim": "claims",
    "organization": "organizations",
}
PARTS = {"calibration": "calibration"}
"""Folders whose files together are one subject and make no table of their own."""

SINGLES = {"exceptions": "exceptions.yaml", "removed": "removed.yaml"}
CHANGELOG = "CHANGELOG.md"
"""What changed between versions, for people: the one file of `data/` that is not a record."""


@dataclass
class Record:
    """One file of `data/`: its kind, its id and what it says."""

    kind: str
    id: str
    file: Path
    doc: reader.Doc
    bad: set[tuple[str | int, ...]] = field(default_factory=set)

    @property
    def value(self) -> dict[str, Any]:
        """The record as read; empty when the file holds no mapping."""
        return self.doc.value if isinstance(self.doc.value, dict) else {}


@dataclass
class Catalogue:
    """All records, by kind and id, and what was wrong with the folder itself."""

    data: Path
    kinds: dict[str, dict[str, Record]] = field(default_factory=dict)
    findings: list[Finding] = field(default_factory=list)

    def __getitem__(self, kind: str) -> dict[str, Record]:
        return self.kinds.get(kind, {})

    def __iter__(self) -> Iterator[Record]:
        for records in self.kinds.values():
            yield from records.values()

    def add(self, record: Record) -> None:
        """Put a record into its place."""
        self.kinds.setdefault(record.kind, {})[record.id] = record

    def finished(self) -> Catalogue:
        """The same without drafts: what `shardbook new` wrote and is not filled in yet does not count."""
        kept = {
            kind: {key: one for key, one in records.items() if not drafted(one.value)}
            for kind, records in self.kinds.items()
        }
        return Catalogue(self.data, kept, self.findings)

    def values(self, kind: str) -> dict[str, dict[str, Any]]:
        """Plain values of all readable records of one kind, by id."""
        return {key: record.value for key, record in self[kind].items() if record.value}


def drafted(value: Any) -> bool:
    """Whether a `todo` stands somewhere in a value.

    >>> drafted({"layers": 32, "phases": [{"tp": "todo"}]}), drafted({"note": "todo list"})
    (True, False)
    """
    if isinstance(value, dict):
        return any(drafted(below) for below in value.values())
    if isinstance(value, list):
        return any(drafted(below) for below in value)
    return isinstance(value, str) and value == "todo"


def kind_of(data: Path, file: Path) -> tuple[str, str] | None:
    """Kind and id that a place below `data/` stands for.

    Parameters
    ----------
    data : the `data/` folder
    file : a file below it

    Returns
    -------
    (kind, id), or None when no record lives there

    >>> kind_of(Path("data"), Path("data/runs/meta/llama-3.1-405b.yaml"))
    ('run', 'meta/llama-3.1-405b')
    >>> kind_of(Path("data"), Path("data/notes/x.yaml"))
    """
    inner = file.relative_to(data)
    if len(inner.parts) == 1:
        return next(((kind, kind) for kind, name in SINGLES.items() if name == inner.name), None)
    kind = next((kind for kind, folder in (FOLDERS | PARTS).items() if folder == inner.parts[0]), None)
    if kind is None or inner.suffix != ".yaml":
        return None
    return kind, Path(*inner.parts[1:]).with_suffix("").as_posix()


def printable(name: str) -> str:
    """A file's name on one line, undecodable bytes escaped.

    >>> printable("a\\nb.yaml"), printable("a\\udcff.yaml")
    ('a\\\\nb.yaml', 'a\\\\udcff.yaml')
    """
    return name.encode("utf-8", "backslashreplace").decode().replace("\n", "\\n")


def load(data: Path) -> Catalogue:
    """Read every record below a folder; nothing is raised for a bad one, it carries its findings.

    Parameters
    ----------
    data : the `data/` folder

    Returns
    -------
    the catalogue, kinds and ids in order
    """
    catalogue = Catalogue(data, {kind: {} for kind in (*FOLDERS, *PARTS, *SINGLES)})
    inside = data.resolve()
    for file in sorted(path for path in data.rglob("*") if _is_meant_as_record(path)):
        if any(part.startswith(".") for part in file.relative_to(data).parts) or file == data / CHANGELOG:
            continue
        name = printable((Path(data.name) / file.relative_to(data)).as_posix())
        stray = _stray(data, file, name, inside)
        if stray:
            catalogue.findings.append(stray)
            continue
        if _is_table_of_rows(data, file):
            continue
        kind, key = kind_of(data, file) or ("", "")
        catalogue.add(read(kind, key, file, name))
    return catalogue


def read(kind: str, key: str, file: Path, name: str) -> Record:
    """Read one record, with the table beside it where a benchmark keeps its rows in one.

    Parameters
    ----------
    kind : its kind
    key : its id
    file : its file
    name : the path to show in findings

    Returns
    -------
    the record; what is wrong with either file is among its findings
    """
    doc = reader.read(file, name)
    rows = row_table.beside(file)
    if kind == "benchmark" and rows.is_file() and doc.root is not None:
        doc.table = row_table.read(rows, Path(name).with_suffix(".csv").as_posix())
        doc.findings += doc.table.findings
        if isinstance(doc.root.value, dict) and "rows" in doc.root.value:
            line, col = locate(doc.root, ("rows",), key=True)
            message = f"rows are given both here and in {rows.name}"
            doc.findings.append(Finding(name, line, col, "CSV004", message, "keep them in one of the two files"))
    return Record(kind, key, file, doc)


def _is_meant_as_record(path: Path) -> bool:
    """Every file, every link, and a folder whose name ends like a record's."""
    return not path.is_dir() or path.is_symlink() or path.suffix == ".yaml"


def _is_table_of_rows(data: Path, file: Path) -> bool:
    """Whether a file holds the rows of a benchmark beside it, which is read with that record."""
    inner = file.relative_to(data)
    return inner.parts[0] == "benchmarks" and file.suffix == ".csv" and file.with_suffix(".yaml").exists()


def _resolved(file: Path) -> Path:
    """Where a link leads; a link that leads to itself stays where it is."""
    try:
        return file.resolve()
    except (OSError, RuntimeError):
        return file.parent.resolve() / file.name


def _stray(data: Path, file: Path, name: str, inside: Path) -> Finding | None:
    """Why a file is not read, if it is not."""
    if file.is_symlink() and inside not in _resolved(file).parents:
        message = "the file is a link to a place outside data/"
        return Finding(name, 1, 1, "YAM017", message, "put the record itself here instead of the link")
    if file.is_symlink() and file.is_dir():
        return Finding(name, 1, 1, "YAM017", "links to folders are not followed", "put the records themselves here")
    if kind_of(data, file) is None and not _is_table_of_rows(data, file):
        folders = ", ".join(f"{folder}/" for folder in FOLDERS.values())
        message = f"no record lives here; the folders are {folders}"
        return Finding(name, 1, 1, "REF003", message, "move the file, or end its name in .yaml")
    return None
