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


def test_show_prints_facts_and_verdicts_of_a_run(built):
    result = CliRunner().invoke(app, ["show", "meta/llama-3.1-405b", "--database", str(built)])
    assert result.exit_code == 0, result.output
    # Table 4 of arXiv:2407.21783v3: TP 8, CP 1, PP 16, DP 128 on 16,384 GPUs.
    assert "TP 8 x CP 1 x PP 16 x DP 128 = 16,384, the accelerators stated." in result.output


def test_a_run_that_is_not_there_is_one_sentence_that_thinks_of_new_records(built):
    result = CliRunner().invoke(app, ["show", "meta/lxama-3.1-405b", "--database", str(built)])
    assert result.exit_code == 1
    assert "did you mean meta/llama-3.1-405b?" in result.output
    assert "since the last `make report`" in result.output
