"""The commands on records as a person meets them: exit codes, forms of output, one sentence for misuse."""

import json
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner

from etl.commands.checking import app

ROOT = Path(__file__).parents[3]
BAD = ROOT / "tests" / "data" / "invalid" / "runs" / "acme" / "SCH001-one-letter-off.yaml"


@pytest.fixture
def place(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    shutil.copytree(ROOT / "tests" / "data" / "valid", tmp_path / "data")
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def run(*words: str) -> tuple[int, str]:
    result = CliRunner().invoke(app, words)
    assert result.exception is None or isinstance(result.exception, SystemExit)
    return result.exit_code, result.output


def test_clean_records_end_with_zero_findings_and_exit_0(place: Path) -> None:
    assert run("check") == (0, "12 records, 0 findings\n")


def test_a_bad_record_is_shown_with_place_words_tip_and_count(place: Path) -> None:
    shutil.copy(BAD, place / "data/runs/acme/beta.yaml")
    assert run("check") == (
        1,
        "data/runs/acme/beta.yaml:17:3 SCH001 the key 'tokns' is unknown here\n"
        "    did you mean 'tokens'?\n"
        "13 records, 1 finding (SCH001 1)\n",
    )


def test_json_and_github_forms_hold_the_same_finding(place: Path) -> None:
    shutil.copy(BAD, place / "data/runs/acme/beta.yaml")
    code, text = run("check", "--format", "json")
    assert code == 1
    assert [(one["line"], one["col"], one["code"]) for one in json.loads(text)] == [(17, 3, "SCH001")]
    code, text = run("check", "--format", "github")
    assert text == (
        "::error file=data/runs/acme/beta.yaml,line=17,col=3,title=SCH001::"
        "the key 'tokns' is unknown here; did you mean 'tokens'?\n"
    )


def test_a_path_narrows_the_check_to_it(place: Path) -> None:
    shutil.copy(BAD, place / "data/runs/acme/beta.yaml")
    assert run("check", "data/models") == (0, "1 record, 0 findings\n")
    assert run("check", "acme/alpha")[1] == "1 record, 0 findings\n"
    assert run("check", str(place / "data/runs/acme/beta.yaml"))[0] == 1


@pytest.mark.parametrize(
    ("words", "sentence"),
    [
        (["check", "data/nothing"], "shardbook: data/nothing does not exist; give a file or folder below data/\n"),
        (["check", "schemas"], "shardbook: schemas lies outside data/; only records are checked\n"),
    ],
)
def test_misuse_is_one_sentence_and_exit_2(place: Path, words: list[str], sentence: str) -> None:
    assert run(*words) == (2, sentence)


def test_outside_a_checkout_one_sentence_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(tmp_path)
    code, text = run("check")
    assert code == 2
    assert "no folder here or above holds data/ and schemas/" in text


def test_fmt_repairs_what_check_says_it_repairs(place: Path) -> None:
    path = place / "data/runs/acme/alpha.yaml"
    good = path.read_bytes()
    path.write_bytes(b"\xef\xbb\xbf" + good.replace(b"\n", b"\r\n").replace(b"name: Alpha 8B", b'name: "Alpha 8B"'))
    code, text = run("check")
    assert code == 1
    assert text.endswith("(FMT001 1, YAM002 1, YAM003 1); shardbook fmt repairs 3\n")
    assert run("fmt", "--check") == (1, "would format data/runs/acme/alpha.yaml\n")
    assert run("fmt") == (0, "formatted data/runs/acme/alpha.yaml\n")
    assert path.read_bytes() == good
    assert run("fmt") == (0, "")


def test_fmt_refuses_comments_and_tells_where_they_belong(place: Path) -> None:
    path = place / "data/runs/acme/alpha.yaml"
    path.write_text(path.read_text() + "# checked twice\n")
    code, text = run("fmt")
    tip = "    move it into a note: checked twice; or quote the text where the # belongs to it"
    assert (code, text.splitlines()[1]) == (1, tip)
    assert path.read_text().endswith("# checked twice\n")


def test_new_then_check_lists_what_to_fill_in(place: Path) -> None:
    code, text = run("new", "run", "acme/beta")
    names = "data/models/acme/beta.yaml data/runs/acme/beta.yaml"
    assert (code, text.splitlines()[-1]) == (0, f"then: shardbook fmt {names} && shardbook check {names}")
    assert "data/runs/acme/beta.yaml:5:11 TDO001 released is still to be filled in\n" in run("check")[1]


def test_the_front_door_opens_quickly_because_heavy_libraries_wait() -> None:
    code = "import sys, shardbook; shardbook.application(); print(*sys.modules)"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, cwd=ROOT, check=True)
    assert {"duckdb", "pandas", "altair", "jsonschema"} & set(done.stdout.split()) == set()
