"""Whatever a record holds, the whole check and the formatter answer with findings, never with a traceback."""

from copy import deepcopy
from datetime import date
from pathlib import Path
from typing import Any

from hypothesis import given, settings
from hypothesis import strategies as st

from etl.checks.runner import examine
from etl.records import schema
from etl.records.canonical import dump
from etl.records.formatting import rewrite
from etl.records.loading import Record, load
from etl.yaml import reader

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")
CATALOGUE = load(ROOT / "tests" / "data" / "valid")
RECORDS = list(CATALOGUE)
EXCEPTIONS = {"exceptions": [{"code": "SUM001", "record": "runs/acme/alpha.yaml", "why": "x", "until": "2030-01-01"}]}
JUNK = st.recursive(
    st.none()
    | st.booleans()
    | st.integers(-5, 10**13)
    | st.floats(allow_nan=False)
    | st.text(max_size=8)
    | st.just("todo"),
    lambda below: (
        st.lists(below, max_size=3)
        | st.dictionaries(
            st.sampled_from(["name", "tp", "cite", "*", "low", "high", "from", "code"]), below, max_size=3
        )
    ),
    max_leaves=6,
)


def places(value: Any, path: tuple[Any, ...] = ()) -> list[tuple[Any, ...]]:
    steps = list(value) if isinstance(value, dict) else range(len(value)) if isinstance(value, list) else []
    return [one for step in steps for one in ((*path, step), *places(value[step], (*path, step)))]


def answer(kind: str, key: str, content: bytes) -> None:
    """Check and format (without writing) a content in the place of a record."""
    house = load(ROOT / "tests" / "data" / "valid")
    record = Record(kind, key, Path("nowhere.yaml"), reader.parse(content, f"valid/{key}.yaml"))
    house.add(record)
    for finding in examine(house, SCHEMAS, date(2026, 8, 1)):
        assert min(finding.line, finding.col) >= 1
        assert all((finding.code, finding.message))
    rewrite(record, SCHEMAS.shapes[kind], write=False)


@settings(max_examples=150, deadline=None)
@given(st.data())
def test_records_with_junk_in_three_places_get_findings(data: st.DataObject) -> None:
    kind, key, value = data.draw(
        st.sampled_from([(one.kind, one.id, one.value) for one in RECORDS] + [("exceptions", "exceptions", EXCEPTIONS)])
    )
    value = deepcopy(value)
    for _ in range(3):
        *above, last = data.draw(st.sampled_from(places(value)))
        holder = value
        for step in above:
            holder = holder[step]
        holder[last] = data.draw(JUNK)
        if not places(value):
            break
    answer(kind, key, dump(value).encode("utf-8", "replace"))


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(RECORDS), st.binary(max_size=200))
def test_any_bytes_in_the_place_of_a_record_get_findings(record: Record, content: bytes) -> None:
    answer(record.kind, record.id, content)


@settings(max_examples=60, deadline=None)
@given(st.sampled_from(RECORDS), st.integers(0, 2000))
def test_a_record_cut_off_anywhere_gets_findings(record: Record, length: int) -> None:
    answer(record.kind, record.id, record.doc.text.encode()[:length])


def test_a_draft_of_an_accelerator_does_not_trip_the_runs_that_point_at_it() -> None:
    text = "name: todo\nvendor: todo\narchitecture: todo\nreleased: todo\nsources: todo\ncite: {'*': todo}\n"
    answer("accelerator", "acme/chip", text.encode())
