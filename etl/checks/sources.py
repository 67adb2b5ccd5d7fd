"""Sources: every value is covered by a citation of its block, and every citation names a source that can be found."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from etl.checks.registry import check
from etl.checks.subject import Block, Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path, find
from schemas.nearest import did_you_mean

PERMANENT = re.compile(
    r"https://github\.com/[^/]+/[^/]+/(?:blob|tree|raw|commit|blame)/(?:[0-9a-f]{7,40}|v?\d+(?:\.\d+)+)(?:[/?#]|\Z)"
    r"|https://github\.com/[^/]+/[^/]+/(?:issues|pull|discussions)/\d+"
    r"|https://github\.com/[^/]+/[^/]+/releases/(?:tag|download)/."
    r"|https://raw\.githubusercontent\.com/[^/]+/[^/]+/[0-9a-f]{7,40}/"
)
GITHUB = re.compile(r"https://(?:www\.)?github\.com/|https://raw\.githubusercontent\.com/")
ARXIV = re.compile(r"https://(?:www\.|export\.)?arxiv\.org/(?:abs|pdf|html)/(?P<id>[^?#]*)")


def names(path: Path) -> set[str]:
    """The names under which a cite entry may cover a value: its own, those of the objects around it, dotted ones.

    >>> sorted(names(("layout", "tp")))
    ['layout', 'layout.tp', 'tp']
    """
    words = [step for step in path if isinstance(step, str)]
    return {*words, ".".join(words)}


def _cites(subject: Subject) -> Iterator[tuple[Path, str]]:
    """Every '<source key> <locator>' of the record with its path."""
    cites: list[tuple[Path, Any]] = [((*block.path, "cite"), block.value.get("cite", {})) for block in subject.blocks]
    for number, conflict in enumerate(subject.value.get("conflicts", ())):
        cites.append((("conflicts", number), {"cite": conflict.get("cite")}))
    for path, entries in cites:
        for field, entry in entries.items():
            if isinstance(entry, str):
                yield (*path, field), entry
            elif isinstance(entry, dict):
                yield from (((*path, field, part), entry[part]) for part in ("from", "via") if part in entry)


def _is_described(entry: str) -> bool:
    """Whether a `via` describes a document without an address ("a transcription of the paper") instead of a source."""
    return entry.startswith(("a ", "an "))


def _opened(subject: Subject) -> set[str]:
    """Keys of the sources that somebody read: cited without `via`, or named in a `via`."""
    cites = [block.value.get("cite", {}) for block in subject.blocks]
    entries = [entry for cite in cites for entry in cite.values()]
    entries += [conflict.get("cite") for conflict in subject.value.get("conflicts", ())]
    read = [entry if isinstance(entry, str) else entry.get("via", entry.get("from", "")) for entry in entries if entry]
    return {text.split(" ")[0] for text in read}


@check("SRC001", "value-without-citation")
def value_without_citation(subject: Subject) -> Iterator[Finding]:
    """Every value must be covered by a cite entry of its own block: its name, the name of its object, or '*'."""
    for block in subject.blocks:
        cite = block.value.get("cite", {})
        bare = [] if "*" in cite else [path for path, _ in block.leaves() if not names(path) & set(cite)]
        if bare:
            first = str(bare[0][-1])
            listed = ", ".join(dict.fromkeys(".".join(str(step) for step in path) for path in bare[:8]))
            more = f" and {len(bare) - 8} more" if len(bare) > 8 else ""
            key = next(iter(subject.value.get("sources", {})), "paper")
            tip = f'add it to cite: {first}: {key} <page, table or section>; or "*" for all values of the block'
            yield subject.at((*block.path, *bare[0]), f"no citation covers {listed}{more}", tip, key=True)


@check("SRC002", "unknown-source")
def unknown_source(subject: Subject) -> Iterator[Finding]:
    """A citation must start with a key listed under sources."""
    sources = subject.value.get("sources", {})
    for path, entry in _cites(subject):
        key = entry.split(" ")[0]
        if key not in sources and not (path[-1] == "via" and _is_described(entry)):
            tip = did_you_mean(key, sources, f"add {key} under sources, or cite one of {', '.join(sources) or 'them'}")
            yield subject.at(path, f"there is no source {key!r} in this record", tip)


@check("SRC003", "citation-of-nothing")
def citation_of_nothing(subject: Subject) -> Iterator[Finding]:
    """A cite entry must name a value in its block."""
    for block in subject.blocks:
        present = _written(subject, block)
        for field in block.value.get("cite", {}):
            if field != "*" and field not in present:
                tip = did_you_mean(field, present, "delete the entry, or add the value")
                message = f"cite names {field!r}, and the block has no such value"
                yield subject.at((*block.path, "cite", field), message, tip, key=True)


def _written(subject: Subject, block: Block) -> set[str]:
    """Names under which values of a block may be cited, those that failed the schema included."""
    present: set[str] = set().union(*(names(path) for path, _ in block.leaves()), set())
    node = find(subject.record.doc.root, block.path) if subject.record.doc.root else None
    for key, below in node.value.items() if node and isinstance(node.value, dict) else ():
        shape = block.shape.properties.get(key)
        if shape is None or shape.cited:
            present |= {key, *(below.value if isinstance(below.value, dict) else ())}
    return present


@check("SRC004", "unused-source")
def unused_source(subject: Subject) -> Iterator[Finding]:
    """Every source must be cited by some value or conflict, unless the record states nothing at all."""
    used = {entry.split(" ")[0] for _, entry in _cites(subject)}
    if not any(True for block in subject.blocks for _ in block.leaves()):
        return
    for key in subject.value.get("sources", {}):
        if key not in used:
            yield subject.at(("sources", key), f"no value cites the source {key!r}", "cite it, or delete it", key=True)


@check("SRC005", "undisclosed-yet-there")
def undisclosed_yet_there(subject: Subject) -> Iterator[Finding]:
    """A field named in not_disclosed must not have a value."""
    for block in subject.blocks:
        present: set[str] = set().union(*(names(path) for path, _ in block.leaves()), set())
        for number, field in enumerate(block.value.get("not_disclosed", ())):
            if field in present:
                message = f"not_disclosed names {field!r}, which has a value here"
                yield subject.at((*block.path, "not_disclosed", number), message, "delete the name or the value")


@check("SRC006", "undisclosed-unknown")
def undisclosed_unknown(subject: Subject) -> Iterator[Finding]:
    """A name in not_disclosed must be a field of the block."""
    for block in subject.blocks:
        fields = _fields(block)
        for number, field in enumerate(block.value.get("not_disclosed", ())):
            if field not in fields:
                tip = did_you_mean(field, fields, "name a field of this block")
                yield subject.at((*block.path, "not_disclosed", number), f"{field!r} is not a field of this block", tip)


def _fields(block: Block) -> set[str]:
    """Names of every field that a block may have."""
    fields: set[str] = set()
    for name, shape in block.shape.properties.items():
        if shape.cited:
            fields.update({name, *shape.properties, *(f"{name}.{below}" for below in shape.properties)})
    return fields


@check("SRC007", "github-without-commit")
def github_without_commit(subject: Subject) -> Iterator[Finding]:
    """A GitHub link that a value was read in must carry a commit or a release tag: branches move."""
    opened = _opened(subject)
    for key, source in subject.value.get("sources", {}).items():
        url = source.get("url", "")
        if key in opened and GITHUB.match(url) and not PERMANENT.match(url):
            better = re.sub(r"/(blob|tree|raw)/[^/]+", r"/\1/<commit>", url)
            tip = f"write the commit read: {better if better != url else url.rstrip('/') + '/tree/<commit>'}"
            yield subject.at(("sources", key, "url"), "the GitHub link does not carry a commit", tip)


@check("SRC008", "arxiv-without-version")
def arxiv_without_version(subject: Subject) -> Iterator[Finding]:
    """An arXiv link that a value was read in must carry its version (v1, v2), or the source the day it was read."""
    opened = _opened(subject)
    for key, source in subject.value.get("sources", {}).items():
        match = ARXIV.match(source.get("url", "")) if key in opened and "read" not in source else None
        if match and not re.search(r"v\d+(?:\.pdf)?/?\Z", match["id"]):
            tip = f"write the version read: https://arxiv.org/abs/{match['id'].removesuffix('.pdf').rstrip('/')}v1"
            yield subject.at(("sources", key, "url"), "the arXiv link does not carry a version", tip)


@check("SRC009", "derived-without-how")
def derived_without_how(subject: Subject) -> Iterator[Finding]:
    """A derived value must say how it was computed."""
    for block in subject.blocks:
        for field, entry in block.value.get("cite", {}).items():
            if isinstance(entry, dict) and entry.get("basis") == "derived" and "how" not in entry:
                tip = 'add the arithmetic in one line: how: "30.84M h / 16384"'
                yield subject.at(
                    (*block.path, "cite", field), f"{field!r} is derived, and nothing says how", tip, key=True
                )
