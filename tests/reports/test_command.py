"""The report command: one sentence when it cannot, a path when it can."""

from typer.testing import CliRunner

from reports.commands import app


def test_a_missing_database_is_one_sentence(tmp_path):
    result = CliRunner().invoke(app, ["report", "--database", str(tmp_path / "none.duckdb"), "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert "run `shardbook build` first" in result.output
    assert "Traceback" not in result.output


def test_a_file_that_is_no_database_is_one_sentence(tmp_path):
    (tmp_path / "no.duckdb").write_bytes(b"not a database at all, only text" * 200)
    result = CliRunner().invoke(app, ["report", "--database", str(tmp_path / "no.duckdb"), "--folder", str(tmp_path)])
    assert result.exit_code == 1
    assert "cannot be read" in result.output


def test_the_path_of_the_page_is_printed(built, tmp_path):
    result = CliRunner().invoke(app, ["report", "--database", str(built), "--folder", str(tmp_path)])
    assert result.exit_code == 0, result.output
    assert result.stdout.strip().endswith("index.html")
