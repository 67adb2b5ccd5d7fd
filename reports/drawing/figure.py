"""What a figure is: words in two languages, a drawing, the same numbers as a table, and the queries they come from."""

from __future__ import annotations

import csv
import io
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field
from typing import Any

import altair as alt

from reports.drawing.chart_words import ChartWords
from reports.drawing.grammar import Drawing
from reports.drawing.interaction import interactive
from reports.numbers import NOTHING, cell, day
from reports.source import Fields, Source, is_missing, query_text
from reports.words import LANGUAGES, Bi, code, has_phrase, phrase

Spec = dict[str, Any]


@dataclass(frozen=True)
class Cell:
    """One cell of a table: what is read, what is exported, where it leads."""

    text: Bi
    raw: Any = None
    href: str = ""
    number: bool = False


@dataclass(frozen=True)
class Table:
    """The numbers of a figure; heads carry units. `runs` and `links`, where known, end each row of the file."""

    heads: tuple[tuple[str, Bi], ...]
    rows: tuple[tuple[Cell, ...], ...]
    runs: tuple[str, ...] = ()
    links: tuple[str, ...] = ()

    def csv(self) -> str:
        """The same rows as CSV, exact values, column names as in the database."""
        text = io.StringIO()
        writer = csv.writer(text, lineterminator="\n")
        extra = [name for name, values in (("run_id", self.runs), ("source", self.links)) if values]
        writer.writerow([*(key for key, _ in self.heads), *extra])
        behind = zip(*(values for values in (self.runs, self.links) if values), strict=True)
        ends = list(behind) if extra else [()] * len(self.rows)
        for row, end in zip(self.rows, ends, strict=True):
            writer.writerow([*("" if is_missing(one.raw) else one.raw for one in row), *end])
        return text.getvalue()


@dataclass(frozen=True)
class Choice:
    """A switch above a chart: a signal of the drawing and its values."""

    signal: str
    label: Bi
    values: tuple[tuple[str, Bi], ...]


@dataclass(frozen=True)
class Words:
    """What is said around a figure: finding, what is measured, remarks, and the drawing described in sentences."""

    title: Bi
    subtitle: Bi
    note: Bi
    long: Bi


@dataclass(frozen=True)
class Figure:
    """One figure of a page.

    `body` names a template when the figure is HTML; `download` has rows for the file only; `titles` are the findings
    under each value of the first choice, the first of them the figure's title; a `folded` figure opens on demand.
    """

    id: str
    words: Words
    table: Table | None = None
    queries: tuple[str, ...] = ()
    specs: dict[str, Spec] = field(default_factory=dict)
    choices: tuple[Choice, ...] = ()
    titles: tuple[tuple[str, Bi], ...] = ()
    folded: bool = False
    key: str = ""
    body: str = ""
    context: dict[str, Any] = field(default_factory=dict)
    download: Table | None = None

    @property
    def data(self) -> Table | None:
        """The rows behind the figure, for the file beside the page."""
        return self.table or self.download

    @property
    def sql(self) -> list[tuple[str, str]]:
        """Name and text of each query behind the figure."""
        return [(name, query_text(name)) for name in self.queries]


@dataclass(frozen=True)
class Section:
    """A chapter of the page; the aside is a heading with paragraphs that open on demand."""

    id: str
    heading: Bi
    paragraphs: tuple[Bi, ...]
    figures: tuple[Figure, ...] = ()
    take: Bi | None = None
    aside: tuple[Bi, tuple[Bi, ...]] | None = None


def draw(chart: Callable[[ChartWords], Drawing], fields: Fields, description: Bi) -> dict[str, Spec]:
    """The drawing in each language; the width follows the page."""
    size = alt.AutoSizeParams(type="fit-x", contains="padding")
    made = {}
    for lang in LANGUAGES:
        drawn = chart(ChartWords(lang, fields)).properties(
            width="container", autosize=size, description=description[lang]
        )
        made[lang] = drawn.to_dict(validate=lang == LANGUAGES[0])  # the other language differs in words alone
        made[lang].pop("config", None)
        made[lang].pop("$schema", None)
        made[lang] = interactive(made[lang])
    return made


def words_of(figure: str, variant: str, **values: Any) -> Words:
    """Title (by variant), subtitle, note and long description of a figure from the figure's text.yaml."""

    def part(name: str) -> Bi:
        key = f"{figure}.{name}"
        return phrase(key, **values) if has_phrase(key) else Bi("", "")

    return Words(part(f"title.{variant}"), part("subtitle"), part("note"), part("long"))


def table_of(
    source: Source, rows: Iterable[dict[str, Any]], columns: list[str], links: dict[str, str] | None = None
) -> Table:
    """Rows of a query as a table: titles and units from the dictionary, codes in words, links by column.

    Parameters
    ----------
    links
        Column to the column that holds its address.
    """
    links = links or {}
    heads = tuple((column, source.fields.axis(column)) for column in columns)
    kept = list(rows)
    made = tuple(tuple(_cell(row, column, source.fields, links) for column in columns) for row in kept)
    if not kept or not all(row.get("run_id") for row in kept):
        return Table(heads, made)
    runs = tuple(str(row["run_id"]) for row in kept)
    return Table(
        heads, made, () if "run_id" in columns else runs, tuple(_documents(source).get(run, "") for run in runs)
    )


def _documents(source: Source) -> dict[str, str]:
    """The main document of each run."""
    return {row["run_id"]: row["url"] or "" for row in source.rows("run_index")}


def _cell(row: dict[str, Any], column: str, fields: Fields, links: dict[str, str]) -> Cell:
    raw = row.get("when", row.get(column)) if column in ("date", "released") else row.get(column)
    if hasattr(raw, "year"):
        raw = day(raw, row.get(f"{column}_precision"))
    number = not is_missing(raw) and not isinstance(raw, (str, bool)) and not hasattr(raw, "year")
    text = Bi(row[f"{column}_en"], row[f"{column}_zh"]) if row.get(f"{column}_en") else _text(raw, column, fields)
    return Cell(text, raw, row.get(links[column], "") or "" if column in links else "", number)


def _text(raw: Any, column: str, fields: Fields) -> Bi:
    if is_missing(raw):
        return Bi.same(NOTHING)
    if isinstance(raw, str) and has_phrase(f"words.code.{raw}"):
        return code(raw)
    if column == "released" or column == "date":
        return Bi.same(str(raw)[:10])
    return Bi.same(cell(raw, fields.unit(column), column))
