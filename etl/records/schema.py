"""The one reader of `schemas/*.schema.json` and of the private keywords in them."""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from functools import cache, cached_property
from pathlib import Path
from typing import TYPE_CHECKING, Any

from schemas.refusal import RefusalError

if TYPE_CHECKING:
    from jsonschema import Draft202012Validator

KINDS = (
    "run",
    "model",
    "accelerator",
    "system",
    "benchmark",
    "cluster",
    "trend",
    "claim",
    "organization",
    "calibration",
    "exceptions",
    "removed",
)
PRIVATE = "x-"


@dataclass(frozen=True, eq=False)
class Shape:
    """One place of a schema with every reference followed: what may stand there and how it is described."""

    name: str
    base: str = ""
    types: tuple[str, ...] = ()
    description: str = ""
    title: str = ""
    title_zh: str = ""
    unit: str = ""
    level: str = "optional"
    ref: str = ""
    table: str = ""
    prefix: str = ""
    cited: bool = True
    flow: bool = False
    guidelines: tuple[str, ...] = ()
    examples: tuple[Any, ...] = ()
    examples_bad: tuple[Any, ...] = ()
    required: tuple[str, ...] = ()
    properties: dict[str, Shape] = field(default_factory=dict)
    closed: bool = False
    values: Shape | None = None
    items: Shape | None = None
    choices: tuple[Shape, ...] = ()
    enum: tuple[Any, ...] = ()
    pattern: re.Pattern[str] | None = None
    rules: dict[str, Any] = field(default_factory=dict)

    @property
    def label(self) -> str:
        """Title, or the name with spaces where no title is given."""
        return self.title or self.name.replace("_", " ")

    @property
    def is_quantity(self) -> bool:
        """A number or a range."""
        return self.base == "quantity"

    def child(self, name: str) -> Shape | None:
        """Shape of one key of an object, if the key is known."""
        return self.properties.get(name, self.values)

    @cached_property
    def validator(self) -> Draft202012Validator:
        """The compiled validator of this place; `rules` hold no references, which makes it three times faster."""
        from etl.records.validation import compiled

        return compiled(self.rules)


RULES = (
    "type", "enum", "required", "minimum", "maximum", "exclusiveMinimum", "minItems", "uniqueItems", "minProperties",
    "minLength", "format",
)  # fmt: skip
"""Keywords of JSON Schema that are taken over as they are; those with schemas or patterns inside are rewritten."""


@dataclass(frozen=True, eq=False)
class Schemas:
    """All record schemas of one folder, resolved."""

    folder: Path
    raw: dict[str, dict[str, Any]]
    shapes: dict[str, Shape]
    results: dict[str, Shape]

    def kind(self, kind: str) -> Shape:
        """Shape of a whole record of one kind."""
        return self.shapes[kind]


@cache
def load(folder: Path) -> Schemas:
    """Read every schema of a folder.

    Parameters
    ----------
    folder : the `schemas/` folder

    Returns
    -------
    resolved shapes of the record kinds and of the result tables

    Raises
    ------
    FileNotFoundError : a schema is missing
    RefusalError : a schema is no JSON
    """
    raw = {path.name: _json(path) for path in sorted(folder.glob("*.schema.json"))}
    files = {kind: f"{kind}.schema.json" for kind in KINDS}
    missing = [name for name in files.values() if name not in raw]
    if missing:
        raise FileNotFoundError(f"{folder}: {missing[0]} is missing; restore it from the repository")
    shapes = {kind: _shape(raw[name], kind, name, raw) for kind, name in files.items()}
    definitions = raw.get("result.schema.json", {}).get("$defs", {})
    results = {table: _shape(part, table, "result.schema.json", raw) for table, part in definitions.items()}
    return Schemas(folder, raw, shapes, results)


def _json(path: Path) -> Any:
    try:
        return json.loads(path.read_text("utf-8"))
    except json.JSONDecodeError as error:
        place = f"schemas/{path.name}:{error.lineno}:{error.colno}"
        raise RefusalError(f"{place} is no JSON ({error.msg}); mend it or restore it from the repository") from None


def _resolve(part: dict[str, Any], file: str, raw: dict[str, dict[str, Any]]) -> tuple[dict[str, Any], str, str]:
    """Follow `$ref`; keywords beside it win over those behind it. Returns the keywords, the file and the $defs name."""
    if "$ref" not in part:
        return part, file, ""
    target, _, pointer = part["$ref"].partition("#")
    file = target or file
    target_part: Any = raw[file]
    for step in pointer.strip("/").split("/"):
        target_part = target_part[step]
    behind, file, base = _resolve(target_part, file, raw)
    beside = {key: value for key, value in part.items() if key != "$ref"}
    return {**behind, **beside}, file, base or pointer.split("/")[-1]


