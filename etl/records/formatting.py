"""Rewrites a record in canonical form, all of it or not at all."""

from __future__ import annotations

from dataclasses import dataclass, field

from etl.records.canonical import form, mend
from etl.records.loading import Record
from etl.records.schema import Shape
from etl.yaml import encoding, reader
from etl.yaml.comments import comments
from etl.yaml.findings import Finding
from etl.yaml.nodes import plain
from etl.yaml.row_table import beside, canonical
from schemas import files


@dataclass
class Change:
    """What came of formatting one file: whether its text changes, and why not where it cannot."""

    changed: bool = False
    findings: list[Finding] = field(default_factory=list)


def rewrite(record: Record, shape: Shape | None, write: bool = True) -> Change:
    """Put one record into canonical form.

    Parameters
    ----------
    record : the record, as loaded
    shape : its schema; without one nothing gives an order, and the file is left as it is
    write : whether to replace the file; otherwise only tell

    Returns
    -------
    whether the file changes (or would), and the findings that keep it from being formatted
    """
    doc = record.doc
    if shape is None:
        return Change()
    stuck = [one for one in doc.findings if one.code not in encoding.REPAIRABLE]
    if stuck or doc.root is None:
        return Change(False, stuck)
    if not isinstance(doc.root.value, dict):
        return Change(False, [Finding(doc.path, 1, 1, "SCH003", "the file is not a mapping of keys to values", "")])
    comment_findings = [_comment(doc.path, line, col, text) for (line, col), text in comments(doc)]
    if comment_findings:
        return Change(False, comment_findings)
    text = form(doc, shape)
    rows = _table(doc, shape)
    if text == doc.text and not doc.findings and rows is None:
        return Change()
    # The formatter must not change what a record says; a difference is a fault of ours and keeps the file as it is.
    if reader.parse(text.encode(), doc.path).value != plain(mend(doc.root, shape)):
        return Change(
            False, [Finding(doc.path, 1, 1, "FMT001", "the formatter would change a value here", "report it")]
        )
    if write and (text != doc.text or doc.findings):
        files.replace(record.file, text)
    if write and rows is not None:
        files.replace(beside(record.file), rows)
    return Change(True)


def _table(doc: reader.Doc, shape: Shape) -> str | None:
    """Canonical text of the table beside a record, where it is another than is there."""
    listed = shape.properties.get("rows")
    if doc.table is None or listed is None or listed.items is None:
        return None
    text = canonical(doc.table, list(listed.items.properties))
    return None if text == "\n".join(doc.table.lines) and not doc.table.findings else text


def _comment(path: str, line: int, col: int, text: str) -> Finding:
    tip = f"move it into a note: {text.lstrip('# ')[:80]}; or quote the text where the # belongs to it"
    return Finding(path, line, col, "FMT002", "comments are lost to readers of the data", tip)
