"""Our growth rates beside those that others published."""

from __future__ import annotations

from textwrap import wrap
from typing import Any

from reports.drawing.figure import Figure, draw, table_of, words_of
from reports.drawing.forest import Axis, forest
from reports.drawing.frames import in_words
from reports.numbers import interval, significant
from reports.source import Source, records
from reports.words import Bi, plain

_AXIS = Axis("growth.axis", (1, 2, 3, 4, 5, 6, 8, 10, 15, 20), "'×' + datum.label", (1, 2))
_COLUMNS = ["quantity", "name", "organization", "whose", "growth", "low", "high", "window_from", "window_to", "n"]


def figures(source: Source) -> tuple[Figure, ...]:
    """Nothing when there is nothing of ours or nothing of others to compare."""
    frame = source.query("growth")
    counts = {whose: int((frame["whose"] == whose).sum()) for whose in ("ours", "published")}
    if not all(counts.values()):
        return ()
    rows = records(frame)
    names = [_name(row) for row in rows]
    windows = [f"{str(row['window_from'] or '')[:7]} – {str(row['window_to'] or '')[:7]}" for row in rows]
    drawn = frame.assign(
        group=frame["whose"],
        value=frame["growth"],
        text=[f"×{significant(row['growth'], 2)} {_ends(row)}".strip() for row in rows],
        detail_en=windows,
        detail_zh=windows,
        label_en=[_label(name.en, row) for name, row in zip(names, rows, strict=True)],
        label_zh=[_label(name.zh, row) for name, row in zip(names, rows, strict=True)],
    )[["id", "group", "value", "low", "high", "text", "detail_en", "detail_zh", "label_en", "label_zh"]]
    words = words_of("growth", "plain", **counts, **_largest(rows))
    specs = draw(lambda say: forest(drawn, "published", "ours", _AXIS, say), source.fields, words.long)
    worded = records(in_words(frame, "whose", "growth.whose"))
    named = [{**row, "name_en": _name(row).en, "name_zh": _name(row).zh} for row in worded]
    table = table_of(source, named, _COLUMNS)
    figure = Figure(
        "growth-compared", words, specs=specs, key="growth/key.html.j2", table=table, queries=("growth",), folded=True
    )
    return (figure,)


def _label(name: str, row: dict[str, Any]) -> str:
    """Name and factor, in lines that a phone has room for."""
    return "\n".join(wrap(f"{name}  ×{significant(row['growth'], 2)}", 44))


def _ends(row: dict[str, Any]) -> str:
    ends = interval(row["low"], row["high"], lambda value: significant(value, 2))
    return f"({ends})" if ends else ""


def _name(row: dict[str, Any]) -> Bi:
    if row["whose"] == "ours":
        return plain(f"growth.ours.{row['id']}")
    return Bi.same(f"{row['name']} ({row['organization']})" if row["organization"] not in row["name"] else row["name"])


def _largest(rows: list[dict[str, Any]]) -> dict[str, str]:
    """Our two headline rates."""
    ours = {row["id"]: row for row in rows if row["whose"] == "ours"}
    pick = {"clusters": ours.get("cluster-size-runs"), "compute": ours.get("compute-frontier")}
    return {name: f"×{significant(row['growth'], 2)} {_ends(row)}" if row else "–" for name, row in pick.items()}
