"""Every run as the search field and the filters of the page know it."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

from reports.numbers import day, exact, percent, scientific, short
from reports.source import Source
from reports.words import Bi, code, has_phrase, plain

FACTS: dict[str, Callable[[Any], str]] = {
    "params_total": short,
    "params_active": short,
    "tokens": short,
    "accelerators": exact,
    "accelerator": str,
    "compute_flop": scientific,
    "mfu_6nd": lambda value: percent(value, 1),
    "mfu_reported": lambda value: percent(value, 1),
}
"""Facts of the card that opens on a run, and how each is written."""
FILTERS = ("owners", "countries", "chip", "sparsity", "size")
_SEVERAL = {"owners": ", ", "countries": " "}


def index(source: Source) -> list[dict[str, Any]]:
    """One small object per run: id, name, filters, facts as text, main document."""
    return [_entry(row) for row in source.rows("run_index")]


def _entry(row: dict[str, Any]) -> dict[str, Any]:
    facts = ["" if row[name] is None else write(row[name]) for name, write in FACTS.items()]
    made = {"id": row["run_id"], "name": row["name"], "org": row["organization"], "year": row["year"], "facts": facts}
    made |= {name: values for name in FILTERS if (values := _values(row, name)) != [row["organization"]]}
    made |= {"when": day(row["released"], row["released_precision"]), "title": row["title"], "url": row["url"]}
    made["post"] = int(row["post"]) or None
    return {name: value for name, value in made.items() if value not in (None, "", [])}


def _values(row: dict[str, Any], name: str) -> list[str]:
    return [part for part in str(row[name]).split(_SEVERAL.get(name, "\n")) if part]


def choices(source: Source) -> list[tuple[str, Bi, list[tuple[str, Bi]]]]:
    """Name, label and values of each filter, the commonest value first."""
    rows = source.rows("run_index")
    made = []
    for name in FILTERS:
        counts: dict[str, int] = {}
        for row in rows:
            for value in _values(row, name):
                counts[value] = counts.get(value, 0) + 1
        ordered = sorted(counts, key=lambda value: (-counts[value], value))
        made.append((name, plain(f"find.{name}"), [(value, _word(name, value)) for value in ordered]))
    return made


def _word(name: str, value: str) -> Bi:
    """A value of a filter in words."""
    if has_phrase(f"find.value.{name}.{value}"):
        return plain(f"find.value.{name}.{value}")
    return code(value) if name == "sparsity" else Bi.same(value)


def years(source: Source) -> list[int]:
    """Years with a run, the first first."""
    return sorted({int(row["year"]) for row in source.rows("run_index") if row["year"]})


def words(source: Source) -> dict[str, dict[str, str]]:
    """What the script writes, in each language."""
    named = {name: source.fields.title(name) for name in FACTS}
    spoken = {key: plain(f"find.{key}") for key in _SPOKEN}
    made = {}
    for lang in ("en", "zh"):
        made[lang] = {key: pair[lang] for key, pair in spoken.items()}
        made[lang] |= {"facts": "|".join(pair[lang] for pair in named.values())}
    return made


_SPOKEN = (
    "none",
    "page",
    "close",
    "remove",
    "source",
    "shown",
    "kept",
    "copied",
    "when",
    "verdict",
    "saved",
    "licence",
    "copy",
)


def bundle(source: Source) -> dict[str, Any]:
    """Everything that the script of the page knows of runs and clusters, its words, and what a saved picture says."""
    build = source.build()
    clusters = [
        {"id": row["id"], "name": row["name"], "org": row["organization"], "owners": [row["organization"]],
         "countries": _values(row, "country"), "chip": list(row["chips"]) if row["chips"] is not None else []}
        for row in source.rows("cluster_index")
    ]  # fmt: skip
    about = {"date": str(build.get("committed") or "")[:10], "address": f"data {(build.get('data_hash') or '–')[:12]}"}
    return {"runs": index(source), "clusters": clusters, "words": words(source), "build": about}