def _shape(part: dict[str, Any], name: str, file: str, raw: dict[str, dict[str, Any]]) -> Shape:
    keywords, file, base = _resolve(part, file, raw)
    kinds = keywords.get("type", ())
    below = {key: _shape(value, key, file, raw) for key, value in keywords.get("properties", {}).items()}
    more = keywords.get("additionalProperties")
    whole = Shape(
        name=name,
        base=base,
        types=(kinds,) if isinstance(kinds, str) else tuple(kinds),
        **_described(keywords),
        required=tuple(keywords.get("required", ())),
        properties=below,
        closed=more is False,
        values=_shape(more, name, file, raw) if isinstance(more, dict) else None,
        items=_shape(keywords["items"], name, file, raw) if "items" in keywords else None,
        choices=tuple(_shape(choice, name, file, raw) for choice in keywords.get("oneOf", ())),
        enum=tuple(keywords.get("enum", ())),
        pattern=_compiled(keywords.get("pattern")),
    )
    return replace(whole, rules=_rules(keywords, whole))


def _rules(keywords: dict[str, Any], shape: Shape) -> dict[str, Any]:
    """The keywords that decide what is valid, with every reference replaced by what it points at."""
    rules = {key: keywords[key] for key in RULES if key in keywords}
    if shape.pattern is not None:
        rules["pattern"] = shape.pattern.pattern
    if shape.properties:
        rules["properties"] = {key: below.rules for key, below in shape.properties.items()}
    if shape.closed or shape.values is not None:
        rules["additionalProperties"] = shape.values.rules if shape.values is not None else False
    if "propertyNames" in keywords:
        rules["propertyNames"] = {"pattern": _anchored(keywords["propertyNames"]["pattern"])}
    if shape.items is not None:
        rules["items"] = shape.items.rules
    if shape.choices:
        rules["oneOf"] = [choice.rules for choice in shape.choices]
    return rules


def _described(keywords: dict[str, Any]) -> dict[str, Any]:
    """Words and private keywords of one place."""
    return {
        "description": keywords.get("description", ""),
        "title": keywords.get("title", ""),
        "title_zh": keywords.get("x-title-zh", ""),
        "unit": keywords.get("x-unit", ""),
        "level": keywords.get("x-level", "optional"),
        "ref": keywords.get("x-ref", ""),
        "table": keywords.get("x-table", ""),
        "prefix": keywords.get("x-prefix", ""),
        "cited": keywords.get("x-cited", True),
        "flow": keywords.get("x-flow", False),
        "guidelines": tuple(keywords.get("x-guidelines", ())),
        "examples": tuple(keywords.get("examples", ())),
        "examples_bad": tuple(keywords.get("x-examples-bad", ())),
    }


def _compiled(pattern: str | None) -> re.Pattern[str] | None:
    return None if pattern is None else re.compile(_anchored(pattern))


def _anchored(pattern: str) -> str:
    """JSON Schema's `$` is the end of the text; Python's also matches before a last line end."""
    return re.sub(r"\$$", r"\\Z", pattern)


@cache
def tables(schemas: Schemas, file: str) -> dict[str, Shape]:
    """Definitions of one schema file that describes tables instead of a record.

    Parameters
    ----------
    schemas : the schemas that were loaded
    file : its name, as result.schema.json

    Returns
    -------
    resolved shape of every definition, by name
    """
    definitions = schemas.raw[file]["$defs"]
    return {name: _shape(part, name, file, schemas.raw) for name, part in definitions.items()}


def walk(shape: Shape, path: tuple[str, ...] = ()) -> Iterator[tuple[tuple[str, ...], Shape]]:
    """Every place below a shape, in schema order, depth first.

    >>> inner = Shape("tp", description="Tensor-parallel degree.")
    >>> [path for path, _ in walk(Shape("layout", properties={"tp": inner}))]
    [(), ('tp',)]
    """
    yield path, shape
    for name, below in shape.properties.items():
        yield from walk(below, (*path, name))
    if shape.items is not None:
        yield from walk(shape.items, (*path, "[]"))
    if shape.values is not None:
        yield from walk(shape.values, (*path, "{}"))
