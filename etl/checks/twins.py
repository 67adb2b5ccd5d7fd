"""Names and duplicates: one record per thing, names in plain text."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from etl.checks.registry import check
from etl.checks.subject import Context, Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path


def _named(context: Context) -> dict[tuple[str, str], list[str]]:
    paths: dict[tuple[str, str], list[str]] = {}
    for record in context.catalogue:
        if isinstance(record.value.get("name"), str):
            paths.setdefault((record.kind, record.value["name"].casefold()), []).append(record.doc.path)
    return paths


@check("NAM002", "two-records-of-one-name")
def two_records_of_one_name(subject: Subject) -> Iterator[Finding]:
    """Two records of one kind must not have the same name."""
    name = subject.value.get("name")
    paths = subject.context.shared(_named).get((subject.record.kind, str(name).casefold()), [])
    others = [path for path in paths if path != subject.record.doc.path]
    if name is not None and others and subject.record.doc.path > others[0]:
        yield subject.at(("name",), f"{name!r} is also the name of {others[0]}", "tell the two apart in their names")


MARKUP = re.compile(r"<[A-Za-z/!?]|&[a-z]+;|&#|^[“”„‘’]")


@check("NAM003", "markup-in-name")
def markup_in_name(subject: Subject) -> Iterator[Finding]:
    """Names and titles are plain text: no tags, entities or quotes around them."""
    for path, text in texts(subject.value):
        match = MARKUP.search(text)
        if match:
            message = f"{path[-1]} holds markup: {text[match.start() : match.start() + 20]!r}"
            yield subject.at(path, message, "write the name as a reader sees it, without tags, entities and quotes")


LONGEST_NAME = 200
"""Characters; the longest title on record has 113."""


@check("NAM004", "name-too-long")
def name_too_long(subject: Subject) -> Iterator[Finding]:
    """A name or title fits a line of a table."""
    for path, text in texts(subject.value):
        if len(text) > LONGEST_NAME:
            message = f"{path[-1]} has {len(text):,} characters, of {LONGEST_NAME} that are shown"
            yield subject.at(path, message, "shorten it; what explains belongs in note")


def texts(value: dict[str, Any]) -> Iterator[tuple[Path, str]]:
    """Names and titles of a record, with their places."""
    yield from (((field,), value[field]) for field in ("name", "organization", "vendor", "family") if field in value)
    yield from ((("aliases", number), alias) for number, alias in enumerate(value.get("aliases", ())))
    sources = value.get("sources", {}).items()
    yield from ((("sources", key, "title"), source["title"]) for key, source in sources if "title" in source)


def _same(value: dict[str, Any]) -> tuple[Any, ...] | None:
    """What makes two runs the same run: model, release, and the accelerators of each phase."""
    phases = value.get("phases", ())
    counts = (
        [phase.get("accelerators") for phase in phases if isinstance(phase, dict)] if isinstance(phases, list) else []
    )
    # One base may be trained further in many ways on one day.
    if value.get("post_training") or not value.get("model") or not value.get("released"):
        return None
    return str(value["model"]), str(value["released"]), str(sorted(map(str, counts)))


def _runs(context: Context) -> dict[tuple[Any, ...] | None, list[str]]:
    paths: dict[tuple[Any, ...] | None, list[str]] = {}
    for record in context.catalogue["run"].values():
        paths.setdefault(_same(record.value), []).append(record.doc.path)
    return paths


@check("DUP001", "same-run-twice", "run")
def same_run_twice(subject: Subject) -> Iterator[Finding]:
    """Two runs of one model, with the same release date and the same accelerators, are one run."""
    same = _same(subject.record.value)
    paths = subject.context.shared(_runs).get(same, []) if same else []
    if paths and paths[0] != subject.record.doc.path:
        yield subject.at(
            ("model",), f"{paths[0]} is the same run", "merge the two files; layouts of one run are its phases"
        )
