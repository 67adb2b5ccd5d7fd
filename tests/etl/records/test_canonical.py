"""The formatter: it changes no value, a second pass changes nothing, and what it would lose it refuses."""

from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from etl.records import schema
from etl.records.canonical import dump, form
from etl.records.formatting import rewrite
from etl.records.loading import Record, load
from etl.yaml import reader
from etl.yaml.comments import comments

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")
RUN = SCHEMAS.kind("run")
TEXT = st.text(
    st.characters(codec="utf-8", exclude_categories=["Cs", "Cc"]) | st.sampled_from("\n #:-{}[],'\"\\&*!|>%@`"),
    min_size=1,
)
WORDS = st.lists(st.sampled_from(["a", "NO", "1e5", "x:", "#y", "- z", "word" * 9]), min_size=1, max_size=40).map(
    " ".join
)
SCALARS = st.one_of(
    st.booleans(), st.integers(-(10**20), 10**20), st.floats(allow_nan=False, allow_infinity=False), TEXT, WORDS
)
TREES = st.recursive(
    SCALARS, lambda below: st.lists(below, max_size=4) | st.dictionaries(TEXT, below, max_size=4), max_leaves=12
)


def formed(text: str, kind: str = "run") -> str:
    return form(reader.parse(text.encode(), "r.yaml"), SCHEMAS.kind(kind))


@settings(max_examples=200, deadline=None)
@given(st.dictionaries(TEXT, TREES, min_size=1, max_size=5))
@example({"note": "one\ntwo\n"})
@example({"note": " leading"})
@example({"a": "---"})
@example({"a": "x" * 200})
@example({"a": ["- b", {"c": "? d"}]})
def test_what_is_written_reads_back_the_same(value: dict[str, object]) -> None:
    doc = reader.parse(dump(value).encode(), "r.yaml")
    assert doc.findings == []
    assert doc.value == value


@settings(max_examples=200, deadline=None)
@given(
    st.dictionaries(st.sampled_from(["name", "note", "sources", "totals", "phases", "cite", "zzz"]), TREES, min_size=1)
)
def test_a_second_pass_changes_nothing(value: dict[str, object]) -> None:
    once = formed(dump(value))
    assert formed(once) == once


@pytest.mark.parametrize("record", list(load(ROOT / "tests" / "data" / "valid")), ids=lambda record: record.id)
def test_valid_records_are_canonical(record: Record) -> None:
    assert form(record.doc, SCHEMAS.kind(record.kind)) == record.doc.text


@pytest.mark.parametrize("number", ["1.56e13", "15.6e12", "15600000000000", "15.60e12", "1.0", "3.8E25", "0.410"])
def test_numbers_keep_the_digits_and_scale_of_their_author(number: str) -> None:
    assert formed(f"totals:\n  tokens: {number}\n") == f"totals:\n  tokens: {number}\n"


def test_keys_take_the_order_of_the_schema_and_unknown_ones_come_last() -> None:
    assert formed("zzz: 1\norganization: Acme\nname: Alpha\n") == "name: Alpha\norganization: Acme\nzzz: 1\n"


def test_citations_take_the_order_of_the_fields_they_cover() -> None:
    written = "totals:\n  cite: {days: paper, tokens: paper, '*': paper}\n"
    assert formed(written) == 'totals:\n  cite: {"*": paper, tokens: paper, days: paper}\n'


def test_quotes_stand_only_where_yaml_would_read_something_else() -> None:
    written = "name: 'Alpha'\norganization: 'NO'\nframework: '2024'\nreleased: '2024-06-01'\nnote: 'a: b'\n"
    assert formed(written) == 'name: Alpha\norganization: "NO"\nreleased: 2024-06-01\nframework: "2024"\nnote: "a: b"\n'


def test_a_year_gets_the_quotes_that_keep_it_text() -> None:
    assert formed("released: 2024\n") == 'released: "2024"\n'


def test_a_number_in_quotes_loses_them_where_a_number_is_wanted() -> None:
    assert formed('totals:\n  tokens: "15.6e12"\n  days: "54"\n') == "totals:\n  tokens: 15.6e12\n  days: 54\n"


def test_long_prose_is_folded_and_lines_stay_within_the_width() -> None:
    text = formed(f"note: {'words that go on ' * 20}\n")
    assert text.startswith("note: >-\n  words that")
    assert max(map(len, text.split("\n"))) <= 120


def test_paragraphs_stay_apart() -> None:
    assert formed("note: |\n  One.\n\n  Two.\n") == "note: |-\n  One.\n\n  Two.\n"


def test_a_long_row_is_wrapped_and_a_long_source_becomes_a_block() -> None:
    row = ", ".join(
        f"{key}: 1000000" for key in ("layers", "hidden", "heads", "vocab", "tp", "pp", "dp", "ep", "seq_len")
    )
    bench = formed(f"rows:\n  - {{id: a-row-with-a-long-name, {row}}}\n", "benchmark")
    assert [line[:8] for line in bench.split("\n")[1:3]] == ["  - {id:", "      tp"]
    run = formed(f"sources:\n  a: {{title: {'long ' * 20}title, url: 'https://example.com/', kind: paper}}\n")
    assert "    kind: paper\n" in run


@pytest.mark.parametrize(
    ("text", "places"),
    [
        ("# top\na: 1\n", [(1, 1)]),
        ("a: 1  # why\n", [(1, 7)]),
        ("a: 'x # y'\nb: c#d\n", []),
        ("a: 'x # y'  # z\n", [(1, 13)]),
        ("note: |\n  # inside\n# outside\nb: 1\n", [(3, 1)]),
        ("note: >-  # beside\n  x\n", [(1, 11)]),
        ("a: [1, # one\n  2]\n", [(1, 8)]),
    ],
)
def test_comments_are_found_and_hashes_in_text_are_not(text: str, places: list[tuple[int, int]]) -> None:
    assert [place for place, _ in comments(reader.parse(text.encode(), "r.yaml"))] == places


def record_of(path: Path) -> Record:
    return Record("run", "x", path, reader.read(path, "data/runs/x.yaml"))


def test_a_file_with_comments_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("organization: Acme # the company\nname: Alpha\n")
    change = rewrite(record_of(path), RUN)
    assert [(one.code, one.tip) for one in change.findings] == [
        ("FMT002", "move it into a note: the company; or quote the text where the # belongs to it")
    ]
    assert path.read_text() == "organization: Acme # the company\nname: Alpha\n"


def test_line_ends_and_byte_order_mark_are_repaired(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_bytes(b"\xef\xbb\xbfname: Alpha\r\norganization: Acme\r\n")
    assert rewrite(record_of(path), RUN).changed
    assert path.read_bytes() == b"name: Alpha\norganization: Acme\n"


def test_a_file_that_is_not_yaml_is_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "x.yaml"
    path.write_text("name: [Alpha\n")
    assert [one.code for one in rewrite(record_of(path), RUN).findings] == ["YAM008"]
    assert [one.name for one in tmp_path.iterdir()] == ["x.yaml"]
