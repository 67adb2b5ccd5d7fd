"""Why it does not fit: model states against one card."""

from __future__ import annotations

import pandas as pd

from reports.drawing.figure import Figure, Section, draw, table_of, words_of
from reports.drawing.frames import in_words
from reports.numbers import short, significant
from reports.source import Source, records
from reports.story.states import chart as charts
from reports.words import phrase, plain

_COLUMNS = ["name", "params", "part", "bytes_per_parameter", "gb"]


def chapter(source: Source) -> Section:
    """A model and its optimizer against the memory of one card."""
    frame = source.query("states")
    if frame.empty:
        return Section("fit", phrase("states.heading"), (phrase("states.lead"), phrase("states.empty")))
    return Section("fit", phrase("states.heading"), (phrase("states.lead"),), take=phrase("states.take"))


def figures(source: Source) -> tuple[Figure, ...]:
    """A picture per model."""
    return tuple(_figure(source, rows) for _, rows in source.query("states").groupby("model_id", sort=False))


def _figure(source: Source, frame: pd.DataFrame) -> Figure:
    first = records(frame)[0]
    total, card = float(frame["gb_end"].max()), float(first["hbm_gb"])
    values = {
        "name": first["name"],
        "params": short(first["params"]),
        "total": f"{significant(total)} GB" if total < 1000 else f"{significant(total / 1000, 2)} TB",
        "cards": significant(total / card, 2),
        "card": first["card"],
        "hbm": significant(card),
    }
    words = words_of("states.states", "over" if total > card else "fits", **values)
    label = plain("states.card").format(hbm=significant(card))
    parts = in_words(frame, "part", "states.parts").assign(start=frame["gb_end"] - frame["gb"])
    parts = parts.assign(card_label_en=label.en, card_label_zh=label.zh).drop(columns=["model_id", "name", "card"])
    specs = draw(lambda say: charts.states(parts, say), source.fields, words.long)
    table = table_of(source, records(in_words(frame, "part", "states.parts")), _COLUMNS)
    slug = str(first["model_id"]).split("/")[1].replace(".", "-")
    return Figure(f"fit-{slug}", words, specs=specs, key="states/key.html.j2", table=table, queries=("states",))
