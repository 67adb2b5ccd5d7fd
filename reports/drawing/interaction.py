"""What a reader can do with a drawing: follow runs, keep some, leave out estimates or trend lines.

Every mark whose rows carry `run_id` obeys the same few signals, so a chart says nothing about them itself.
"""

from __future__ import annotations

from typing import Any

Spec = dict[str, Any]
PARAMETERS: tuple[Spec, ...] = (
    {"name": "chosen", "value": {}},
    {"name": "kept", "value": {"": True}},
    {"name": "all", "value": True},
    {"name": "estimates", "value": True},
    {"name": "trends", "value": True},
)
TRENDS = ("fit", "fit-band", "frontier")
_KEPT = {"filter": "all || kept[datum.run_id]"}
_FIRM = {"filter": "estimates || datum.status !== 'estimated'"}
_FITTED = {"filter": "trends"}
_CHOSEN = {"filter": "chosen[datum.run_id]"}


def interactive(spec: Spec) -> Spec:
    """The same drawing obeying the signals, with a ring and a name on the runs that a reader follows."""
    layers = spec.get("layer")
    if layers is None:
        return spec
    made, rings = [], []
    for layer in layers:
        rows = _rows(spec, layer)
        mark = layer["mark"]
        added = []
        if "run_id" in rows:
            added.append(_KEPT)
            if "status" in rows:
                added.append(_FIRM)
        if mark.get("style") in TRENDS or mark.get("interpolate"):
            added.append(_FITTED)
        made.append({**layer, "transform": [*added, *layer.get("transform", [])]} if added else layer)
        if "run_id" in rows and mark["type"] == "point" and "style" not in mark:
            rings.extend(_rings(made[-1], rows))
    if not rings and not any(_FITTED in layer.get("transform", []) for layer in made):
        return spec
    return {**spec, "layer": [*made, *rings], "params": [*spec.get("params", []), *PARAMETERS]}


def _rows(spec: Spec, layer: Spec) -> set[str]:
    """Columns of the layer's data."""
    data = layer.get("data") or spec.get("data") or {}
    rows = spec.get("datasets", {}).get(data.get("name"), [])
    return set(rows[0]) if rows else set()


def _rings(layer: Spec, rows: set[str]) -> list[Spec]:
    """A ring around each followed run and its name above."""
    places = {
        name: {key: value for key, value in layer["encoding"][name].items() if key != "axis"}
        for name in ("x", "y", "yOffset")
        if name in layer["encoding"]
    }
    base = {"data": layer.get("data"), "transform": [*layer["transform"], _CHOSEN]}
    base = {key: value for key, value in base.items() if value is not None}
    ring = {**base, "mark": {"type": "point", "style": "chosen", "aria": False}, "encoding": places}
    if "name" not in rows:
        return [ring]
    text = {"text": {"field": "name", "type": "nominal"}}
    named = {**places, **text}
    marks = [{"type": "text", "style": f"chosen-{part}", "aria": False, "dy": -14} for part in ("halo", "label")]
    return [ring, *({**base, "mark": mark, "encoding": named} for mark in marks)]
