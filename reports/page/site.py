"""The whole site from one database: the narrative page, its data files, the run pages, the table of runs."""

from __future__ import annotations

from collections.abc import Callable
from concurrent.futures import Future, ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import Any

from markupsafe import Markup

from reports import story
from reports.drawing.figure import Section
from reports.page import assembly as page
from reports.page import first_picture, run_data, run_index, run_page, runs_table
from reports.page.assembly import Pages
from reports.page.questions import questions
from reports.page.social_picture import card
from reports.source import Source
from reports.words import phrase

Progress = Callable[[str], object]


def build(source: Source, folder: Path, progress: Progress = str) -> Path:
    """Write every page of the site.

    Parameters
    ----------
    source
        An open database.
    folder
        Where the pages go; index.html comes last, so that it never points at what is not there yet.
    progress
        Called with what is being drawn.

    Returns
    -------
    Path of the narrative page.
    """
    # Pictures take half of the time: other processes make them while this one goes on with the next chapters.
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as beside:
        sections: list[Section] = []
        pictures: dict[str, Future[Markup]] = {}
        for chapter in story.chapters(source):
            sections.append(chapter)
            drawn = [figure for figure in chapter.figures if figure.specs and not figure.folded]
            pictures |= {one.id: beside.submit(page.picture, one.specs["en"], one.id) for one in drawn}
        pages = Pages(source.build())
        figures = [figure for section in sections for figure in section.figures]
        for figure in figures:
            if figure.data:
                page.write(folder / "data" / f"{figure.id}.csv", figure.data.csv())
        _forget(folder / "data", {f"{figure.id}.csv" for figure in figures} | {"runs.csv"})
        _runs(pages, source, folder, progress)
        _table(pages, source, folder)
        page.write(folder / "card.png", card(source.rows("counts")[0], first_picture.first(source)))
        page.write(folder / "index.html", index(pages, source, sections, pictures, progress))
    return folder / "index.html"


def index(
    pages: Pages, source: Source, sections: list[Section], pictures: dict[str, Future[Markup]], progress: Progress
) -> str:
    """The narrative page as text; waits for the pictures."""
    figures = [figure for section in sections for figure in section.figures]
    progress("bundling the drawing library")
    script = page.chart_script()
    context: dict[str, Any] = {
        "title": phrase("page.title"),
        "description": phrase("page.description"),
        "sections": sections,
        "questions": questions(source),
        "pictures": {name: _drawn(name, picture, progress) for name, picture in pictures.items()},
        "layouts": first_picture.pictures(source),
        "numbers": first_picture.numbers(source),
        "filters": run_index.choices(source),
        "years": run_index.years(source),
        "index": page.data_block(run_index.bundle(source)),
        "charts": page.chart_data(figures),
        "versions": page.versions(),
    }
    return pages.render("index.html.j2", script=script, style=page.asset("page.css"), **context)


def _drawn(name: str, picture: Future[Markup], progress: Progress) -> Markup:
    progress(f"drawing {name}")
    return picture.result()


def _runs(pages: Pages, source: Source, folder: Path, progress: Progress) -> None:
    """A page for every run; pages of runs that are gone are removed."""
    script, style = page.page_script(), page.asset("page.css")
    bundles = run_data.of_all(source)
    written = set()
    for place, data in enumerate(bundles, start=1):
        progress(f"run {place} of {len(bundles)}: {data.summary['run_id']}")
        path = folder / "runs" / f"{data.summary['run_id']}.html"
        context = run_page.context(data, source.fields)
        page.write(path, pages.render("run.html.j2", script=script, style=style, root="../../", **context))
        written.add(path)
    for stale in set((folder / "runs").rglob("*.html")) - written:
        stale.unlink()


def _forget(folder: Path, kept: set[str]) -> None:
    """Remove files of figures that are gone."""
    for file in folder.glob("*.csv"):
        if file.name not in kept:
            file.unlink()


def _table(pages: Pages, source: Source, folder: Path) -> None:
    """The table of all runs and the same as CSV."""
    context = runs_table.context(source)
    page.write(folder / "data" / "runs.csv", context["table"].csv())
    text = pages.render("runs.html.j2", script=runs_table.script(), style=runs_table.style(), module=True, **context)
    page.write(folder / "runs.html", text)
