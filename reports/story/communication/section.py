"""Communication of the two layouts by axis: bytes, and the seconds that nothing hides."""

from __future__ import annotations

import pandas as pd

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.numbers import cell, percent, size
from reports.source import Source, is_missing, records
from reports.story.communication import chart


def figures(source: Source) -> tuple[Figure, ...]:
    """Bytes on one picture, seconds on another."""
    frame = source.query("two_communication")
    rows = frame[frame["bytes_per_step"] > 0]
    if rows.empty:
        return ()
    rows = rows.assign(
        hue=["moe" if run.startswith("deepseek") else "dense" for run in rows["run_id"]],
        zero=0,
        bytes_text=[size(value) for value in rows["bytes_per_step"]],
        seconds_text=[cell(round(value, 3)) for value in rows["seconds"]],
        exposed_text=[cell(round(value, 3)) for value in rows["exposed_s"]],
    )
    names = {axis: axis.upper() for axis in rows["dimension"]}
    return (_traffic_figure(source, rows, names), _time_figure(source, rows, names))


def _traffic_figure(source: Source, rows: pd.DataFrame, names: dict[str, str]) -> Figure:
    top = records(rows.sort_values("bytes_per_step", ascending=False))[0]
    values = {"name": top["name"], "axis": top["dimension"].upper(), "bytes": top["bytes_text"]}
    words = words_of("communication.traffic", "plain", **values)
    specs = draw(lambda say: chart.traffic(rows, names, say), source.fields, words.long)
    columns = ["name", "phase", "dimension", "bytes_per_step", "scale_out_bytes_per_step", "placement"]
    columns += ["seconds", "exposed_s"]
    table = table_of(source, records(rows), columns)
    return Figure(
        "communication-bytes",
        words,
        specs=specs,
        key="communication/key.html.j2",
        table=table,
        queries=("two_communication",),
    )


def _time_figure(source: Source, rows: pd.DataFrame, names: dict[str, str]) -> Figure:
    exposed = rows.groupby("name", sort=False).agg(exposed=("exposed_s", "sum"), step=("step_s", "first"))
    shares = [
        f"{name} {percent(row['exposed'] / row['step'])}"
        for name, row in exposed.iterrows()
        if not is_missing(row["step"])
    ]
    words = words_of("communication.time", "share" if shares else "plain", shares=", ".join(shares))
    specs = draw(lambda say: chart.time(rows, names, say), source.fields, words.long)
    return Figure(
        "communication-time", words, specs=specs, key="communication/time_key.html.j2", queries=("two_communication",)
    )
