"""Removed records: an id that is gone stays gone, and says where to go."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from etl.checks.registry import check
from etl.checks.subject import Context, Subject
from etl.yaml.findings import Finding


def tombstones(context: Context) -> dict[tuple[str, str], dict[str, Any]]:
    """Entries of data/removed.yaml by kind and id; the file as written, which may not fit its schema."""
    listed = context.catalogue["removed"].get("removed")
    written = listed.value.get("removed") if listed else None
    entries = written if isinstance(written, list) else ()
    return {(str(one.get("kind")), str(one.get("id"))): one for one in entries if isinstance(one, dict)}


@check("REF008", "id-of-a-removed-record")
def id_of_a_removed_record(subject: Subject) -> Iterator[Finding]:
    """An id that data/removed.yaml lists is not used again."""
    entry = subject.context.shared(tombstones).get((subject.record.kind, subject.record.id))
    if entry is not None:
        message = f"the {subject.record.kind} {subject.record.id} was removed on {entry.get('date')}"
        yield subject.at((), message, "give the new record another name")


@check("REF009", "successor-that-is-not-there", "removed")
def successor_that_is_not_there(subject: Subject) -> Iterator[Finding]:
    """What took the place of a removed record must be a record."""
    for number, entry in enumerate(subject.value.get("removed", ())):
        successor = entry.get("instead")
        if successor is not None and successor not in subject.context.catalogue[entry.get("kind", "")]:
            message = f"there is no {entry.get('kind')} {successor!r}"
            yield subject.at(("removed", number, "instead"), message, "name the record that took its place, or none")
