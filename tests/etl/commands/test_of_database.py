"""Commands on the database end with one sentence and a fitting exit code, whatever they are given."""

import json
import re
import subprocess
import sys
from pathlib import Path

import pytest
from typer.testing import CliRunner, Result

from etl.commands.of_database import app
from etl.paths import Paths


def run(place: Path, monkeypatch: pytest.MonkeyPatch, *arguments: str) -> Result:
    monkeypatch.chdir(place)
    return CliRunner().invoke(app, list(arguments))


def test_build_says_what_it_built(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(house.data / "runs", monkeypatch, "build")
    assert done.exit_code == 0, done.output
    assert done.output.startswith("build/shardbook.duckdb: 3 runs, 3 models, 1 accelerator")


def test_build_refuses_records_with_findings_and_keeps_the_last_file(
    house: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(house.root, monkeypatch, "build")
    before = house.database.read_bytes()
    record = house.data / "runs" / "acme" / "moe.yaml"
    record.write_text(record.read_text().replace("acme/chip-a", "acme/chip-b"))
    done = run(house.root, monkeypatch, "build")
    assert done.exit_code == 1
    assert done.output.startswith("shardbook: data/runs/acme/moe.yaml:")
    assert "nothing was built, `shardbook check` lists all" in done.output
    assert house.database.read_bytes() == before


def test_what_a_killed_writer_left_beside_the_database_does_not_spoil_the_next(
    house: Paths, monkeypatch: pytest.MonkeyPatch
) -> None:
    run(house.root, monkeypatch, "build")
    killed = "import duckdb, os, sys; c = duckdb.connect(sys.argv[1]); c.execute('create table x (a int)'); os._exit(9)"
    subprocess.run([sys.executable, "-c", killed, str(house.database)], check=False)
    assert house.database.with_name("shardbook.duckdb.wal").exists()
    assert run(house.root, monkeypatch, "build").exit_code == 0
    assert run(house.root, monkeypatch, "sql", "select count(*) as n from record.runs").output.split()[-3:][0] == "3"


def test_a_count_beyond_64_bits_is_refused_in_a_sentence(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    record = house.data / "models" / "acme" / "moe.yaml"
    record.write_text(re.sub(r"layers: \d+", "layers: 9223372036854775808", record.read_text(), count=1))
    done = run(house.root, monkeypatch, "build")  # one more than a signed count of 64 bits holds
    assert done.exit_code == 1, done.output
    assert "layers is 9.22337e+18, more than can be counted" in done.output
    assert not house.database.exists()


def test_a_draft_is_refused_in_a_sentence(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    record = house.data / "models" / "acme" / "moe.yaml"
    record.write_text(re.sub(r"layers: \d+", "layers: todo", record.read_text(), count=1))
    done = run(house.root, monkeypatch, "build")
    assert done.exit_code == 1
    assert "TDO001 layers is still to be filled in; nothing was built" in done.output


@pytest.mark.parametrize("command", [["build"], ["sql", "select 1"], ["export"], ["stats"], ["docs"], ["diff", "main"]])
def test_outside_a_checkout_each_command_says_where_to_go(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: list[str]
) -> None:
    done = run(tmp_path, monkeypatch, *command)
    assert (done.exit_code, len(done.output.splitlines())) == (1, 1)
    assert "run shardbook inside a checkout" in done.output


def test_sql_prints_a_table_csv_or_json(built: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    query = "select run_id, compute_flop from run_summary where run_id = 'acme/dense'"
    assert "acme/dense |      1.2e+20" in run(built.root, monkeypatch, "sql", query).output
    assert (
        run(built.root, monkeypatch, "sql", query, "--format", "csv").output
        == "run_id,compute_flop\nacme/dense,1.2e+20\n"
    )
    found = json.loads(run(built.root, monkeypatch, "sql", query, "--format", "json").output)
    assert found == [{"run_id": "acme/dense", "compute_flop": 1.2e20}]


def test_sql_reads_a_query_from_standard_input(built: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(built.root)
    done = CliRunner().invoke(app, ["sql", "-", "--format", "csv"], input="select count(*) as runs from run_summary")
    assert done.output == "runs\n3\n"


def test_a_query_may_begin_with_a_remark(built: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(
        built.root, monkeypatch, "sql", "-- how many\nselect count(*) as runs from run_summary", "--format", "csv"
    )
    assert done.output == "runs\n3\n"


def test_sql_refuses_in_one_sentence(built: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(built.root, monkeypatch, "sql", "drop table record.runs")
    assert (done.exit_code, len(done.output.splitlines())) == (1, 1)
    assert done.output.startswith("shardbook: The query is a DROP statement")


def test_stats_need_no_built_database(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(house.root, monkeypatch, "stats")
    assert done.exit_code == 0
    assert "How much of every field is known" in done.output
    assert run(house.root, monkeypatch, "stats", "--markdown").output.startswith(
        "### What the record holds\n\n| what |"
    )


def test_crosscheck_credits_the_other_party(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    columns = "Model,Parameters,Training dataset size (total),Training compute (FLOP),Hardware quantity,"
    columns += "Training time (hours),Hardware utilization (MFU),Hardware utilization (HFU)"
    table = house.root / "table.csv"
    table.write_text(f"{columns}\nDense 1B,1e9,2e10,,64,,,\n")
    done = run(house.root, monkeypatch, "crosscheck", "epoch", str(table))
    assert done.exit_code == 0, done.output
    assert "3 of 3 common figures agree within 5%." in done.output
    assert "Epoch AI" in done.output
    assert "CC BY 4.0" in done.output


def test_a_missing_table_is_one_sentence(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    done = run(house.root, monkeypatch, "crosscheck", "epoch", "nowhere.csv")
    assert (done.exit_code, len(done.output.splitlines())) == (1, 1)
