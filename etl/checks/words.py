"""Words for the errors of `jsonschema`: a sentence and a way out by the keyword that failed."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from etl.checks import repair
from etl.records.schema import Shape
from etl.yaml.nodes import Path
from schemas.nearest import did_you_mean

if TYPE_CHECKING:
    from jsonschema import ValidationError


@dataclass(frozen=True)
class Problem:
    """One place that does not fit its shape."""

    code: str
    path: Path
    message: str
    tip: str
    key: bool = False


@dataclass(frozen=True)
class Fault:
    """An error of the validator: the value, what the keyword wants, and the place."""

    keyword: str
    value: Any
    wanted: Any
    shape: Shape
    path: Path


def worded(error: ValidationError, shape: Shape, path: Path) -> Iterator[Problem]:
    """Sentence and way out for one error.

    Parameters
    ----------
    error : of the validator
    shape : the shape of the place
    path : the place

    Yields
    ------
    one problem; several where one error stands for several keys or items
    """
    fault = Fault(keyword_of(error), error.instance, error.validator_value, shape, path)
    yield from WORDS[fault.keyword](fault)


def keyword_of(error: ValidationError) -> str:
    """The keyword that failed; one about the keys of a mapping is `propertyNames`, whatever it wants of them.

    Parameters
    ----------
    error : of the validator

    Returns
    -------
    a keyword of JSON Schema
    """
    return "propertyNames" if "propertyNames" in list(error.relative_schema_path)[-2:-1] else str(error.validator)


def named(shape: Shape, path: Path) -> Shape:
    """The shape under the name that stands in the file: a source or a citation is called by its key."""
    key = next((step for step in reversed(path) if isinstance(step, str)), shape.name)
    return replace(shape, name=key)


def _type(one: Fault) -> Iterator[Problem]:
    yield Problem("SCH003", one.path, *repair.wrong_type(one.value, named(one.shape, one.path)))


def _enum(one: Fault) -> Iterator[Problem]:
    choices = [str(one) for one in one.shape.enum]
    listed = ", ".join(choices)
    tip = did_you_mean(str(one.value), choices, f"choose one of {listed}")
    yield Problem("SCH004", one.path, f"{one.shape.name} is {one.value!r}, which is not one of {listed}", tip)


def _form(one: Fault) -> Iterator[Problem]:
    cited = "cite" in one.path[-2:-1] or one.shape.name in {"from", "via"}
    yield Problem("SCH005", one.path, *repair.wrong_form(one.value, named(one.shape, one.path), cited))


def _day(one: Fault) -> Iterator[Problem]:
    yield Problem("SCH009", one.path, f"{one.value} is not a day of the calendar", "look the date up in the source")


def _required(one: Fault) -> Iterator[Problem]:
    for name in one.wanted:
        if name not in one.value:
            tip = f"add  {name}: ...   {repair.guideline(one.shape.properties[name])}"
            yield Problem("SCH002", one.path, f"the key {name!r} is missing", tip)


def _unknown(one: Fault) -> Iterator[Problem]:
    for name in one.value:
        if name not in one.shape.properties:
            message = f"the key {name!r} is unknown here"
            yield Problem("SCH001", (*one.path, name), message, _known(name, one.shape), key=True)


def _known(name: str, shape: Shape) -> str:
    """Where an unknown key may have been meant to go."""
    if "sparse" in name or "sparsity" in name[1:]:
        return "peaks are dense here; delete it: a peak with sparsity has no field"
    for inner in shape.properties.values():
        below = inner.items.properties if inner.items is not None else inner.properties
        if name in below and name not in {"field", "other", "why"}:
            return f"it belongs under {inner.name}:"
    return did_you_mean(name, shape.properties, f"known keys: {', '.join(shape.properties)}")


def _key(one: Fault) -> Iterator[Problem]:
    # The instance of such an error is the key itself, at the place of its mapping.
    name = str(one.value)
    tip = f"write  {repair.slug(name)}:"
    yield Problem("SCH008", (*one.path, name), f"{name!r} is not a valid {one.shape.name} key", tip, key=True)


def _few(one: Fault) -> Iterator[Problem]:
    if one.keyword == "minItems":
        yield Problem("SCH007", one.path, f"{one.shape.name} is empty", "add an item, or delete the key")
        return
    message = f"{one.shape.name} has {len(one.value)} of at least {one.wanted} keys"
    yield Problem("SCH007", one.path, message, "add a key, or delete the empty part")


def _twice(one: Fault) -> Iterator[Problem]:
    for number, item in enumerate(one.value):
        if item in one.value[:number]:
            message = f"{item!r} is twice in {one.shape.name}"
            yield Problem("SCH007", (*one.path, number), message, "delete one of the two")


def _range(one: Fault) -> Iterator[Problem]:
    side = {"minimum": "below", "exclusiveMinimum": "not above", "maximum": "above"}[one.keyword]
    message = f"{one.shape.name} is {one.value:g}, which is {side} {one.wanted}"
    yield Problem("SCH006", one.path, message, repair.out_of_range(one.value, one.shape))


PRECEDENCE = ("type", "enum", "pattern", "minLength", "format")
"""Keywords of which only the first that fails at a place is reported."""

WORDS: dict[str, Callable[[Fault], Iterator[Problem]]] = {
    "type": _type,
    "enum": _enum,
    "pattern": _form,
    "minLength": _form,
    "format": _day,
    "required": _required,
    "additionalProperties": _unknown,
    "propertyNames": _key,
    "minProperties": _few,
    "minItems": _few,
    "uniqueItems": _twice,
    "minimum": _range,
    "exclusiveMinimum": _range,
    "maximum": _range,
}
"""Words by keyword of JSON Schema; `oneOf` leads to those of one of its choices."""
