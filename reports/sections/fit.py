"""Why it does not fit: model states against one card."""

from __future__ import annotations

import pandas as pd

from reports.charts import memory as charts
from reports.figure import Figure, Section, draw, table_of, words_of
from reports.frames import in_words
from reports.numbers import exact, short, significant
from reports.source import Source, records
from reports.words import phrase, plain

_COLUMNS = ["name", "params", "part", "bytes_per_parameter", "gb"]


def section(source: Source) -> Section:
    """A model and its optimizer against the memory of one card."""
    frame = source.query("states")
    if frame.empty:
        return Section("fit", phrase("fit.heading"), (phrase("fit.lead"), phrase("fit.empty")))
    figures = tuple(_figure(source, rows) for _, rows in frame.groupby("model_id", sort=False))
    return Section("fit", phrase("fit.heading"), (phrase("fit.lead"),), figures, phrase("fit.take"))


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    first = records(frame)[0]
    total, card = float(frame["gb_end"].max()), float(first["hbm_gb"])
    values = {
        "name": first["name"],
        "params": short(first["params"]),
        "total": f"{significant(total)} GB" if total < 1000 else f"{significant(total / 1000, 2)} TB",
        "cards": significant(total / card, 2),
        "card": first["card"],
        "hbm": exact(card),
    }
    words = words_of("fit.states", "over" if total > card else "fits", **values)
    label = plain("fit.card").format(hbm=exact(card))
    parts = in_words(frame, "part", "fit.parts").assign(start=frame["gb_end"] - frame["gb"])
    parts = parts.assign(card_label_en=label.en, card_label_zh=label.zh).drop(columns=["model_id", "name", "card"])
    specs = draw(lambda say: charts.states(parts, say), source.fields, words.long)
    table = table_of(source, records(in_words(frame, "part", "fit.parts")), _COLUMNS)
    slug = str(first["model_id"]).split("/")[1].replace(".", "-")
    return Figure(f"fit-{slug}", words, specs=specs, key="states", table=table, queries=("states",))
