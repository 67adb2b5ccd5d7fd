"""What changed in the records from one version to the next, for people: data/CHANGELOG.md."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from etl.contribute.states import BESIDE, Snapshot
from etl.records.loading import FOLDERS

HEAD = "# Changes of the records\n\nWritten by `shardbook changelog`; newest version on top.\n"
Key = tuple[str, str]


def section(title: str, before: Snapshot, after: Snapshot, removed: Mapping[Key, Mapping[str, Any]]) -> str:
    """One version: counts by kind, then what was removed, added and changed.

    Parameters
    ----------
    title : version and date
    before, after : values of the two versions
    removed : entries of data/removed.yaml by kind and id

    Returns
    -------
    Markdown that ends with a line end

    >>> old = Snapshot({("run", "a/b"): {"days": "54"}, ("run", "a/c"): {}})
    >>> new = Snapshot({("run", "a/b"): {"days": "78"}, ("run", "a/d"): {}})
    >>> print(section("0.2", old, new, {("run", "a/c"): {"why": "a duplicate", "instead": "a/b"}}), end="")
    ## 0.2
    <BLANKLINE>
    | kind | added | removed | changed | values changed |
    |---|---:|---:|---:|---:|
    | run | 1 | 1 | 1 | 1 |
    <BLANKLINE>
    Removed:
    - run `a/c`: a duplicate; now `a/b`
    <BLANKLINE>
    Added:
    - run: `a/d`
    <BLANKLINE>
    Changed:
    - run `a/b`: days 54 -> 78
    """
    added = sorted(after.records.keys() - before.records.keys())
    gone = sorted(before.records.keys() - after.records.keys())
    shared = sorted(before.records.keys() & after.records.keys())
    changes = {key: _changes(before.records[key], after.records[key]) for key in shared}
    changes = {key: found for key, found in changes.items() if found}
    parts = [f"## {title}", _table(added, gone, changes)]
    parts += _list("Removed", [f"{kind} `{key}`: {_farewell(removed.get((kind, key)))}" for kind, key in gone])
    parts += _list("Added", _grouped(added))
    parts += _list("Changed", [f"{kind} `{key}`: {_shortened(found)}" for (kind, key), found in changes.items()])
    return "\n\n".join(parts) + "\n"


def _changes(before: Mapping[str, str], after: Mapping[str, str]) -> list[str]:
    """Values that both versions have and that differ, then how many came and went; citations do not count."""
    old, new = ({name: text for name, text in one.items() if not name.startswith(BESIDE)} for one in (before, after))
    changes = [f"{name} {old[name]} -> {new[name]}" for name in old if new.get(name, old[name]) != old[name]]
    came, went = len(new.keys() - old.keys()), len(old.keys() - new.keys())
    return changes + ([f"+{came} -{went} values"] if came or went else [])


def _shortened(changes: list[str], most: int = 6, longest: int = 60) -> str:
    shown = [text if len(text) <= longest else f"{text[: longest - 3]}..." for text in changes[:most]]
    return "; ".join([*shown, *([f"and {len(changes) - most} more"] if len(changes) > most else [])])


def _table(added: list[Key], gone: list[Key], changes: Mapping[Key, list[str]]) -> str:
    lines = ["| kind | added | removed | changed | values changed |", "|---|---:|---:|---:|---:|"]
    for kind in FOLDERS:
        counts = [sum(one == kind for one, _ in keys) for keys in (added, gone, changes)]
        values = sum(len(found) for (one, _), found in changes.items() if one == kind)
        if any(counts):
            lines.append(f"| {kind} | {' | '.join(str(count) for count in counts)} | {values} |")
    return "\n".join(lines)


def _grouped(keys: list[Key]) -> list[str]:
    kinds = {kind: [f"`{key}`" for one, key in keys if one == kind] for kind in FOLDERS}
    return [f"{kind}: {', '.join(names)}" for kind, names in kinds.items() if names]


def _farewell(entry: Mapping[str, Any] | None) -> str:
    if entry is None:
        return "no reason in data/removed.yaml"
    return str(entry.get("why")) + (f"; now `{entry['instead']}`" if entry.get("instead") else "")


def _list(word: str, lines: list[str]) -> list[str]:
    return ["\n".join([f"{word}:", *(f"- {line}" for line in lines)])] if lines else []


def with_section(text: str, title: str, new: str) -> str:
    """The whole file with one section put on top, or in the place of the one of the same title.

    >>> with_section(HEAD, "0.2", "## 0.2\\n\\nx\\n").endswith("on top.\\n\\n## 0.2\\n\\nx\\n")
    True
    >>> with_section(HEAD + "\\n## 0.2\\n\\nold\\n\\n## 0.1\\n", "0.2", "## 0.2\\n\\nx\\n").endswith("x\\n\\n## 0.1\\n")
    True
    """
    _, *older = text.split("\n## ")
    kept = [f"## {part.rstrip()}\n" for part in older if part.splitlines()[0] != title]
    return "\n".join([HEAD, new, *kept])
