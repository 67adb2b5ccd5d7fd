"""Four questions that a reader who doesn't know the project can answer in a minute each."""

from __future__ import annotations

from reports.numbers import percent
from reports.source import Source
from reports.story.compute import section as compute
from reports.story.mfu import section as mfu
from reports.story.verdicts import section as verdicts
from reports.words import Bi, phrase

Question = tuple[Bi, Bi, str]


def questions(source: Source) -> list[Question]:
    """Question, answer, and where to look."""
    return [_adds_up(source), _mfu(source), _plateau(source), _where_from(source)]


def _adds_up(source: Source) -> Question:
    if not source.rows("verdicts"):
        return phrase("questions.adds_up.q"), phrase("questions.not_yet"), "#verdicts"
    counts = verdicts.tally(source)
    names = counts.pop("names")
    shown = Bi(", ".join(names[:6]), "、".join(names[:6]))
    variant = "none" if not names else "some" if len(names) <= 6 else "many"
    return phrase("questions.adds_up.q"), phrase(f"questions.adds_up.{variant}", **counts, names=shown), "#verdicts"


def _mfu(source: Source) -> Question:
    groups, found = mfu.medians(source), mfu.gap(source)
    if not {"dense", "moe"} <= set(groups):
        return phrase("questions.mfu.q"), phrase("questions.not_yet"), "#mfu"
    values = {kind: percent(groups[kind]["median"]) for kind in ("dense", "moe")}
    counts = {f"{kind}_n": groups[kind]["n"] for kind in ("dense", "moe")}
    if found is None:
        return phrase("questions.mfu.q"), phrase("questions.mfu.cannot", **values, **counts), "#mfu"
    answer = phrase(f"questions.mfu.{mfu.gap_variant(found)}", **values, **counts, **mfu.gap_words(found))
    return phrase("questions.mfu.q"), answer, "#mfu"


def _plateau(source: Source) -> Question:
    if not compute.has_figures(source):
        return phrase("questions.plateau.q"), phrase("questions.not_yet"), "#compute"
    variant, slopes = compute.since(source)
    answer = phrase(f"questions.plateau.{variant}", **{**compute.finding(source), **slopes})
    return phrase("questions.plateau.q"), answer, "#compute"


def _where_from(source: Source) -> Question:
    rows = source.rows("famous_mfu")
    if not rows:
        return phrase("questions.where.q"), phrase("questions.not_yet"), "runs.html"
    row = rows[0]
    values = {
        "name": row["name"],
        "value": percent(row["mfu"]),
        "phase": row["phase"],
        "place": row["locator"],
        "title": row["title"],
    }
    return phrase("questions.where.q"), phrase("questions.where.a", **values), f"runs/{row['run_id']}.html"
