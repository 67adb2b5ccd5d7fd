"""Communication of the two layouts by axis: bytes, and the seconds that nothing hides."""

from __future__ import annotations

from typing import Any

import pandas as pd

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.numbers import cell, joined, percent, size
from reports.source import Source, records
from reports.story.communication import chart
from reports.words import Bi, phrase


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


def _by_link(rows: pd.DataFrame) -> pd.DataFrame:
    """A row per run, axis and kind of link that carries anything."""
    parts = [
        rows.assign(link=link, sent=rows[f"{link.replace('-', '_')}_bytes_per_step"])
        for link in ("scale-up", "scale-out")
    ]
    long = pd.concat(parts, ignore_index=True)
    long = long[long["sent"] > 0]
    return long.assign(sent_text=[size(value) for value in long["sent"]])


def _traffic_figure(source: Source, rows: pd.DataFrame, names: dict[str, str]) -> Figure:
    links = _by_link(rows)
    network = links[links["link"] == "scale-out"].sort_values("sent", ascending=False)
    top = records(network if len(network) else links)[0]
    values = {"name": top["name"], "axis": top["dimension"].upper(), "bytes": top["sent_text"]}
    words = words_of("communication.traffic", "network" if len(network) else "plain", **values)
    specs = draw(lambda say: chart.traffic(links, names, say), source.fields, words.long)
    columns = ["name", "phase", "dimension", "bytes_per_step", "scale_up_bytes_per_step", "scale_out_bytes_per_step"]
    columns += ["placement", "seconds", "exposed_s"]
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
    shares = [_share(str(name), records(part)) for name, part in rows.groupby("name", sort=False)]
    known = [one for one in shares if one]
    words = words_of("communication.time", "share" if known else "plain", shares=joined(known, phrase("words.comma")))
    specs = draw(lambda say: chart.time(rows, names, say), source.fields, words.long)
    return Figure(
        "communication-time", words, specs=specs, key="communication/time_key.html.j2", queries=("two_communication",)
    )


def _share(name: str, rows: list[dict[str, Any]]) -> Bi | None:
    """Exposed share of a run's step, with the axes whose traffic the model hides completely."""
    if rows[0]["step_s"] is None:
        return None
    share = percent(sum(row["exposed_s"] for row in rows) / rows[0]["step_s"])
    hidden = [row["dimension"].upper() for row in rows if row["exposed_s"] == 0 and row["seconds"] > 0]
    return phrase(f"communication.{'hidden' if hidden else 'exposes'}", name=name, share=share, axes=", ".join(hidden))
