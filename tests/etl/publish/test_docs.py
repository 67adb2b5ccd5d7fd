"""Generated pages say what their sources say, and a page that lags behind is found."""

from pathlib import Path

import duckdb
import pytest
import typer
from typer.testing import CliRunner

from etl.commands import of_database as commands
from etl.commands.pages import commands_page
from etl.database import filling
from etl.paths import Paths
from etl.publish import docs
from etl.records import schema
from etl.records.loading import load
from schemas.refusal import RefusalError

README = f"# House\n\n{docs.BEGIN}\n{docs.END}\n\nThe end.\n"


@pytest.fixture
def wanted(house: Paths) -> dict[Path, str]:
    """Every generated page of the made-up house."""
    (house.root / "README.md").write_text(README)
    schemas = schema.load(house.schemas)
    with duckdb.connect() as connection:
        tables = filling.fill(connection, schemas, load(house.data), {})
        return docs.pages(house, schemas, connection, tables, "# Commands")


def page(wanted: dict[Path, str], name: str) -> str:
    return next(text for path, text in wanted.items() if path.name == name)


def test_every_generated_page_says_so_and_names_the_command(wanted: dict[Path, str]) -> None:
    assert {path.name for path in wanted} == {"data-dictionary.md", "checks.md", "cli.md", "formats.md", "README.md"}
    assert all("DO NOT EDIT" in text and "`shardbook docs`" in text for text in wanted.values())


def test_the_dictionary_has_fields_of_files_and_columns_of_views(wanted: dict[Path, str]) -> None:
    said = page(wanted, "data-dictionary.md")
    assert "| `totals.tokens` | quantity | tokens | recommended | Tokens trained on, repeats counted. |" in said
    assert "### main.run_summary\n\nOne row per run" in said
    assert "| `tokens_high` | DOUBLE | tokens | 训练 token 数（高） |" in said


def test_the_page_on_checks_has_every_rule(wanted: dict[Path, str]) -> None:
    assert all(f"| {code} |" in page(wanted, "checks.md") for code in docs.RULES)


def test_the_readme_keeps_its_other_lines(wanted: dict[Path, str]) -> None:
    said = page(wanted, "README.md")
    assert said.startswith("# House\n")
    assert said.endswith("\nThe end.\n")
    assert "| training runs | 3 |" in said


def test_a_page_that_lags_behind_is_found_and_written(wanted: dict[Path, str]) -> None:
    docs.write(wanted, wanted)
    assert docs.stale(wanted) == []
    changed = next(path for path in wanted if path.name == "checks.md")
    changed.write_text(changed.read_text().replace("YAM001", "YAM999"))
    assert docs.stale(wanted) == [changed]


def test_a_readme_without_the_block_is_refused() -> None:
    with pytest.raises(RefusalError, match="put these two lines into it"):
        docs.with_block("# House\n", "block")


def test_docs_check_fails_naming_the_command(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    (house.root / "README.md").write_text(README)
    monkeypatch.chdir(house.root)
    runner = CliRunner()
    before = runner.invoke(commands.app, ["docs", "--check"])
    assert before.exit_code == 1
    assert "run `shardbook docs`" in before.output
    assert runner.invoke(commands.app, ["docs"]).exit_code == 0
    assert runner.invoke(commands.app, ["docs", "--check"]).exit_code == 0


def test_the_page_on_commands_has_each_with_its_options_and_example() -> None:
    context = typer.Context(typer.main.get_command(commands.app), info_name="shardbook")
    said = commands_page(context)
    for name in ("build", "sql", "export", "stats", "diff", "crosscheck", "docs"):
        assert f"\n## shardbook {name}\n" in said
        assert f"```sh\nshardbook {name}" in said
    assert "--format" in said
