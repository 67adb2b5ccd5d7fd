"""The changelog of records: counts and lines that one counts by hand in two small states."""

from etl.contribute.changelog import HEAD, section, with_section
from etl.contribute.states import Snapshot

BEFORE = Snapshot({("run", "a/b"): {"days": "54", "note": "x"}, ("run", "a/c"): {"days": "1"}, ("model", "m/n"): {}})
AFTER = Snapshot({("run", "a/b"): {"days": "78", "tokens": "1"}, ("run", "a/d"): {}, ("model", "m/n"): {}})


def test_a_value_that_changed_is_shown_with_both_and_the_others_are_counted() -> None:
    assert "- run `a/b`: days 54 -> 78; +1 -1 values\n" in section("0.2", BEFORE, AFTER, {})


def test_counts_are_by_kind_and_kinds_without_changes_are_left_out() -> None:
    text = section("0.2", BEFORE, AFTER, {})
    assert "| run | 1 | 1 | 1 | 2 |" in text
    assert "| model" not in text


def test_a_removed_record_says_why_or_that_nobody_says() -> None:
    assert "- run `a/c`: no reason in data/removed.yaml" in section("0.2", BEFORE, AFTER, {})
    stone = {("run", "a/c"): {"why": "the same as a/d", "instead": "a/d"}}
    assert "- run `a/c`: the same as a/d; now `a/d`" in section("0.2", BEFORE, AFTER, stone)


def test_two_equal_states_are_an_empty_table() -> None:
    assert section("0.2", BEFORE, BEFORE, {}).splitlines()[2:] == [
        "| kind | added | removed | changed | values changed |",
        "|---|---:|---:|---:|---:|",
    ]


def test_many_changes_of_one_record_are_cut_and_counted() -> None:
    before = Snapshot({("run", "a/b"): {f"f{number}": "1" for number in range(9)}})
    after = Snapshot({("run", "a/b"): {f"f{number}": "2" for number in range(9)}})
    assert section("0.2", before, after, {}).rstrip().endswith("f5 1 -> 2; and 3 more")


def test_a_version_written_again_replaces_itself_and_keeps_the_older_ones() -> None:
    first = with_section(HEAD, "0.1", "## 0.1\n\nold\n")
    both = with_section(first, "0.2", "## 0.2\n\nx\n")
    assert with_section(both, "0.2", "## 0.2\n\ny\n") == f"{HEAD}\n## 0.2\n\ny\n\n## 0.1\n\nold\n"


def test_a_citation_that_changed_is_no_changed_value() -> None:
    before = Snapshot({("run", "a/b"): {"days": "54", "cite.days.source": "paper", "sources.paper.url": "x"}})
    after = Snapshot({("run", "a/b"): {"days": "78", "cite.days.source": "card"}})
    assert "- run `a/b`: days 54 -> 78\n" in section("0.2", before, after, {})
