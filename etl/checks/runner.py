"""Runs every rule on every record and leaves out what was accepted with a reason."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from datetime import date
from importlib import import_module
from pkgutil import iter_modules

from etl import checks
from etl.checks import shape
from etl.checks.exceptions import accept
from etl.checks.registry import RULES
from etl.checks.subject import Context, Subject
from etl.records.loading import Catalogue, Record
from etl.records.schema import Schemas
from etl.yaml.findings import Finding

for _module in iter_modules(checks.__path__):
    import_module(f"{checks.__name__}.{_module.name}")  # its rules register themselves


def examine(catalogue: Catalogue, schemas: Schemas, today: date) -> list[Finding]:
    """Every finding in a folder of records.

    Parameters
    ----------
    catalogue : all records, as loaded
    schemas : the schemas they follow
    today : the day that dates are compared with

    Returns
    -------
    findings in order of file and line, without those that an exception or a conflict accepts
    """
    context = Context(catalogue, schemas, today)
    subjects = [subject(record, context) for record in catalogue]
    findings = [*catalogue.findings]
    for one in subjects:
        findings.extend(one.record.doc.findings)
        findings.extend(findings_of(one))
    return sorted(set(accept(findings, subjects, context)))


def subject(record: Record, context: Context) -> Subject:
    """A record with its schema, ready for the rules."""
    return Subject(record, context.schemas.shapes.get(record.kind, shape.ANYTHING), context)


def findings_of(one: Subject) -> Iterator[Finding]:
    """Schema problems first; the rules then see what is left."""
    record = one.record
    if record.doc.root is None:
        return
    problems = list(shape.problems(record.doc.value, one.shape))
    for problem in problems:
        finding = one.at(problem.path, problem.message, problem.tip, key=problem.key)
        yield replace(finding, code=problem.code)
    if not isinstance(record.doc.value, dict):
        return
    one.fits = not any(problem.code.startswith("SCH") for problem in problems)
    # A citation still to be filled in names its source already.
    bad = {
        one.path for one in problems if one.code != "SCH002" and not (one.code == "TDO001" and "cite" in one.path[:-1])
    }
    one.value = shape.clean(record.value, bad) if bad else record.value
    for rule in RULES.values():
        if rule.run and (not rule.kinds or record.kind in rule.kinds):
            yield from (replace(finding, code=rule.code) for finding in rule.run(one))
