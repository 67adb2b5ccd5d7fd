"""Facts of a published config put into a draft, each with the key and line that states it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

from etl.checks.shape import TODO
from etl.records.schema import Shape

if TYPE_CHECKING:
    from etl.importers import Fact

# Where a fact of a config goes when its name is not the field's own.
RENAMED = {"train_steps": "steps"}
KEPT = ("stated", "derived")


@dataclass
class Draft:
    """A record to fill in, and facts of the config that found no place or no sure footing."""

    value: dict[str, Any]
    left_out: list[str] = field(default_factory=list)


def take(one: Draft, shape: Shape, facts: Mapping[str, Fact], title: str) -> None:
    """Put the facts of a config into a draft, each with its citation; defaults and remarks stay out.

    Parameters
    ----------
    one : the draft, changed in place
    shape : schema of its kind
    facts : facts by field name
    title : name of the file they come from
    """
    taken = False
    for name, fact in facts.items():
        kept = fact.origin in KEPT
        place = _place(one.value, shape, RENAMED.get(name, name)) if kept else None
        if not kept:
            one.left_out.append(f"{name} {fact.value}: only a {fact.origin} ({fact.key or 'no key'})")
        elif place is None:
            one.left_out.append(f"{name} {fact.value}: no field of this kind of record")
        else:
            holder, block = place
            holder[RENAMED.get(name, name)] = fact.value
            block.setdefault("cite", {})[RENAMED.get(name, name)] = _citation(fact)
            taken = True
    if taken:
        one.value["sources"]["config"] = {"title": title, "url": TODO, "kind": "config"}


def _citation(fact: Fact) -> Any:
    where = f"config {fact.key or 'file'}" + (f", line {fact.line}" if fact.line else "")
    return (
        where
        if fact.origin == "stated"
        else {"from": "config", "basis": "derived", "how": f"computed from {', '.join((fact.key or '').split())}"}
    )


def _place(value: dict[str, Any], shape: Shape, name: str) -> tuple[dict[str, Any], dict[str, Any]] | None:
    """The object that a field belongs in, and the block around it that cites it."""
    for path, holder_shape in _homes(shape):
        if name in holder_shape.properties and holder_shape.properties[name].cited:
            block = holder = value
            for step in path:
                inner = holder.get(step)
                holder[step] = inner = inner if isinstance(inner, dict | list) else {}
                holder = inner[0] if isinstance(inner, list) else inner
                block = holder if step in {"totals", "phases"} else block
            return holder, block
    return None


def _homes(shape: Shape) -> Iterator[tuple[tuple[str, ...], Shape]]:
    """Objects in which facts of a config may stand: the phase before the totals before the record."""
    phase = shape.properties.get("phases")
    if phase is not None and phase.items is not None:
        for name in ("layout", "reported"):
            yield ("phases", name), phase.items.properties[name]
        yield ("totals",), shape.properties["totals"]
        yield ("phases",), phase.items
    else:
        yield (), shape
