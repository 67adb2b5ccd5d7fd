"""Four questions that a reader who doesn't know the project can answer in a minute each."""

from __future__ import annotations

from reports.numbers import percent
from reports.sections import compute, mfu, plateau
from reports.source import Source
from reports.words import Bi, phrase

Answer = tuple[Bi, Bi, str]

TOLD = ("impossible", "strained", "unknown")


def answers(source: Source) -> list[Answer]:
    """Question, answer, and where to look."""
    return [_adds_up(source), _mfu(source), _plateau(source), _where_from(source)]


def _adds_up(source: Source) -> Answer:
    rows = source.rows("verdict_counts")
    if not rows:
        return phrase("answers.adds_up.q"), phrase("answers.not_yet"), "#verdicts"
    by = {verdict: [row["name"] for row in rows if row["verdict"] == verdict] for verdict in TOLD}
    bad, strained = by["impossible"], by["strained"]
    named = {
        "names": Bi(", ".join(bad[:6]), "、".join(bad[:6])),
        "bad": len(bad), "strained": len(strained),
        "n": len(rows) - len(by["unknown"]), "unknown": len(by["unknown"]),
    }  # fmt: skip
    variant = "none" if not bad else "some" if len(bad) <= 6 else "many"
    return phrase("answers.adds_up.q"), phrase(f"answers.adds_up.{variant}", **named), "#verdicts"


def _mfu(source: Source) -> Answer:
    groups, found = mfu.medians(source), mfu.gap(source)
    if not {"dense", "moe"} <= set(groups):
        return phrase("answers.mfu.q"), phrase("answers.not_yet"), "#mfu"
    values = {kind: percent(groups[kind]["median"]) for kind in ("dense", "moe")}
    counts = {f"{kind}_n": groups[kind]["n"] for kind in ("dense", "moe")}
    if found is None:
        return phrase("answers.mfu.q"), phrase("answers.mfu.cannot", **values, **counts), "#mfu"
    said = phrase(f"answers.mfu.{mfu.gap_variant(found)}", **values, **counts, **mfu.gap_words(found))
    return phrase("answers.mfu.q"), said, "#mfu"


def _plateau(source: Source) -> Answer:
    if not compute.has_figures(source):
        return phrase("answers.plateau.q"), phrase("answers.not_yet"), "#compute"
    values = {**compute.finding(source), **plateau.values(source)}
    variant = plateau.preference(source) or "untested"
    return phrase("answers.plateau.q"), phrase(f"answers.plateau.{variant}", **values), "#compute"


def _where_from(source: Source) -> Answer:
    rows = source.rows("famous_mfu")
    if not rows:
        return phrase("answers.where.q"), phrase("answers.not_yet"), "runs.html"
    row = rows[0]
    values = {
        "name": row["name"],
        "value": percent(row["mfu"]),
        "phase": row["phase"],
        "place": row["locator"],
        "title": row["title"],
    }
    return phrase("answers.where.q"), phrase("answers.where.a", **values), f"runs/{row['run_id']}.html"
