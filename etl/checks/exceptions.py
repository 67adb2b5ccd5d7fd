"""Accepted findings: data/exceptions.yaml, each with a reason and an end.

A `conflicts` entry of a record accepts nothing: our value has to obey the equations, whatever another source says.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import replace
from datetime import date
from typing import Any

from etl.checks.registry import RULES, declare
from etl.checks.subject import Context, Subject
from etl.yaml.findings import Finding
from schemas.nearest import did_you_mean

declare("EXC001", "exception-not-needed", "An exception whose finding is gone must be deleted.")
declare("EXC002", "exception-expired", "Expired exceptions must be reviewed.")
declare("EXC003", "exception-of-no-record", "An exception must name a record that exists.")
declare("EXC004", "exception-of-no-rule", "An exception must name the code of a rule.")


def accept(findings: Iterable[Finding], subjects: list[Subject], context: Context) -> Iterator[Finding]:
    """Findings without those accepted, and what is wrong with the exceptions themselves."""
    listed = next((one for one in subjects if one.record.kind == "exceptions"), None)
    entries = listed.value.get("exceptions", []) if listed else []
    root = context.catalogue.data.name
    live = {
        (entry.get("code"), f"{root}/{entry.get('record')}") for entry in entries if not _expired(entry, context.today)
    }
    fired: set[tuple[str, str]] = set()
    for finding in findings:
        fired.add((finding.code, finding.path))
        if (finding.code, finding.path) not in live:
            yield finding
    if listed:
        for number, entry in enumerate(entries):
            yield from _judge(listed, number, entry, context, fired)


def _expired(entry: dict[str, Any], today: date) -> bool:
    until = entry.get("until")
    return isinstance(until, str) and date.fromisoformat(until) < today


def _judge(
    listed: Subject, number: int, entry: dict[str, Any], context: Context, fired: set[tuple[str, str]]
) -> Iterator[Finding]:
    """What is wrong with one exception."""
    code, record = entry.get("code"), entry.get("record")
    if code is None or record is None:
        return
    path = f"{context.catalogue.data.name}/{record}"
    known = [one.doc.path for one in context.catalogue]

    def at(field: str, rule: str, message: str, tip: str) -> Finding:
        return replace(listed.at(("exceptions", number, field), message, tip), code=rule)

    if code not in RULES:
        yield at("code", "EXC004", f"there is no rule {code!r}", did_you_mean(code, RULES, "see docs/checks.md"))
    elif path not in known:
        near = did_you_mean(path, known, "write the path below data/: runs/meta/llama-3.1-405b.yaml")
        yield at(
            "record", "EXC003", f"there is no record {record!r}", near.replace(f"{context.catalogue.data.name}/", "", 1)
        )
    elif _expired(entry, context.today):
        yield at(
            "until",
            "EXC002",
            f"the exception ended on {entry['until']}",
            "look at the record again; extend it or delete it",
        )
    elif (code, path) not in fired:
        yield at("code", "EXC001", f"{record} no longer has a finding {code}", "delete this exception")
