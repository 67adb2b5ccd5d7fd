"""Utilisation, set-up by set-up."""

from __future__ import annotations

import pandas as pd

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.drawing.frames import mfu_long
from reports.source import Source, records
from reports.story.mfu.section import convention_switch
from reports.story.mfu_runs import chart

_COLUMNS = [
    "name",
    "phase",
    "sparsity",
    "accelerator",
    "precision",
    "seq_len",
    "released",
    "mfu_reported",
    "mfu_basis",
    "mfu_6nd",
    "mfu_model_flops",
    "mfu_causal",
    "scope",
    "status",
]


def figures(source: Source) -> tuple[Figure, ...]:
    """Every set-up with its name."""
    frame = source.query("mfu")
    return () if frame.empty else (_figure(source, frame),)


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    words = words_of("mfu_runs", "plain", n=len(frame), runs=frame["run_id"].nunique())
    named = frame.assign(key=frame["run_id"] + "|" + frame["phase"].fillna(""))
    names = {row["key"]: row["name"] + (f" · {row['phase']}" if row["phase"] else "") for row in records(named)}
    points = mfu_long(frame)
    points = points.assign(key=points["run_id"] + "|" + points["phase"].fillna(""))
    points = points.assign(order=range(len(points)))
    points = points.drop(columns=["architecture", "mfu_basis"])
    specs = draw(lambda say: chart.dots(points, names, say), source.fields, words.long)
    rows = [{**row, "href": f"runs/{row['run_id']}.html", "sparsity": row["hue"]} for row in records(frame)]
    table = table_of(source, rows, _COLUMNS, {"name": "href"})
    return Figure(
        "mfu-runs",
        words,
        specs=specs,
        choices=(convention_switch(source),),
        key="keys/sparsity.html.j2",
        table=table,
        folded=True,
        queries=("mfu",),
    )
