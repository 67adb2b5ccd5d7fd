"""Every rule has a bad record named for its defect: the record gives that code and no other."""

import shutil
from datetime import date
from pathlib import Path

import pytest

from etl import schema
from etl.checks.registry import FAMILIES, RULES
from etl.checks.runner import examine
from etl.findings import Finding
from etl.records import load

ROOT = Path(__file__).parents[2]
VALID = ROOT / "tests" / "data" / "valid"
INVALID = ROOT / "tests" / "data" / "invalid"
TODAY = date(2026, 8, 1)
BAD = sorted(path for path in INVALID.rglob("*") if path.is_symlink() or path.is_file())


def findings(data: Path) -> list[Finding]:
    return examine(load(data), schema.load(ROOT / "schemas"), TODAY)


def with_bad(place: Path, bad: Path) -> list[Finding]:
    """Findings of the valid records with one bad file among them."""
    data = place / "data"
    shutil.copytree(VALID, data)
    inner = bad.relative_to(INVALID)
    target = data / ("exceptions.yaml" if len(inner.parts) == 1 else Path(str(inner).lower()))
    target.parent.mkdir(parents=True, exist_ok=True)
    shutil.copy(bad, target, follow_symlinks=False)
    return findings(data)


def test_the_valid_records_have_no_findings() -> None:
    assert [finding.text() for finding in findings(VALID)] == []


@pytest.mark.parametrize("bad", BAD, ids=lambda path: path.stem)
def test_a_bad_record_gives_the_code_in_its_name_and_no_other(bad: Path, tmp_path: Path) -> None:
    found = with_bad(tmp_path, bad)
    assert {finding.code for finding in found} == {bad.name[:6]}, [finding.text() for finding in found]
    assert all(finding.message and finding.tip and finding.line and finding.col for finding in found)
    assert not any("Traceback" in finding.text() or "\n" in finding.message + finding.tip for finding in found)


def test_every_rule_has_a_bad_record() -> None:
    assert {path.name[:6] for path in BAD} == set(RULES)


def test_codes_are_three_letters_of_a_family_and_three_digits() -> None:
    assert all(code[:3] in FAMILIES and code[3:].isdigit() and len(code) == 6 for code in RULES)


def test_every_rule_says_in_one_sentence_what_must_hold() -> None:
    assert [rule.code for rule in RULES.values() if not rule.about.endswith(".") or len(rule.about) > 160] == []
