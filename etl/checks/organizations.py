"""Organizations: every name that a record uses is spelled as data/organizations spells it."""

from __future__ import annotations

import re
from collections.abc import Iterator

from etl.checks.figures import items
from etl.checks.registry import check
from etl.checks.subject import Context, Subject
from etl.yaml.findings import Finding
from schemas.nearest import did_you_mean

SUFFIXES = re.compile(r"[\s,.]+(?:ai|inc|corp|corporation|ltd|llc|gmbh|co|company|labs?|team)\.?\Z", re.IGNORECASE)
JOINED = re.compile(r", | and ")


def bare(name: str) -> str:
    """An organization's name without case, spaces, signs and legal endings.

    >>> bare("Mistral AI"), bare("mistral"), bare("01.AI"), bare("DeepSeek-AI")
    ('mistral', 'mistral', '01', 'deepseekai')
    """
    return re.sub(r"[^\w]|_", "", SUFFIXES.sub("", name)).lower()


def members(name: str, known: dict[str, str]) -> list[str]:
    """The organizations that one name stands for; several are joined by a comma or "and".

    >>> members("Amazon, Anthropic", {}), members("University of This and That", {"University of This and That": ""})
    (['Amazon', 'Anthropic'], ['University of This and That'])
    """
    return [name] if name in known else JOINED.split(name)


def _names(context: Context) -> dict[str, str]:
    """Name by name, and by each other spelling; the names themselves win."""
    records = [record.value for record in context.catalogue["organization"].values()]
    names: dict[str, str] = {}
    for value in records:
        names |= {str(alias): str(value.get("name")) for alias in items(value, "aliases")}
    return names | {str(value.get("name")): str(value.get("name")) for value in records}


@check("NAM001", "organization-spelled-differently")
def organization_spelled_differently(subject: Subject) -> Iterator[Finding]:
    """An organization has the spelling of its record below data/organizations, in all records."""
    known = subject.context.shared(_names)
    plain = {bare(name): right for name, right in known.items()}
    for field, name in _uses(subject, known):
        right = known.get(name, plain.get(bare(name), name))
        if right != name:
            yield subject.at((field,), f"{name!r} is spelled {right!r}", f"write  {field}: {right}")


@check("NAM005", "unknown-organization")
def unknown_organization(subject: Subject) -> Iterator[Finding]:
    """An organization that a record names has a record of its own below data/organizations."""
    known = subject.context.shared(_names)
    plain = {bare(name) for name in known}
    for field, name in _uses(subject, known):
        if name not in known and bare(name) not in plain:
            add = "shardbook new organization NAME"
            yield subject.at(
                (field,), f"there is no organization {name!r} below data/organizations", did_you_mean(name, known, add)
            )


def _uses(subject: Subject, known: dict[str, str]) -> Iterator[tuple[str, str]]:
    """Field and name of every organization that a record names, where there is a list to compare with."""
    for field in ("organization", "vendor") if known else ():
        if field in subject.value:
            yield from ((field, name) for name in members(subject.value[field], known))


@check("NAM006", "spelling-of-two", "organization")
def spelling_of_two(subject: Subject) -> Iterator[Finding]:
    """A name or another spelling belongs to one organization."""
    for number, alias in enumerate(subject.value.get("aliases", ())):
        others = sorted(subject.context.shared(_owners).get(alias.casefold(), set()) - {subject.value.get("name")})
        if others:
            message = f"{alias!r} is also a spelling of {', '.join(others)}"
            yield subject.at(("aliases", number), message, "keep it in one record")


def _owners(context: Context) -> dict[str, set[str]]:
    owners: dict[str, set[str]] = {}
    for record in context.catalogue["organization"].values():
        name = str(record.value.get("name"))
        for spelling in (name, *items(record.value, "aliases")):
            owners.setdefault(str(spelling).casefold(), set()).add(name)
    return owners
