"""Strict YAML: what is read, what is refused, and the sentence for each refusal."""

import os
from pathlib import Path

import pytest
from hypothesis import example, given, settings
from hypothesis import strategies as st

from etl.records import loading
from etl.yaml import reader

VALID = Path(__file__).parents[2] / "data" / "valid"


def only(text: str | bytes) -> str:
    """The text of the one finding that a content gives."""
    content = text if isinstance(text, bytes) else text.encode()
    found = reader.parse(content, "r.yaml").findings
    assert len(found) == 1, [one.text() for one in found]
    return found[0].text()


@pytest.mark.parametrize(
    ("written", "value"),
    [
        # YAML 1.2.2, section 10.3.2 (core schema); PyYAML alone reads the first four as text.
        ("1e25", 1e25),
        ("3.8E25", 3.8e25),
        ("15.6e12", 15.6e12),
        ("1e-4", 1e-4),
        ("-0.5", -0.5),
        ("128", 128),
        ("true", True),
        ("False", False),
        # Text in YAML 1.2, something else in YAML 1.1.
        ("NO", "NO"),
        ("on", "on"),
        ("yes", "yes"),
        ("16:8", "16:8"),
        ("1_000", "1_000"),
        ("2024-05-01", "2024-05-01"),
        # Our stricter reading: a leading zero or plus is no number.
        ("010", "010"),
        ("0x10", "0x10"),
        ("+5", "+5"),
        (".5", ".5"),
        ("'128'", "128"),
    ],
)
def test_scalars_are_read_by_yaml_1_2(written: str, value: object) -> None:
    read = reader.parse(f"a: {written}\n".encode(), "r.yaml").value["a"]
    assert (read, type(read)) == (value, type(value))


@pytest.mark.parametrize(
    ("content", "sentence"),
    [
        (b"", "r.yaml:1:1 YAM007 the file is empty\n    shardbook new run ORG/NAME prints a draft"),
        (
            b"\xff\xfe",
            "r.yaml:1:1 YAM001 the file is not UTF-8 text (byte 0xff)\n"
            "    save it as UTF-8; a binary file is not a record",
        ),
        (
            b"\xef\xbb\xbfa: 1\n",
            "r.yaml:1:1 YAM002 the file starts with a byte order mark\n"
            "    run shardbook fmt, or save as UTF-8 without BOM",
        ),
        (
            b"a: 1\r\nb: 2\r\n",
            "r.yaml:1:5 YAM003 lines end in CR LF\n    run shardbook fmt, or save with LF line ends",
        ),
        (
            b"totals:\n\ttokens: 1\n",
            "r.yaml:2:1 YAM005 tabs are not used in records\n    write two spaces instead:   tokens: 1",
        ),
        (
            b"a: &x 1\n",
            "r.yaml:1:4 YAM009 anchors and aliases ('x') are not used in records\n    write the value out: a: 1",
        ),
        (
            b"tokens: 1\ntokens: 2\n",
            "r.yaml:2:1 YAM011 the key 'tokens' appears twice, first on line 1\n"
            "    keep one of the two lines: tokens: 1",
        ),
        (
            b"tokens: .nan\n",
            "r.yaml:1:9 YAM012 '.nan' is not a finite number\n    delete it where the number is not known,"
            " or write the number that the source prints: tokens: <number>",
        ),
        (
            b"a: !!int 8\n",
            "r.yaml:1:4 YAM010 tags (words that start with '!') are not used in records\n"
            "    write the value without a tag: a: 8",
        ),
        (
            b"name: Alpha: the model\n",
            'r.yaml:1:12 YAM008 a value contains a colon and a space\n    quote the text: name: "Alpha: the model"',
        ),
        (
            b"layout: {tp: 8, pp: 16\nname: x\n",
            "r.yaml:1:9 YAM008 a '{' is not closed\n    add the missing '}' or ',': layout: {tp: 8, pp: 16}",
        ),
        (
            b"name: 'Alpha\n",
            "r.yaml:1:7 YAM008 a quoted text is not closed\n    add the missing quote: name: 'Alpha'",
        ),
        (
            "name:\u00a0Alpha\norganization: Acme\n".encode(),
            "r.yaml:1:1 YAM008 this line has no 'key: value'\n    write a plain colon and a space: name: Alpha",
        ),
        (
            b"<<<<<<< HEAD\nname: a\n=======\nname: b\n>>>>>>> other\n",
            "r.yaml:1:1 YAM008 a merge left both versions here\n"
            "    keep one side and delete the lines with <<<<<<<, ======= and >>>>>>>",
        ),
        (
            b"name: 'Beta's model'\n",
            "r.yaml:1:13 YAM008 text follows a closing quote\n"
            '    use the other kind of quotes around it: name: "Beta\'s model"',
        ),
        (
            b"name: @alpha\n",
            'r.yaml:1:7 YAM008 the character @ cannot start a value\n    quote the text: name: "@alpha"',
        ),
    ],
)
def test_each_refusal_is_one_sentence_with_the_corrected_line(content: bytes, sentence: str) -> None:
    assert only(content) == sentence


