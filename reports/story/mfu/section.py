"""Utilisation, dense against MoE."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pandas as pd

from reports.drawing.figure import Choice, Figure, Section, Words, draw, table_of, words_of
from reports.drawing.fitted import statistic
from reports.drawing.frames import CONVENTIONS, DEFAULT_CONVENTION, mfu_long, swarm
from reports.numbers import percent
from reports.source import Source, records
from reports.story.mfu import chart as charts
from reports.words import Bi, code, phrase, plain, sentences

TEXTBOOK = {"dense": (0.35, 0.45), "moe": (0.20, 0.40)}
ENOUGH = 8
WORTH_A_ROW = 3
_SWARM_ROW = 0.085


def chapter(source: Source) -> Section:
    """Is the gap between dense and MoE real once hardware and definition are held apart?"""
    text = "empty" if source.query("mfu").empty else "lead"
    return Section("mfu", phrase("mfu.heading"), (phrase(f"mfu.{text}"),))


def figures(source: Source) -> tuple[Figure, ...]:
    """All set-ups at a glance."""
    frame = source.query("mfu")
    return () if frame.empty else (strip(source, frame),)


def medians(source: Source, convention: str = DEFAULT_CONVENTION) -> dict[str, dict[str, Any]]:
    """Median, quartiles and n of dense and MoE runs over all generations."""
    rows = source.rows("mfu_medians")
    return {row["sparsity"]: row for row in rows if row["architecture"] == "all" and row["convention"] == convention}


def strip(source: Source, frame: pd.DataFrame) -> Figure:
    variant, values = _finding(source)
    words = _outlier_note(source, words_of("mfu.strip", variant, **values))
    groups = _groups(source)
    rows = _row_names(groups)
    groups = _placed(groups, list(rows["en"]))
    points = _points(frame, list(rows["en"]))
    bands = _bands(list(rows["en"]))
    specs = draw(lambda say: charts.strip(points, groups, bands, rows[say.lang], say), source.fields, words.long)
    return Figure(
        "mfu-strip",
        words,
        specs=specs,
        choices=(convention_switch(source),),
        titles=_titles(source),
        key="keys/sparsity.html.j2",
        table=_group_table(source),
        queries=("mfu", "mfu_medians", "mfu_ranks"),
    )


def _placed(frame: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    """Only the rows drawn, each with its place from the top."""
    kept = frame[frame["row"].isin(rows)]
    return kept.assign(place=[rows.index(row) for row in kept["row"]])


def _bands(rows: list[str]) -> pd.DataFrame:
    """What the textbook says, behind each row."""
    ends = [TEXTBOOK[row.split("|")[1]] for row in rows]
    return pd.DataFrame(
        {"low": low, "high": high, "top": place - 0.36, "bottom": place + 0.36}
        for place, (low, high) in enumerate(ends)
    )


def gap(source: Source, convention: str = DEFAULT_CONVENTION) -> dict[str, Any] | None:
    """Dense minus MoE, in points, with its interval, as the analysis found it; None when it could not tell."""
    return statistic(source, f"mfu-gap-{convention}", "difference")


def _finding(source: Source, convention: str = DEFAULT_CONVENTION) -> tuple[str, dict[str, Any]]:
    """The title's variant and the numbers of the figure's words under one convention."""
    groups, found = medians(source, convention), gap(source, convention)
    counts: dict[str, Any] = {f"{kind}_n": groups.get(kind, {}).get("n", 0) for kind in TEXTBOOK}
    counts["convention"] = code(convention)
    if found is None or not set(TEXTBOOK) <= set(groups):
        return "few", counts
    shares = {kind: percent(groups[kind]["median"]) for kind in TEXTBOOK}
    return gap_variant(found), {**counts, **shares, **gap_words(found)}


def _titles(source: Source) -> tuple[tuple[str, Bi], ...]:
    """The finding under each convention."""
    found = {name: _finding(source, name) for name in CONVENTIONS}
    return tuple((name, words_of("mfu.strip", variant, **values).title) for name, (variant, values) in found.items())


def outliers(source: Source) -> list[dict[str, Any]]:
    """Set-ups above the highest utilisation that any maker printed."""
    return [row for row in source.rows("mfu") if row["outlier"]]


def _outlier_note(source: Source, words: Words) -> Words:
    """Words with a sentence on the outliers, which medians and tests leave out."""
    names = sorted({row["name"] for row in outliers(source)})
    if not names:
        return words
    note = phrase("mfu.outliers", names=Bi(", ".join(names), "、".join(names)), n=len(names))
    return replace(words, note=sentences(note, words.note))


def gap_variant(found: dict[str, Any]) -> str:
    """lower, higher or none: whether the interval of dense minus MoE leaves out zero, and on which side."""
    if found["low"] > 0:
        return "lower"
    return "higher" if found["high"] < 0 else "none"


def gap_words(found: dict[str, Any]) -> dict[str, str]:
    """The difference and its interval in percentage points, without a sign where the words give the direction."""
    turn = -1 if found["high"] < 0 else 1
    ends = sorted(turn * found[end] * 100 for end in ("low", "high"))
    return {"points": f"{turn * found['value'] * 100:.0f}", "low": f"{ends[0]:.0f}", "high": f"{ends[1]:.0f}"}


def _groups(source: Source) -> pd.DataFrame:
    frame = source.query("mfu_medians")
    frame = frame.assign(row=frame["architecture"] + "|" + frame["sparsity"])
    summary = [_summary(row) for row in records(frame)]
    enough = frame["n"] >= ENOUGH
    kept = frame.assign(summary_en=[pair.en for pair in summary], summary_zh=[pair.zh for pair in summary])
    return kept.assign(**{name: kept[name].where(enough).round(4) for name in ("median", "q25", "q75")})


def _summary(row: dict[str, Any]) -> Bi:
    if row["n"] < ENOUGH:
        return plain("mfu.strip.n").format(n=row["n"])
    return plain("mfu.strip.n_median").format(n=row["n"], median=percent(row["median"]))


def _row_names(groups: pd.DataFrame) -> dict[str, dict[str, str]]:
    """Rows in order (all first, then as the query sorts generations) with their names in each language."""
    most = groups.groupby("row", sort=False)["n"].max()
    rows = [str(row) for row, n in most.items() if n >= WORTH_A_ROW]
    return {lang: {row: _row_name(row)[lang] for row in rows} for lang in ("en", "zh")}


def generation(architecture: str) -> str:
    """A hardware generation as its makers write it.

    >>> generation("tpu-v4"), generation("cdna3"), generation("hopper")
    ('TPU v4', 'CDNA 3', 'Hopper')
    """
    family, _, version = architecture.partition("-")
    if family == "tpu":
        return f"TPU {version}"
    if family.startswith("cdna"):
        return f"CDNA {family.removeprefix('cdna')}"
    return " ".join([family.capitalize(), version.upper()]).strip()


def _row_name(row: str) -> Bi:
    architecture, sparsity = row.split("|")
    kind = code(sparsity)
    if architecture == "all":
        return plain("mfu.strip.all").format(kind=kind)
    name = generation(architecture)
    return Bi(f"{name} · {kind.en}", f"{name} · {kind.zh}")


def _points(frame: pd.DataFrame, rows: list[str]) -> pd.DataFrame:
    long = mfu_long(frame)
    everything = pd.concat([long.assign(architecture="all"), long], ignore_index=True)
    everything = everything.assign(row=everything["architecture"] + "|" + everything["hue"])
    placed = swarm(_placed(everything, rows), ["convention", "row"])
    placed = placed.assign(place=placed["place"] + placed["offset"] * _SWARM_ROW)
    return placed.drop(columns=["architecture", "mfu_basis", "row", "offset"])


def convention_switch(source: Source) -> Choice:
    """Four conventions; each says how many runs change rank against the first."""
    moved = {row["convention"]: row for row in source.rows("mfu_ranks")}
    values = []
    for name in CONVENTIONS:
        word = code(name)
        if name in moved:
            word = plain("mfu.moved").format(name=word, moved=moved[name]["moved"], n=moved[name]["n"])
        values.append((name, word))
    return Choice("convention", phrase("mfu.switch"), tuple(values))


def _group_table(source: Source) -> Any:
    rows = [{**row, "generation": row["architecture"]} for row in source.rows("mfu_medians")]
    return table_of(source, rows, ["convention", "architecture", "sparsity", "n", "median", "q25", "q75"])
