"""A record as the rules see it: the parts that pass the schema, and a way to point at any place of its file."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass, field
from datetime import date
from functools import cached_property
from typing import Any, TypeVar

from etl.records.loading import Catalogue, Record
from etl.records.schema import Schemas, Shape
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path

T = TypeVar("T")


@dataclass(frozen=True)
class Context:
    """What a rule may look at besides its record: all records, the schemas, and the day."""

    catalogue: Catalogue
    schemas: Schemas
    today: date
    _shared: dict[Any, Any] = field(default_factory=dict)

    def shared(self, build: Callable[[Context], T]) -> T:
        """What a rule needs from all records, built once for all of them."""
        if build not in self._shared:
            self._shared[build] = build(self)
        built: T = self._shared[build]
        return built


@dataclass
class Block:
    """One object that cites its own values: the record, its totals, a phase or a point."""

    path: Path
    value: dict[str, Any]
    shape: Shape

    def leaves(self) -> Iterator[tuple[Path, Any]]:
        """Every value of the block that needs a citation, with its path inside the block."""
        for name, value in self.value.items():
            shape = self.shape.properties.get(name)
            if shape is not None and shape.cited:
                yield from _leaves((name,), value, shape)


def _leaves(path: Path, value: Any, shape: Shape) -> Iterator[tuple[Path, Any]]:
    if "cite" in shape.properties or (shape.items is not None and "cite" in shape.items.properties):
        return
    if isinstance(value, dict) and not shape.is_quantity:
        for name, below in value.items():
            inner = shape.child(name)
            if inner is not None and inner.cited:
                yield from _leaves((*path, name), below, inner)
    elif isinstance(value, list) and shape.items is not None and shape.items.properties:
        for number, below in enumerate(value):
            yield from _leaves((*path, number), below, shape.items)
    else:
        yield path, value


@dataclass
class Subject:
    """One record under examination. `value` holds only what passed the schema; `fits` is true if all of it did."""

    record: Record
    shape: Shape
    context: Context
    value: dict[str, Any] = field(default_factory=dict)
    fits: bool = True

    def at(self, path: Path, message: str, tip: str = "", *, key: bool = False, also: Iterable[Path] = ()) -> Finding:
        """A finding at a place of this record; `also` are the other fields that the finding is about."""
        doc = self.record.doc
        line, col = doc.locate(path, key)
        if key and doc.file_of(path) != doc.path:
            # A column's name is wrong once, not once a row.
            path = (path[0], *path[2:])
        fields = tuple(self.dotted(one) for one in (path, *also))
        return Finding(doc.file_of(path), line, col, "", message, tip, fields)

    def dotted(self, path: Path) -> str:
        """A path as `conflicts` writes it: `phases.<name>.accelerators`."""
        steps = []
        here: Any = self.value
        for step in path:
            below = here[step] if self._has(here, step) else {}
            named = isinstance(step, int) and isinstance(below, dict) and "name" in below
            steps.append(str(below["name"]) if named else str(step))
            here = below
        return ".".join(steps)

    @staticmethod
    def _has(value: Any, step: str | int) -> bool:
        if isinstance(value, dict):
            return step in value
        return isinstance(value, list) and isinstance(step, int) and step < len(value)

    def phases(self) -> Iterator[tuple[Path, dict[str, Any]]]:
        """Every phase of a run with its path."""
        for number, phase in enumerate(self.value.get("phases", ())):
            yield ("phases", number), phase

    @cached_property
    def blocks(self) -> list[Block]:
        """Every object of the record that may hold a `cite`."""
        return list(_blocks((), self.value, self.shape))


def _blocks(path: Path, value: Any, shape: Shape) -> Iterator[Block]:
    if isinstance(value, dict):
        if "cite" in shape.properties and shape.base != "conflict":
            yield Block(path, value, shape)
        for name, below in value.items():
            inner = shape.properties.get(name)
            if inner is not None and inner.name != "conflicts":
                yield from _blocks((*path, name), below, inner)
    elif isinstance(value, list) and shape.items is not None:
        for number, below in enumerate(value):
            yield from _blocks((*path, number), below, shape.items)