def test_ten_megabytes_are_refused_before_they_are_read(tmp_path: Path) -> None:
    big = tmp_path / "big.yaml"
    big.write_bytes(b"note: x\n" * 1_310_720)
    assert reader.read(big, "big.yaml").findings[0].text() == (
        "big.yaml:1:1 YAM006 the file has 10,485,760 bytes; a record has at most 100,000\n"
        "    split it, or move long prose to the source and cite it"
    )


def test_every_mistake_of_a_file_is_told_at_once() -> None:
    doc = reader.parse(b"a: &x 1\nb: .inf\nb: 2\nc:\n", "r.yaml")
    assert [(one.line, one.code) for one in doc.findings] == [
        (1, "YAM009"),
        (2, "YAM012"),
        (3, "YAM011"),
        (4, "YAM015"),
    ]


def test_places_point_at_values_and_at_the_keys_of_containers() -> None:
    doc = reader.parse(b"a: 1\nphases:\n  - name: x\n    layout: {tp: 8}\n", "r.yaml")
    assert doc.locate(("phases", 0, "layout", "tp")) == (4, 18)
    assert doc.locate(("phases",)) == (2, 1)
    assert doc.locate(("phases", 0, "name"), key=True) == (3, 5)
    assert doc.locate(("phases", 0, "gone", "below")) == (3, 5)
    assert doc.positions[("a",)] == (1, 4)


@pytest.mark.parametrize("opener", ["[", "{a: ", "- "])
def test_bottomless_nesting_is_refused_without_falling_in(opener: str) -> None:
    doc = reader.parse((opener * 20_000).encode(), "r.yaml")
    assert {one.code for one in doc.findings} <= {"YAM013", "YAM008"}
    assert doc.findings


@settings(max_examples=400, deadline=None)
@given(st.binary(max_size=300))
@example(b"\x00")
@example("a: \u2028".encode())
@example(b"? [a]\n: {b: *c}\n")
def test_any_bytes_are_read_or_refused_and_never_crash(content: bytes) -> None:
    doc = reader.parse(content, "r.yaml")
    assert doc.findings or doc.root is not None


@settings(max_examples=400, deadline=None)
@given(st.data())
def test_a_record_with_a_few_bytes_changed_never_crashes(data: st.DataObject) -> None:
    content = bytearray((VALID / "runs" / "acme" / "alpha.yaml").read_bytes())
    for _ in range(data.draw(st.integers(1, 4))):
        at = data.draw(st.integers(0, len(content) - 1))
        content[at : at + data.draw(st.integers(0, 3))] = data.draw(
            st.sampled_from([b"", b"{", b"- ", b"\n", b": ", b"#", b"'"])
        )
    doc = reader.parse(bytes(content), "r.yaml")
    assert doc.findings or doc.root is not None
    assert all(one.line >= 1 and one.col >= 1 and one.message and one.tip for one in doc.findings)


def test_what_is_no_file_is_told_and_not_waited_for(tmp_path: Path) -> None:
    runs = tmp_path / "data" / "runs" / "acme"
    (runs / "folder.yaml").mkdir(parents=True)
    os.mkfifo(runs / "pipe.yaml")
    found = [record.doc.findings[0] for record in loading.load(tmp_path / "data")]
    assert [(one.path, one.code, one.message) for one in found] == [
        (f"data/runs/acme/{name}.yaml", "YAM018", "this is not a file but a folder or a device")
        for name in ("folder", "pipe")
    ]


@pytest.mark.parametrize("mark", ["\u202e", "\u2066"])
def test_marks_that_turn_the_direction_of_text_are_refused(mark: str) -> None:
    code = f"U+{ord(mark):04X}"
    assert f"r.yaml:1:7 YAM004 character {code} is not text" in only(f"name: {mark}x\n")


def test_a_link_out_of_data_is_not_followed(tmp_path: Path) -> None:
    secret = tmp_path / "secret.yaml"
    secret.write_text("name: secret\n")
    runs = tmp_path / "data" / "runs"
    runs.mkdir(parents=True)
    (runs / "x.yaml").symlink_to(secret)
    catalogue = loading.load(tmp_path / "data")
    assert [one.text() for one in catalogue.findings] == [
        "data/runs/x.yaml:1:1 YAM017 the file is a link to a place outside data/\n"
        "    put the record itself here instead of the link"
    ]
    assert not list(catalogue)
