"""Which records, values, verdicts and claims differ between two states of the data, as Markdown for a pull request."""

from __future__ import annotations

from etl.contribute.states import BESIDE, Key, Snapshot
from etl.database.rowset import Answer
from etl.publish.stats import table

MOST = 40
"""Values of one record that are listed."""
WIDEST = 80
"""Characters of a value that are shown; of a longer one those around the first difference."""


def markdown(base: str, before: Snapshot, after: Snapshot) -> str:
    """What changed, verdicts first.

    Parameters
    ----------
    base : what to call the state before
    before : the state before
    after : the state after

    Returns
    -------
    Markdown, without a line end

    >>> print(markdown("main", Snapshot(), Snapshot({("run", "a/b"): {"name": "B", "tokens": "1"}})))
    ## Changes against main
    <BLANKLINE>
    1 record added, 0 removed, 0 changed.
    <BLANKLINE>
    Added:
    - run `a/b`: 2 values
    """
    keys = sorted(before.records.keys() | after.records.keys())
    added = [key for key in keys if key not in before.records]
    removed = [key for key in keys if key not in after.records]
    changed = [key for key in keys if before.records.get(key, {}) != after.records.get(key, {})]
    changed = [key for key in changed if key not in {*added, *removed}]
    word = "record" if len(added) == 1 else "records"
    parts = [
        f"## Changes against {escaped(base)}",
        f"{len(added)} {word} added, {len(removed)} removed, {len(changed)} changed.",
    ]
    parts += _verdicts(before, after) + _claims(before, after)
    parts += _listed("Added", added, after) + _listed("Removed", removed, before)
    parts += [_values(key, before.records[key], after.records[key]) for key in changed]
    return "\n\n".join(parts)


def escaped(text: str) -> str:
    """Text that Markdown shows as it is: no link, tag, image, mention or code of it takes effect.

    Parameters
    ----------
    text : what a contributor wrote

    Returns
    -------
    Markdown; a character that is not seen is shown by its number

    >>> escaped("<b>[a](https://x)</b> `c` @d")
    '&lt;b&gt;\\\\[a\\\\]\\\\(https://x)&lt;/b&gt; \\\\`c\\\\` &#64;d'
    """
    shown = "".join(one if one.isprintable() or one == "\n" else f"\\u{ord(one):04x}" for one in text)
    shown = shown.replace("&", "&amp;").replace("<", "&lt;").replace(">", "&gt;").replace("@", "&#64;")
    for mark in "\\`*_[](!#~":
        shown = shown.replace(mark, f"\\{mark}") if mark in "`[](!" else shown
    return shown.replace("\n", " ⏎ ")


def _verdicts(before: Snapshot, after: Snapshot) -> list[str]:
    if not (before.assessed and after.assessed):
        return []
    none = ("", "")
    rows = [
        (*key, one[0] or "none", other[0] or "none", escaped(other[1] or one[1]))
        for key in sorted(before.verdicts.keys() | after.verdicts.keys())
        for one, other in [(before.verdicts.get(key, none), after.verdicts.get(key, none))]
        if one[0] != other[0]
    ]
    if not rows:
        return ["No verdict changes."]
    columns = ("run", "phase", "check", "before", "after", "why")
    return ["### Verdicts that change", table(Answer(columns, rows))]


def _claims(before: Snapshot, after: Snapshot) -> list[str]:
    if not (before.claims and after.claims):
        return []
    none = ("none", "")
    rows = [
        (key, one[0], other[0], escaped(other[1] or one[1]))
        for key in sorted(before.claims.keys() | after.claims.keys())
        for one, other in [(before.claims.get(key, none), after.claims.get(key, none))]
        if one != other
    ]
    if not rows:
        return ["No claim changes."]
    return ["### Claims that change", table(Answer(("claim", "before", "after", "finding"), rows))]


def _listed(word: str, keys: list[Key], snapshot: Snapshot) -> list[str]:
    lines = [f"- {kind} `{key}`: {_own(snapshot.records[kind, key])} values" for kind, key in keys]
    return ["\n".join([f"{word}:", *lines])] if lines else []


def _own(values: dict[str, str]) -> int:
    """Number of values, without what says where they come from."""
    return sum(not name.startswith(BESIDE) for name in values)


def _values(key: Key, before: dict[str, str], after: dict[str, str]) -> str:
    names = [name for name in {**before, **after} if before.get(name) != after.get(name)]
    rows = [(f"`{name}`", *around(before.get(name, ""), after.get(name, ""))) for name in names[:MOST]]
    text = f"### {key[0]} `{key[1]}`\n\n{table(Answer(('field', 'before', 'after'), rows))}"
    return f"{text}\n\nand {len(names) - MOST} more values" if len(names) > MOST else text


def around(before: str, after: str) -> tuple[str, str]:
    """Two texts cut to what differs, so that they never look alike.

    Parameters
    ----------
    before : one text
    after : another

    Returns
    -------
    both, as Markdown

    >>> around("x" * 200 + " > 0.5", "x" * 200 + " > 0.01")[1][-11:]
    'x &gt; 0.01'
    """
    pairs = enumerate(zip(before, after, strict=False))
    same = next((place for place, (one, other) in pairs if one != other), min(len(before), len(after)))
    start = same - WIDEST // 2
    start = 0 if start < WIDEST // 4 else start
    return _cut(before, start), _cut(after, start)


def _cut(text: str, start: int) -> str:
    part = text[start : start + WIDEST]
    return f"{'…' if start and text else ''}{escaped(part)}{'…' if len(text) > start + WIDEST else ''}"
