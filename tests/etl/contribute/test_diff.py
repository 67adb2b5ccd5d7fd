"""A pull request sees which records, values and verdicts it changes."""

import subprocess
from pathlib import Path

import duckdb
import pytest

from etl.contribute import diff, states
from etl.paths import Paths
from schemas.refusal import RefusalError

DENSE = Path("runs/acme/dense.yaml")


@pytest.fixture
def committed(house: Paths) -> Paths:
    """The house with its records committed."""
    for arguments in (["init", "-q"], ["add", "data"], ["commit", "-q", "-m", "records"]):
        author = ["-c", "user.name=A", "-c", "user.email=a@acme.example"]
        subprocess.run(["git", *author, *arguments], cwd=house.root, check=True)
    return house


def judge(connection: duckdb.DuckDBPyConnection) -> None:
    """A stand-in for the analysis: a phase whose degrees do not multiply to its accelerators is impossible."""
    connection.execute("""
        insert into result.verdicts by name
        select run_id, phase, 'product' as check_name, 'made up' as why,
            case when product_matches then 'plausible' else 'impossible' end as status
        from layout_map where product_matches is not null""")


def text(house: Paths, place: Path, commit: str = "HEAD") -> str:
    return diff.markdown(commit, *states.both(house, commit, place, judge))


def edit(house: Paths, file: Path, old: str, new: str) -> None:
    content = (house.data / file).read_text()
    assert old in content
    (house.data / file).write_text(content.replace(old, new))


def test_nothing_changed_says_so(committed: Paths, tmp_path: Path) -> None:
    said = text(committed, tmp_path / "before")
    assert said == "## Changes against HEAD\n\n0 records added, 0 removed, 0 changed.\n\nNo verdict changes."


def test_a_changed_value_shows_both_and_the_verdict_that_it_turns(committed: Paths, tmp_path: Path) -> None:
    edit(committed, DENSE, "dp: 4}", "dp: 5}")
    said = text(committed, tmp_path / "before")
    assert "| acme/dense | large | product | plausible | impossible | made up |" in said
    assert "### run `acme/dense`\n\n| field | before | after |\n|---|---|---|\n| `phases.large.dp` | 4 | 5 |" in said


def test_the_last_digit_counts(committed: Paths, tmp_path: Path) -> None:
    edit(committed, DENSE, "tokens: 2.0e+10", "tokens: 2.000000001e+10")
    assert "| `tokens` | 20000000000 | 20000000010 |" in text(committed, tmp_path / "before")


def test_added_and_removed_records_are_named(committed: Paths, tmp_path: Path) -> None:
    (committed.data / "trends" / "acme-growth.yaml").rename(committed.data / "trends" / "acme-speed.yaml")
    said = text(committed, tmp_path / "before")
    assert "1 record added, 1 removed, 0 changed." in said
    assert "Added:\n- trend `acme-speed`: 10 values\n\nRemoved:\n- trend `acme-growth`: 10 values" in said


def test_rows_of_a_table_of_measurements_are_told_apart(committed: Paths, tmp_path: Path) -> None:
    edit(committed, Path("benchmarks/acme-table.yaml"), "step_time_s: 1.5", "step_time_s: 1.25")
    assert "| `rows.row-1.step_time_s` | 1.5 | 1.25 |" in text(committed, tmp_path / "before")


def test_another_database_file_can_be_the_base(built: Paths, house: Paths) -> None:
    edit(house, DENSE, "days: 2.5", "days: 3")
    said = diff.markdown("old", states.of_file(built.database), states.of_checkout(house))
    assert "| `days` | 2.5 | 3 |" in said
    assert "erdict" not in said


def test_a_record_that_can_no_longer_be_read_does_not_stop_the_comparison(committed: Paths, tmp_path: Path) -> None:
    (committed.data / DENSE).write_text("a: [\n")
    assert "Removed:\n- run `acme/dense`" in text(committed, tmp_path / "before")


@pytest.mark.parametrize("commit", ["no-such-branch", "--output=stolen", ""])
def test_what_is_no_commit_is_refused(committed: Paths, tmp_path: Path, commit: str) -> None:
    with pytest.raises(RefusalError, match="neither a database file nor a commit"):
        states.at_commit(committed, commit, tmp_path / "before")


EDITS = [
    # each of which an earlier version called no change, or showed as two equal cells
    (DENSE, "https://acme.example/", "https://acme.example.evil.example/", "| `sources.paper.url` |"),
    (DENSE, "cite: {released: paper page 1}", "cite: {released: paper page 2}", "| `cite.released.locator` |"),
    (DENSE, "other: 2.1e+10", "other: 9.9e+10", "| `conflicts.totals.tokens.other` |"),
    (DENSE, "[recompute]", "[schedule]", "`not_disclosed."),
    (Path("claims/dense-is-small.yaml"), "= 'acme/dense'", "= 'acme/moe'", "acme/moe"),
]


@pytest.mark.parametrize(("file", "old", "new", "shown"), EDITS, ids=lambda one: str(one)[:20])
def test_every_field_that_differs_is_shown(
    committed: Paths, tmp_path: Path, file: Path, old: str, new: str, shown: str
) -> None:
    content = (committed.data / file).read_text()
    (committed.data / file).write_text(content.replace(old, new, 1))
    assert (committed.data / file).read_text() != content
    assert shown in text(committed, tmp_path / "before")
