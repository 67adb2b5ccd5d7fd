"""References: what a record points at must be there, once, and agree with itself."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from etl.checks.registry import check, declare
from etl.checks.removed import tombstones
from etl.checks.subject import Subject
from etl.records.loading import FOLDERS
from etl.records.schema import Shape
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path
from schemas.nearest import did_you_mean

TWO_PARTS = frozenset({"run", "model", "accelerator", "system"})
ID = re.compile(r"[a-z0-9][a-z0-9.-]*(/[a-z0-9][a-z0-9.-]*)?\Z")

declare("REF003", "stray-file", "Only records live below data/, each in the folder of its kind and ending in .yaml.")


@check("REF001", "dangling-id")
def dangling_id(subject: Subject) -> Iterator[Finding]:
    """An id must be that of a record: a file below data/."""
    for path, wanted, shape in _pointers((), subject.value, subject.shape):
        known = subject.context.catalogue[shape.ref]
        if wanted not in known:
            folder = FOLDERS[shape.ref]
            add = f"shardbook new {shape.ref} {wanted}"
            tip = did_you_mean(wanted, known, "")
            tip = f"{tip} If it is a new one: {add}" if tip else f"add data/{folder}/{wanted}.yaml: {add}"
            gone = subject.context.shared(tombstones).get((shape.ref, wanted))
            if gone is not None:
                tip = f"it was removed on {gone.get('date')}: {gone.get('why')}; now {gone.get('instead', 'nothing')}"
            yield subject.at(path, f"there is no {shape.ref} {wanted!r} below data/{folder}/", tip)


def _pointers(path: Path, value: Any, shape: Shape) -> Iterator[tuple[Path, str, Shape]]:
    if shape.ref and isinstance(value, str):
        yield path, value, shape
    elif isinstance(value, dict):
        for name, below in value.items():
            inner = shape.child(name)
            if inner is not None and inner.name not in {"cite", "sources"}:
                yield from _pointers((*path, name), below, inner)
    elif isinstance(value, list) and shape.items is not None:
        for number, below in enumerate(value):
            yield from _pointers((*path, number), below, shape.items)


@check("REF002", "accelerator-of-system", "run")
def accelerator_of_system(subject: Subject) -> Iterator[Finding]:
    """A phase's accelerator must be the one that its system is built of."""
    for path, phase in subject.phases():
        system = subject.context.catalogue["system"].get(phase.get("system", ""))
        built_of = system.value.get("accelerator") if system else None
        stated = phase.get("accelerator")
        if stated in subject.context.catalogue["accelerator"] and built_of and stated != built_of:
            message = f"the phase says {stated}, but its system {phase['system']} is built of {built_of}"
            yield subject.at((*path, "accelerator"), message, "correct one of the two, or point at another system")


@check("REF004", "unknown-shape", "benchmark")
def unknown_shape(subject: Subject) -> Iterator[Finding]:
    """A benchmark row's shape must be listed under shapes."""
    shapes = subject.value.get("shapes", {})
    for number, row in enumerate(subject.value.get("rows", ())):
        if "shape" in row and row["shape"] not in shapes:
            tip = did_you_mean(row["shape"], shapes, f"add {row['shape']} under shapes")
            yield subject.at(("rows", number, "shape"), f"there is no shape {row['shape']!r} in this file", tip)


@check("REF005", "two-of-one-name", "run", "benchmark")
def two_of_one_name(subject: Subject) -> Iterator[Finding]:
    """Phases of a run and rows of a benchmark must have names of their own."""
    for part, label in (("phases", "name"), ("rows", "id")):
        seen: dict[str, int] = {}
        for number, item in enumerate(subject.value.get(part, ())):
            name = item.get(label)
            if name in seen:
                line, _ = subject.record.doc.locate((part, seen[name], label))
                message = f"the name {name!r} appears twice in {part}, first on line {line}"
                yield subject.at((part, number, label), message, "give it a name of its own")
            elif name is not None:
                seen[name] = number


@check("REF006", "conflict-about-nothing")
def conflict_about_nothing(subject: Subject) -> Iterator[Finding]:
    """A conflict's field must be the path of a value in the record."""
    conflicts = subject.value.get("conflicts", ())
    if not conflicts:
        return
    fields = {subject.dotted((*block.path, *path)) for block in subject.blocks for path, _ in block.leaves()}
    for number, conflict in enumerate(conflicts):
        if "field" in conflict and conflict["field"] not in fields:
            tip = did_you_mean(conflict["field"], fields, "write it like totals.tokens or phases.<name>.accelerators")
            yield subject.at(("conflicts", number, "field"), f"there is no value at {conflict['field']!r}", tip)


@check("REF007", "place-of-file")
def place_of_file(subject: Subject) -> Iterator[Finding]:
    """A record's path is its id: lower-case <organization>/<name>, or one name for tables and clusters."""
    record = subject.record
    if record.kind not in FOLDERS:
        return
    folder = FOLDERS[record.kind]
    wanted = "<organization>/<name>" if record.kind in TWO_PARTS else "<name>"
    parts = record.id.count("/") + 1
    if parts != (2 if record.kind in TWO_PARTS else 1) or not ID.match(record.id):
        message = f"{record.id!r} is not an id of a {record.kind}"
        yield subject.at(
            (), message, f"name the file data/{folder}/{wanted}.yaml in lower-case letters, digits, '.' and '-'"
        )
