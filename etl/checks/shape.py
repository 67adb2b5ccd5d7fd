"""The schema walk: every place of a record against its shape, each problem with a sentence and the corrected line.

Decides what the JSON Schemas decide (a test compares the two), many times faster than a general validator.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from datetime import date
from typing import Any

from etl.checks import repair
from etl.checks.registry import declare
from etl.records.schema import Shape
from etl.yaml.nodes import Path
from schemas.nearest import did_you_mean

TODO = "todo"
ANYTHING = Shape("record", types=("object",))

declare("SCH001", "unknown-key", "A key must be one that the schema has at that place.")
declare("SCH002", "missing-key", "A required key must be there.")
declare(
    "SCH003", "wrong-type", "A value must be of the type that the schema wants: a number, text, true or false, a list."
)
declare("SCH004", "not-a-choice", "A value from a closed list must be spelled as in the list.")
declare("SCH005", "wrong-form", "Text must have the form that the schema wants: a date, an id, a link, a citation.")
declare("SCH006", "out-of-range", "A number must lie in the range that the schema gives.")
declare(
    "SCH007", "wrong-size", "A list or mapping must not be empty, nor hold the same item twice where that is no news."
)
declare(
    "SCH008", "key-spelling", "A key that the author chooses (a source, a shape) is lower-case letters, digits and '-'."
)
declare("SCH009", "no-such-day", "A date must exist in the calendar.")
declare("TDO001", "still-to-fill", "A draft's `todo` must be replaced by the value that the source prints.")


@dataclass(frozen=True)
class Problem:
    """One place that does not fit its shape."""

    code: str
    path: Path
    message: str
    tip: str
    key: bool = False


def problems(value: Any, shape: Shape, path: Path = (), needed: bool = True) -> Iterator[Problem]:
    """Every place below a value that does not fit a shape.

    Parameters
    ----------
    value : plain values, as read
    shape : what the schema wants there
    path : where the value stands in its record
    needed : whether the schema requires it there

    Returns
    -------
    the problems, in document order

    >>> count = Shape("tp", types=("integer",), limits={"minimum": 1})
    >>> layout = Shape("layout", types=("object",), properties={"tp": count}, closed=True)
    >>> [problem.message for problem in problems({"tp": 0, "pt": 1}, layout)]
    ['tp is 0, which is below 1', "the key 'pt' is unknown here"]
    """
    if isinstance(value, str) and is_todo(value, path):
        name = _named(shape, path).name
        tip = repair.guideline(shape) + ("" if needed else " Delete the line where no source prints it.")
        message = f"{f'the citation of {name}' if 'cite' in path[-2:-1] else name} is still to be filled in"
        yield Problem("TDO001", path, message, tip)
        return
    if shape.choices:
        chosen = next((choice for choice in shape.choices if _fits(value, choice)), None)
        if chosen is None:
            yield Problem("SCH003", path, *repair.wrong_type(value, _named(shape, path)))
        else:
            yield from problems(value, chosen, path)
        return
    if shape.types and not _fits(value, shape):
        yield Problem("SCH003", path, *repair.wrong_type(value, _named(shape, path)))
    elif isinstance(value, dict):
        yield from _mapping(value, shape, path)
    elif isinstance(value, list):
        yield from _sequence(value, shape, path)
    else:
        yield from _scalar(value, shape, path)


def is_todo(value: str, path: Path) -> bool:
    """Whether a value, or the locator of a citation, is one that a draft leaves to a person.

    >>> is_todo("todo", ("name",)), is_todo("paper todo", ("cite", "*")), is_todo("paper todo", ("note",))
    (True, True, False)
    """
    return value.lower() == TODO or ("cite" in path[-2:-1] and value.lower().endswith(f" {TODO}"))


def _named(shape: Shape, path: Path) -> Shape:
    """The shape under the name that stands in the file: a source or a citation is called by its key."""
    key = next((step for step in reversed(path) if isinstance(step, str)), shape.name)
    return replace(shape, name=key)


def _fits(value: Any, shape: Shape) -> bool:
    """Whether the type is one of those wanted; a whole float is an integer, as in JSON Schema."""
    for wanted in shape.types:
        if wanted == "boolean" or isinstance(value, bool):
            if wanted == "boolean" and isinstance(value, bool):
                return True
        elif wanted == "integer":
            if isinstance(value, int) or (isinstance(value, float) and value.is_integer()):
                return True
        elif isinstance(value, PYTHON[wanted]):
            return True
    return False


PYTHON: dict[str, Any] = {"number": (int, float), "string": str, "object": dict, "array": list, "null": type(None)}


def _mapping(value: dict[str, Any], shape: Shape, path: Path) -> Iterator[Problem]:
    for name in shape.required:
        if name not in value:
            tip = f"add  {name}: ...   {repair.guideline(shape.properties[name])}"
            yield Problem("SCH002", path, f"the key {name!r} is missing", tip)
    if len(value) < shape.limits.get("minProperties", 0):
        tip = "add a key, or delete the empty part"
        yield Problem(
            "SCH007", path, f"{shape.name} has {len(value)} of at least {shape.limits['minProperties']} keys", tip
        )
    for name, below in value.items():
        inner = shape.child(name)
        if inner is not None:
            if shape.keys is not None and not shape.keys.match(name):
                tip = f"write  {repair.slug(name)}:"
                yield Problem("SCH008", (*path, name), f"{name!r} is no {shape.name} key", tip, key=True)
            needed = name in shape.required or name not in shape.properties
            yield from problems(below, inner, (*path, name), needed)
        elif shape.closed:
            yield Problem("SCH001", (*path, name), f"the key {name!r} is unknown here", _known(name, shape), key=True)


def _known(name: str, shape: Shape) -> str:
    """Where an unknown key may have been meant to go."""
    if "sparse" in name or "sparsity" in name[1:]:
        return "peaks are dense here; delete it: a peak with sparsity has no field"
    for inner in shape.properties.values():
        below = inner.items.properties if inner.items is not None else inner.properties
        if name in below and name not in {"field", "other", "why"}:
            return f"it belongs under {inner.name}:"
    return did_you_mean(name, shape.properties, f"known keys: {', '.join(shape.properties)}")


def _sequence(value: list[Any], shape: Shape, path: Path) -> Iterator[Problem]:
    if len(value) < shape.limits.get("minItems", 0):
        yield Problem("SCH007", path, f"{shape.name} is empty", "add an item, or delete the key")
    if shape.limits.get("uniqueItems"):
        for number, item in enumerate(value):
            if item in value[:number]:
                yield Problem(
                    "SCH007", (*path, number), f"{item!r} stands twice in {shape.name}", "delete one of the two"
                )
    if shape.items is not None:
        for number, item in enumerate(value):
            yield from problems(item, shape.items, (*path, number))


def _scalar(value: Any, shape: Shape, path: Path) -> Iterator[Problem]:
    if shape.enum and value not in shape.enum:
        listed = ", ".join(str(one) for one in shape.enum)
        tip = did_you_mean(str(value), [str(one) for one in shape.enum], f"choose one of {listed}")
        yield Problem("SCH004", path, f"{shape.name} is {value!r}, which is not one of {listed}", tip)
    elif isinstance(value, str):
        if (shape.pattern and not shape.pattern.search(value)) or len(value) < shape.limits.get("minLength", 0):
            cited = "cite" in path[-2:-1] or shape.name in {"from", "via"}
            yield Problem("SCH005", path, *repair.wrong_form(value, _named(shape, path), cited))
        elif (shape.base == "date" or shape.limits.get("format") == "date") and not _exists(value):
            yield Problem("SCH009", path, f"{value} is no day of the calendar", "look the date up in the source")
    elif isinstance(value, int | float) and not isinstance(value, bool):
        yield from _number(value, shape, path)


def _exists(day: str) -> bool:
    try:
        date.fromisoformat(f"{day}-01-01"[:10])
    except ValueError:
        return False
    return True


def _number(value: float, shape: Shape, path: Path) -> Iterator[Problem]:
    low, above, high = (shape.limits.get(name) for name in ("minimum", "exclusiveMinimum", "maximum"))
    wrong = ""
    if low is not None and value < low:
        wrong = f"below {low}"
    elif above is not None and value <= above:
        wrong = f"not above {above}"
    elif high is not None and value > high:
        wrong = f"above {high}"
    if wrong:
        tip = repair.out_of_range(value, shape)
        yield Problem("SCH006", path, f"{shape.name} is {value:g}, which is {wrong}", tip)


def clean(value: Any, bad: set[Path], path: Path = ()) -> Any:
    """A copy without the parts that do not fit, so that later rules may trust what they see.

    A bad item empties its list where items are plain values, and becomes an empty object where they are objects:
    places of the other items must not move.

    >>> clean({"tp": 8, "pp": "x"}, {("pp",)})
    {'tp': 8}
    """
    if isinstance(value, dict):
        return {key: clean(below, bad, (*path, key)) for key, below in value.items() if (*path, key) not in bad}
    if isinstance(value, list):
        wrong = [number for number in range(len(value)) if (*path, number) in bad]
        if wrong and not any(isinstance(item, dict) for number, item in enumerate(value) if number not in wrong):
            return []
        return [{} if number in wrong else clean(item, bad, (*path, number)) for number, item in enumerate(value)]
    return value
