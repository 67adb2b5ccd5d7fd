"""One run on the terminal: the same facts, sources and verdicts as its page."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import groupby
from typing import Any

from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from reports.page import run_page
from reports.page.run_data import Row, RunData, of_all
from reports.source import ReportError, Source
from schemas.naming import resolve
from schemas.refusal import RefusalError

STYLES = {"impossible": "bold red", "strained": "yellow", "plausible": "green", "unknown": "dim"}
STAGES_SHOWN = 8
LATER = " (a record written since the last `make report` is not in the database yet)"


def find(source: Source, run_id: str) -> RunData:
    """The data of a run.

    Raises
    ------
    ReportError
        No such run; the sentence names the nearest ids.
    """
    runs = {data.summary["run_id"]: data for data in of_all(source)}
    known = {name: (data.summary["name"], data.summary["organization"]) for name, data in runs.items()}
    try:
        return runs[resolve(run_id, known, "run")]
    except RefusalError as error:
        raise ReportError(f"{error}{LATER}") from None


def sections(source: Source, data: RunData) -> Iterator[RenderableType]:
    """Everything to print, in order."""
    page = run_page.context(data, source.fields)
    run = page["run"]
    yield Text(f"{run['name']} - {run['organization']}, {page['released']}, {run['run_id']}", style="bold")
    yield Text("   ".join(f"{title.en} {text}" for title, text in page["headline"]))
    yield from (Text(f"{phase + ': ' if phase else ''}{note}", style="dim") for phase, note in page["notes"])
    yield _facts(page["blocks"])
    yield _layouts(page["layouts"])
    if page["flops"]:
        yield _plain_table(
            "FLOP and MFU", page["flops"], ("phase", "convention", "per_token", "total", "mfu", "source")
        )
    if data.parts["memory"]:
        yield _memory(data.parts["memory"])
    if page["communication"]:
        columns = ("phase", "dimension", "bytes", "bytes_out", "placement", "time", "exposed")
        yield _plain_table("Communication per step (modelled)", page["communication"], columns)
    if data.parts["timing"]:
        yield _plain_table("Step time by part (modelled)", page["timing"], ("phase", "part", "text"))
    yield _verdicts(page["verdicts"])
    for phase, lines in page["inferred"]:
        yield Text(f"Inferred, not reported: {phase}", style="bold")
        yield from (Text(f"   {line.en}") for line in lines)
    if page["conflicts"]:
        yield _plain_table("Sources disagree", page["conflicts"], ("field", "other", "why"))
    yield _sources(data.sources)


def _table(title: str, *columns: str) -> Table:
    table = Table(*columns, title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    table.show_header = bool(columns)
    return table


def _word(value: Any) -> str:
    return "" if value is None else str(getattr(value, "en", value))


def _plain_table(title: str, rows: list[Row], columns: tuple[str, ...]) -> Table:
    table = _table(title, *(column.replace("_", " ") for column in columns))
    for row in rows:
        table.add_row(*(_word(row.get(column)) for column in columns))
    return table


def _facts(blocks: list[Any]) -> Table:
    table = _table("Facts", "", "value", "unit", "where it is printed")
    for title, _, rows in blocks:
        table.add_row(Text(title.en, style="bold"))
        for row in rows:
            mark = "" if row["basis"] == "reported" else f" ({row['basis']})"
            seen = " (second-hand)" if row["second_hand"] else ""
            place = f"{row['title'] or ''} {row['locator'] or ''}".strip()
            table.add_row(f"  {row['name'].en}", _word(row["text"]), row["unit"], f"{place}{mark}{seen}")
    return table


def _layouts(layouts: list[Row]) -> Table:
    table = _table("Layouts", "phase", "degrees", "product", "accelerators", "", "accelerator")
    for row in layouts:
        degrees = " x ".join(f"{axis} {degree}" for axis, degree in row["degrees"]) + (
            f", EP {row['ep']}" if row["ep"] else ""
        )
        table.add_row(
            row["phase"], degrees, row["product"], row["accelerators"], row["mark"], _word(row["accelerator"])
        )
    return table


def _memory(rows: list[Row]) -> Table:
    """GiB by stage; a deep pipeline shows its first and last stages."""
    parts = list(dict.fromkeys(row["part"] for row in rows if row["part"] != "total"))
    table = _table("Memory per accelerator [GiB] (modelled)", "phase", "stage", *parts, "total")
    for phase, group in groupby(rows, key=lambda row: row["phase"]):
        stages: dict[int, dict[str, float]] = {}
        for row in group:
            stages.setdefault(int(row["stage"] or 0), {})[row["part"]] = row["value"]
        shown = [stage for stage in stages if stage < STAGES_SHOWN / 2 or stage >= len(stages) - STAGES_SHOWN / 2]
        for stage in shown:
            values = [stages[stage].get(part, 0.0) for part in parts]
            table.add_row(phase, str(stage), *(f"{value:.1f}" for value in values), f"{sum(values):.1f}")
    return table


def _verdicts(verdicts: list[tuple[str, list[Row]]]) -> Table:
    table = _table("Verdicts", "verdict", "phase", "check", "why")
    for row in (row for _, rows in verdicts for row in rows):
        status = Text(row["status"], style=STYLES.get(row["status"], ""))
        hint = f" Likely {row['ratio_hint']}." if row["ratio_hint"] else ""
        table.add_row(status, row["phase"] or "whole run", row["check_name"], f"{row['why']}{hint}")
    return table


def _sources(sources: list[Row]) -> Table:
    table = _table("Sources", "key", "title", "address")
    for row in sources:
        table.add_row(row["key"], row["title"], row["url"])
    return table
