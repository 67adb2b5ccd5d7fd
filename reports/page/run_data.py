"""Everything the pages of runs need, read once and sorted by run."""

from __future__ import annotations

from collections import defaultdict
from dataclasses import dataclass
from typing import Any

from reports.source import Source

Row = dict[str, Any]
PARTS = ("facts", "phases", "flops", "memory", "communication", "timing", "conflicts", "inferred", "silence")


@dataclass(frozen=True)
class RunData:
    """One run: its summary row and the rows of every part."""

    summary: Row
    parts: dict[str, list[Row]]
    verdicts: list[Row]
    sources: list[Row]


def of_all(source: Source) -> list[RunData]:
    """One bundle per run, in the order of ids."""
    parts = {part: _by_run(source.rows(f"run_{part}")) for part in PARTS}
    parts |= {"products": _by_run(source.rows("layouts")), "pictures": _by_run(source.rows("run_layouts"))}
    verdicts, documents = _by_run(source.rows("verdicts")), _by_run(source.rows("sources"))
    return [
        RunData(
            row,
            {part: rows[row["run_id"]] for part, rows in parts.items()},
            verdicts[row["run_id"]],
            documents[row["run_id"]],
        )
        for row in source.rows("run_list")
    ]


def _by_run(rows: list[Row]) -> defaultdict[str, list[Row]]:
    sorted_rows: defaultdict[str, list[Row]] = defaultdict(list)
    for row in rows:
        sorted_rows[row["run_id"]].append(row)
    return sorted_rows
