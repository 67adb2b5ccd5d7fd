"""Nothing that the JSON Schemas refuse passes, and every refusal has words; the raw schemas are the second witness."""

from copy import deepcopy
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from jsonschema import Draft202012Validator, FormatChecker
from referencing import Registry
from referencing.jsonschema import DRAFT202012

from etl.checks.shape import clean, problems
from etl.checks.words import WORDS
from etl.records import schema
from etl.records.loading import load

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")
RECORDS = [record for record in load(ROOT / "tests" / "data" / "valid") if record.kind in SCHEMAS.shapes]


def with_references(kind: str) -> Draft202012Validator:
    """A validator of the schema files as they are, references followed by the library."""
    contents = {document["$id"]: DRAFT202012.create_resource(document) for document in SCHEMAS.raw.values()}
    registry: Any = Registry().with_resources(contents.items())
    return Draft202012Validator(SCHEMAS.raw[f"{kind}.schema.json"], registry=registry, format_checker=FormatChecker())


WITNESS = {record.kind: with_references(record.kind) for record in RECORDS}
VALUES = st.one_of(
    st.booleans(),
    st.integers(-3, 10**6),
    st.floats(allow_nan=False, allow_infinity=False, width=32),
    st.sampled_from(["", "x", "2024-07", "2024-13", "NVIDIA/x", "a b", " a", "bf16", "paper Table 1", "Paper", "a\nb"]),
    st.lists(st.sampled_from(["a", 1, "a", {}]), max_size=3),
    st.dictionaries(st.sampled_from(["low", "high", "best", "from", "tp", "name"]), st.integers(-1, 9), max_size=3),
)


def paths(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    """Every place of a record except its top."""
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [one for step in steps for one in ((*path, step), *paths(value[step], (*path, step)))]


def accepted(kind: str, value: Any) -> bool:
    # A draft's `todo` and days that no calendar has are refused by us alone.
    return not [one for one in problems(value, SCHEMAS.kind(kind)) if one.code not in {"TDO001", "SCH009"}]


@pytest.mark.parametrize("record", RECORDS, ids=lambda record: record.id)
def test_valid_records_pass_both(record: Any) -> None:
    assert WITNESS[record.kind].is_valid(record.value)
    assert accepted(record.kind, record.value)


@settings(max_examples=300, deadline=None)
@given(st.data())
def test_one_replaced_value_is_judged_alike(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    value = deepcopy(record.value)
    *above, last = data.draw(st.sampled_from(paths(value)))
    holder = value
    for step in above:
        holder = holder[step]
    holder[last] = data.draw(VALUES)
    assert accepted(record.kind, value) == WITNESS[record.kind].is_valid(value)


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_one_dropped_or_added_key_is_judged_alike(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    value = deepcopy(record.value)
    holder = data.draw(
        st.sampled_from([value, *(v for p in paths(value) for v in [at(value, p)] if isinstance(v, dict))])
    )
    if data.draw(st.booleans()) and holder:
        del holder[data.draw(st.sampled_from(sorted(holder)))]
    else:
        holder[data.draw(st.sampled_from(["tp", "name", "tokns", "note", "*", "best"]))] = data.draw(VALUES)
    assert accepted(record.kind, value) == WITNESS[record.kind].is_valid(value)


def at(value: Any, path: tuple[Any, ...]) -> Any:
    """The value at a path."""
    for step in path:
        value = value[step]
    return value


@settings(max_examples=100, deadline=None)
@given(st.data())
def test_what_is_left_after_cleaning_has_no_problem_but_missing_keys(data: st.DataObject) -> None:
    record = data.draw(st.sampled_from(RECORDS))
    value = deepcopy(record.value)
    *above, last = data.draw(st.sampled_from(paths(value)))
    at(value, tuple(above))[last] = data.draw(VALUES)
    shape = SCHEMAS.kind(record.kind)
    bad = {one.path for one in problems(value, shape) if one.code != "SCH002"}
    left = {one.code for one in problems(clean(value, bad), shape)}
    assert left <= {"SCH002", "SCH007"}


def test_a_known_key_at_the_wrong_level_is_sent_where_it_belongs() -> None:
    found = next(
        problems({"tp": 8, "name": "a", "cite": {"*": "paper"}}, SCHEMAS.kind("run").properties["phases"].items)
    )
    assert (found.message, found.tip) == ("the key 'tp' is unknown here", "it belongs under layout:")


@pytest.mark.parametrize(
    ("written", "tip"),
    [
        ("1_000", "write  tp: 1000"),
        ("010", "write  tp: 10"),
        ("16:8", "write a whole number as the source prints it, without its unit; the field's unit is a count"),
        ("8", "write  tp: 8"),
    ],
)
def test_text_where_a_number_is_wanted_gets_the_corrected_line(written: str, tip: str) -> None:
    layout = SCHEMAS.kind("run").properties["phases"].items.properties["layout"]
    assert [one.tip for one in problems({"tp": written}, layout)] == [tip]


def test_every_keyword_of_the_schemas_has_words() -> None:
    used = {
        keyword for kind in SCHEMAS.shapes for _, shape in schema.walk(SCHEMAS.kind(kind)) for keyword in shape.rules
    }
    assert used - {"properties", "items", "oneOf"} <= set(WORDS)
