"""Citations: what covers a value, which links stay, what counts as second-hand."""

from datetime import date
from pathlib import Path
from typing import Any

import pytest

from etl.checks.registry import RULES
from etl.checks.runner import subject
from etl.checks.subject import Context
from etl.records import schema
from etl.records.canonical import dump
from etl.records.loading import Catalogue, Record
from etl.yaml import reader

ROOT = Path(__file__).parents[3]
SCHEMAS = schema.load(ROOT / "schemas")
HOUSE = Context(Catalogue(ROOT / "data"), SCHEMAS, date(2026, 8, 1))


def said(code: str, value: dict[str, Any], kind: str = "run") -> list[str]:
    """Messages of one rule on a record."""
    doc = reader.parse(dump(value).encode(), "data/x.yaml")
    one = subject(Record(kind, "a/b", Path("x.yaml"), doc), HOUSE)
    one.value = one.record.value
    rule = RULES[code].run
    assert rule is not None
    return [finding.message for finding in rule(one)]


def linked(url: str, **more: str) -> dict[str, Any]:
    source = {"title": "x", "url": url, "kind": "paper", **more}
    return {"released": "2024", "sources": {"paper": source}, "cite": {"*": "paper p. 1"}}


PHASE = {"name": "main", "layout": {"tp": 8, "pp": 4}, "reported": {"mfu": 0.4}, "seq_len": 4096}


@pytest.mark.parametrize(
    ("cite", "bare"),
    [
        ({"*": "paper"}, ""),
        ({"layout": "paper", "reported": "paper", "seq_len": "paper"}, ""),
        ({"tp": "paper", "pp": "paper", "mfu": "paper", "seq_len": "paper"}, ""),
        ({"layout.tp": "paper", "pp": "paper", "reported.mfu": "paper", "seq_len": "paper"}, ""),
        ({"layout": "paper"}, "reported.mfu, seq_len"),
        ({"tp": "paper", "reported": "paper"}, "layout.pp, seq_len"),
    ],
)
def test_a_value_is_covered_by_its_name_its_object_or_the_star(cite: dict[str, str], bare: str) -> None:
    found = said("SRC001", {"phases": [{**PHASE, "cite": cite}]})
    assert found == ([f"no citation covers {bare}"] if bare else [])


def test_a_star_covers_its_own_block_only() -> None:
    value = {"released": "2024", "totals": {"tokens": 1e12, "cite": {"*": "paper"}}, "cite": {"*": "paper"}}
    assert said("SRC001", value) == []
    assert said("SRC001", {**value, "totals": {"tokens": 1e12}}) == ["no citation covers tokens"]
    assert said("SRC001", {**value, "cite": {"started": "paper"}}) == ["no citation covers released"]


def test_names_pointers_and_prose_need_no_citation() -> None:
    assert said("SRC001", {"name": "x", "organization": "y", "model": "a/b", "purpose": "estimate", "note": "z"}) == []


@pytest.mark.parametrize(
    ("url", "findings"),
    [
        ("https://github.com/a/b/blob/a9c89c4/README.md", 0),
        ("https://github.com/a/b/tree/0123456789abcdef0123456789abcdef01234567", 0),
        ("https://github.com/a/b/blob/v0.11.0/x.py", 0),
        ("https://github.com/a/b/issues/12", 0),
        ("https://raw.githubusercontent.com/a/b/a9c89c4/x.sh", 0),
        ("https://example.com/github.com/a/b", 0),
        ("https://github.com/a/b", 1),
        ("https://github.com/a/b/blob/main/README.md", 1),
        ("https://github.com/a/b/tree/master", 1),
        ("https://raw.githubusercontent.com/a/b/main/x.sh", 1),
    ],
)
def test_github_links_carry_a_commit(url: str, findings: int) -> None:
    assert len(said("SRC007", linked(url))) == findings


@pytest.mark.parametrize(
    ("url", "findings"),
    [
        ("https://arxiv.org/abs/2407.21783v3", 0),
        ("https://arxiv.org/pdf/2407.21783v3.pdf", 0),
        ("https://arxiv.org/html/2407.21783v1", 0),
        ("https://arxiv.org/abs/2407.21783", 1),
        ("https://arxiv.org/pdf/2407.21783", 1),
        ("https://arxiv.org/abs/cs/0301001", 1),
    ],
)
def test_arxiv_links_carry_a_version(url: str, findings: int) -> None:
    assert len(said("SRC008", linked(url))) == findings


def test_an_arxiv_link_without_version_needs_the_day_it_was_read() -> None:
    assert said("SRC008", linked("https://arxiv.org/abs/2407.21783", read="2026-07-01")) == []


def test_a_link_seen_only_in_another_document_may_be_bare() -> None:
    second_hand = {"*": {"from": "paper sec. 1", "via": "epoch row 3"}}
    assert said("SRC007", {**linked("https://github.com/a/b"), "cite": second_hand}) == []


def test_a_citation_names_a_source_of_the_record() -> None:
    value = linked("https://example.com/")
    assert said("SRC002", {**value, "cite": {"*": "papre p. 1"}}) == ["there is no source 'papre' in this record"]
    assert said("SRC002", {**value, "cite": {"*": {"from": "paper", "via": "epoch row 3"}}}) == [
        "there is no source 'epoch' in this record"
    ]
    assert said("SRC004", {**value, "cite": {"*": "other p. 1"}}) == ["no value cites the source 'paper'"]


def test_a_citation_covers_something_that_stands_there() -> None:
    value = linked("https://example.com/")
    assert said("SRC003", {**value, "cite": {"*": "paper", "started": "paper"}}) == [
        "cite names 'started', and the block has no such value"
    ]


@pytest.mark.parametrize(
    ("basis", "how", "findings"), [("derived", "", 1), ("derived", "2 x 3", 0), ("estimated", "", 0)]
)
def test_a_derived_value_says_how(basis: str, how: str, findings: int) -> None:
    entry = {"from": "paper", "basis": basis, **({"how": how} if how else {})}
    assert len(said("SRC009", {**linked("https://example.com/"), "cite": {"*": entry}})) == findings
