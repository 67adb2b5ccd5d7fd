"""What `jsonschema` finds wrong in a record, each error with a sentence and the corrected line.

The validator decides; the words are chosen by the keyword that failed and the place where it failed.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from etl.checks import repair
from etl.checks.registry import declare
from etl.checks.words import PRECEDENCE, Problem, keyword_of, named, worded
from etl.records.schema import Shape
from etl.yaml.nodes import Path

if TYPE_CHECKING:
    from jsonschema import ValidationError

TODO = "todo"
ANYTHING = Shape("record", types=("object",), rules={"type": "object"})

declare("SCH001", "unknown-key", "A key must be one that the schema has at that place.")
declare("SCH002", "missing-key", "A required key must be there.")
declare(
    "SCH003", "wrong-type", "A value must be of the type that the schema wants: a number, text, true or false, a list."
)
declare("SCH004", "not-a-choice", "A value from a closed list must be spelled as in the list.")
declare("SCH005", "wrong-form", "Text must have the form that the schema wants: a date, an id, a link, a citation.")
declare("SCH006", "out-of-range", "A number must lie in the range that the schema gives.")
declare("SCH007", "wrong-size", "A list or mapping must not be empty, and some lists must not contain duplicates.")
declare(
    "SCH008", "key-spelling", "A key that the author chooses (a source, a shape) is lower-case letters, digits and '-'."
)
declare("SCH009", "no-such-day", "A date must exist in the calendar.")
declare("TDO001", "still-to-fill", "A draft's `todo` must be replaced by the value that the source prints.")


def problems(value: Any, shape: Shape) -> Iterator[Problem]:
    """Every place of a value that does not fit a shape.

    Parameters
    ----------
    value : plain values, as read
    shape : what the schema wants there

    Yields
    ------
    the problems, those of one place together

    >>> from pathlib import Path as FilePath
    >>> from etl.records.schema import load
    >>> layout = load(FilePath("schemas")).kind("run").properties["phases"].items.properties["layout"]
    >>> sorted(problem.message for problem in problems({"tp": 0, "pt": 1}, layout))
    ["the key 'pt' is unknown here", 'tp is 0, which is below 1']
    """
    drafts = list(_drafts(value))
    for path in drafts:
        yield from _still_to_fill(shape, path)
    yield from _worded(shape.validator.iter_errors(value), shape, (), frozenset(drafts))


def _drafts(value: Any, path: Path = ()) -> Iterator[Path]:
    """Places that a draft leaves to a person."""
    if isinstance(value, str):
        if is_todo(value, path):
            yield path
    elif isinstance(value, dict):
        for key, below in value.items():
            yield from _drafts(below, (*path, key))
    elif isinstance(value, list):
        for number, below in enumerate(value):
            yield from _drafts(below, (*path, number))


def is_todo(value: str, path: Path) -> bool:
    """Whether a value, or the locator of a citation, is one that a draft leaves to a person.

    Parameters
    ----------
    value : the text
    path : its place

    Returns
    -------
    whether it is still to be filled in

    >>> is_todo("todo", ("name",)), is_todo("paper todo", ("cite", "*")), is_todo("paper todo", ("note",))
    (True, True, False)
    """
    return value.lower() == TODO or ("cite" in path[-2:-1] and value.lower().endswith(f" {TODO}"))


def _still_to_fill(shape: Shape, path: Path) -> Iterator[Problem]:
    above, here = _below(shape, path[:-1]), _below(shape, path)
    if here is None:
        return
    needed = above is None or path[-1] in above.required or path[-1] not in above.properties
    tip = repair.guideline(here) + ("" if needed else " Delete the line where no source prints it.")
    name = named(here, path).name
    message = f"{f'the citation of {name}' if 'cite' in path[-2:-1] else name} is still to be filled in"
    yield Problem("TDO001", path, message, tip)


def _below(shape: Shape, path: Path) -> Shape | None:
    """The shape at a place below; where several shapes are allowed, the one that has the place."""
    here: Shape | None = shape
    for step in path:
        options = (here, *here.choices) if here is not None else ()
        inner = (one.items if isinstance(step, int) else one.child(step) for one in options)
        here = next((one for one in inner if one is not None), None)
    return here


def _worded(errors: Iterable[ValidationError], shape: Shape, base: Path, drafts: frozenset[Path]) -> Iterator[Problem]:
    """Words for errors, once for each keyword at a place."""
    everything = list(errors)
    decided = {(keyword_of(error), *error.path) for error in everything}
    done: set[tuple[Any, ...]] = set()
    for error in everything:
        keyword, path = keyword_of(error), tuple(error.path)
        here = _below(shape, path)
        if here is None or (*base, *path) in drafts or _outranked(keyword, path, decided):
            continue
        if keyword == "oneOf":
            yield from _one_of(error, here, (*base, *path), drafts)
        elif (keyword, *path) not in done or keyword == "propertyNames":
            yield from worded(error, here, (*base, *path))
        done.add((keyword, *path))


def _outranked(keyword: str, path: Path, decided: set[tuple[Any, ...]]) -> bool:
    """Whether an error that says more was found at the same place: a wrong type makes a pattern fail as well."""
    before = PRECEDENCE[: PRECEDENCE.index(keyword)] if keyword in PRECEDENCE else ()
    return any((one, *path) in decided for one in before)


def _one_of(error: ValidationError, shape: Shape, path: Path, drafts: frozenset[Path]) -> Iterator[Problem]:
    """The errors of the choice whose type fits; where none fits, the type is wrong."""
    for number, choice in enumerate(shape.choices):
        own = [one for one in error.context or () if one.relative_schema_path[0] == number]
        if own and not any(one.validator == "type" and not one.path for one in own):
            yield from _worded(own, choice, path, drafts)
            return
    yield Problem("SCH003", path, *repair.wrong_type(error.instance, named(shape, path)))


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
