"""Every rule has a bad record named for its defect: the record gives that code and no other."""

import os
import shutil
import subprocess
import sys
from datetime import date
from pathlib import Path

import pytest

from etl.checks.registry import FAMILIES, RULES
from etl.checks.runner import examine
from etl.records import schema
from etl.records.loading import load
from etl.yaml.findings import Finding

ROOT = Path(__file__).parents[3]
VALID = ROOT / "tests" / "data" / "valid"
INVALID = ROOT / "tests" / "data" / "invalid"
SINGLE = {"EXC": "exceptions", "REF": "removed"}
TODAY = date(2026, 8, 1)
BAD = sorted(path for path in INVALID.rglob("*") if path.is_symlink() or path.is_file())


def findings(data: Path) -> list[Finding]:
    return examine(load(data), schema.load(ROOT / "schemas"), TODAY)


def with_bad(place: Path, bad: Path) -> list[Finding]:
    """Findings of the valid records with one bad file among them."""
    data = place / "data"
    shutil.copytree(VALID, data)
    inner = bad.relative_to(INVALID)
    target = data / (f"{SINGLE[bad.name[:3]]}.yaml" if len(inner.parts) == 1 else Path(str(inner).lower()))
    if bad.suffix == ".csv":
        # A table stands beside the valid record that is named after the code.
        target = target.with_name(bad.name[7:])
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


SENTENCES = {
    "runs/acme/SCH001-one-letter-off.yaml": "17:3 SCH001 the key 'tokns' is unknown here\n    did you mean 'tokens'?",
    "runs/acme/SCH003-no-is-text.yaml": (
        "30:70 SCH003 sequence_parallel is the text 'NO', where true or false is wanted\n"
        "    write  sequence_parallel: false"
    ),
    "runs/acme/SCH003-sexagesimal.yaml": (
        "32:14 SCH003 seq_len is the text '16:8', where a whole number is wanted\n"
        "    write a whole number as the source prints it, without its unit; the field's unit is tokens"
    ),
    "runs/acme/REF001-unknown-model.yaml": (
        "3:8 REF001 there is no model 'acme/alpah' below data/models/\n    did you mean 'acme/alpha'?"
        " If it is a new one: shardbook new model acme/alpah"
    ),
    "runs/acme/REF005-two-phases-of-one-name.yaml": (
        "45:11 REF005 the name 'main' appears twice in phases, first on line 24\n    give it a name of its own"
    ),
    "runs/acme/SUM001-axes-do-not-multiply.yaml": (
        "30:5 SUM001 tp 4 * cp 1 * pp 4 * dp 32 = 512, which is not accelerators: 256\n"
        "    compare each axis with the source; a misprint goes to conflicts, the value that holds into the field"
    ),
    "runs/acme/SUM015-in-the-future.yaml": (
        "5:11 SUM015 2031-06-02 lies in the future; today is 2026-08-01\n    write the date that the source prints"
    ),
    "runs/acme/NAM003-script-in-name.yaml": (
        "1:7 NAM003 name holds markup: '</script><script>ale'\n"
        "    write the name as a reader sees it, without tags, entities and quotes"
    ),
    "runs/acme/NAM004-paragraph-in-name.yaml": (
        "1:7 NAM004 name has 256 characters, of 200 that are shown\n    shorten it; what explains belongs in note"
    ),
}


@pytest.mark.parametrize("name", SENTENCES)
def test_common_mistakes_get_these_very_words(name: str, tmp_path: Path) -> None:
    found = with_bad(tmp_path, INVALID / name)
    assert [finding.text() for finding in found] == [f"data/{name.lower()}:{SENTENCES[name]}"]


def test_an_exception_with_a_reason_accepts_a_finding_until_its_day(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(VALID, data)
    shutil.copy(INVALID / "runs/acme/SUM001-axes-do-not-multiply.yaml", data / "runs/acme/beta.yaml")
    assert [finding.code for finding in findings(data)] == ["SUM001"]
    entry = "exceptions:\n  - code: SUM001\n    record: runs/acme/beta.yaml\n    why: So printed.\n    until: {}\n"
    (data / "exceptions.yaml").write_text(entry.format("2026-08-01"))
    assert findings(data) == []
    (data / "exceptions.yaml").write_text(entry.format("2026-07-31"))
    assert [finding.code for finding in findings(data)] == ["EXC002", "SUM001"]


def test_a_conflict_about_a_field_does_not_silence_its_equation(tmp_path: Path) -> None:
    data = tmp_path / "data"
    shutil.copytree(VALID, data)
    text = (INVALID / "runs/acme/SUM001-axes-do-not-multiply.yaml").read_text()
    conflict = (
        "conflicts:\n  - field: phases.main.layout.dp\n    other: 16\n    cite: code line 3\n    why: Two versions.\n"
    )
    (data / "runs/acme/beta.yaml").write_text(text.replace("\ncite:", f"\n{conflict}cite:"))
    assert [finding.code for finding in findings(data)] == ["SUM001"]
    (data / "runs/acme/beta.yaml").write_text(text.replace("\ncite:", f"\n{conflict}cite:").replace("dp: 32", "dp: 16"))
    assert "SUM001" not in [finding.code for finding in findings(data)]


def test_every_rule_stands_in_the_page_on_checks() -> None:
    page = (ROOT / "docs" / "checks.md").read_text("utf-8")
    assert [code for code, rule in RULES.items() if f"| {code} | {rule.name} |" not in page] == []


MOONS = '''from etl.checks.registry import check


@check("SUM999", "moon-phase", "run")
def moon_phase(subject):
    """A run ends at full moon."""
    yield from ()
'''


def test_a_module_laid_into_the_folder_is_found_unaided(tmp_path: Path) -> None:
    shutil.copytree(ROOT / "etl", tmp_path / "etl", ignore=shutil.ignore_patterns("importers"))
    (tmp_path / "etl" / "checks" / "moons.py").write_text(MOONS)
    program = "from etl.checks import runner; print(runner.RULES['SUM999'].name, runner.__file__)"
    place = os.environ | {"PYTHONPATH": os.pathsep.join([str(tmp_path), str(ROOT)])}
    command = [sys.executable, "-P", "-c", program]
    done = subprocess.run(command, env=place, cwd=tmp_path, capture_output=True, text=True, check=True)
    assert done.stdout.split() == ["moon-phase", str(tmp_path / "etl" / "checks" / "runner.py")]


def test_every_rule_has_a_bad_record() -> None:
    assert {path.name[:6] for path in BAD} == set(RULES)


def test_codes_are_three_letters_of_a_family_and_three_digits() -> None:
    assert all(code[:3] in FAMILIES and code[3:].isdigit() and len(code) == 6 for code in RULES)


def test_every_rule_says_in_one_sentence_what_must_hold() -> None:
    assert [rule.code for rule in RULES.values() if not rule.about.endswith(".") or len(rule.about) > 160] == []
