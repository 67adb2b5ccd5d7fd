"""Canonical form: the formatter decides, the rule compares."""

from __future__ import annotations

from collections.abc import Iterator

from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.records.canonical import form
from etl.yaml.comments import comments
from etl.yaml.findings import Finding
from etl.yaml.row_table import canonical


@check("FMT001", "not-canonical")
def not_canonical(subject: Subject) -> Iterator[Finding]:
    """A record is written as `shardbook fmt` writes it."""
    doc = subject.record.doc
    # Order and quotes mean little while keys or types are wrong, or where no schema gives an order.
    if not subject.shape.properties:
        return
    if doc.root is None or not subject.fits or comments(doc):
        return
    yield from _first_difference(doc.path, doc.text, form(doc, subject.shape))
    listed = subject.shape.properties.get("rows")
    if doc.table is not None and not doc.table.findings and listed is not None and listed.items is not None:
        wanted = canonical(doc.table, list(listed.items.properties))
        yield from _first_difference(doc.table.path, "\n".join(doc.table.lines), wanted)


def _first_difference(path: str, text: str, canonical_text: str) -> Iterator[Finding]:
    """Where a file first differs from its canonical text."""
    yours, ours = text.split("\n"), canonical_text.split("\n")
    for number, (line, wanted) in enumerate(zip([*yours, "(end)"], [*ours, "(end)"], strict=False), 1):
        if line != wanted:
            col = next((at for at, pair in enumerate(zip(line, wanted, strict=False), 1) if pair[0] != pair[1]), 1)
            tip = f"run shardbook fmt; it writes: {wanted.strip()[:100] or '(nothing)'}"
            yield Finding(path, number, col, "", "the file differs from its canonical form from here on", tip)
            return


@check("FMT002", "comment")
def comment(subject: Subject) -> Iterator[Finding]:
    """Comments are not allowed: prose goes into a note, where readers of the report see it."""
    doc = subject.record.doc
    for place, text in comments(doc):
        tip = f"move it into a note: {text.lstrip('# ')[:80]}; or quote the text where the # belongs to it"
        yield Finding(doc.path, *place, "", "comments are lost to readers of the data", tip)
