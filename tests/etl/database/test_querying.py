"""Queries run inside a sandbox: they read the database and nothing else, and every refusal is one sentence."""

import subprocess
import sys
from pathlib import Path

import duckdb
import pytest

from etl.database.querying import query
from etl.paths import Paths
from schemas.refusal import RefusalError


def refused(built: Paths, text: str) -> str:
    with pytest.raises(RefusalError) as caught:
        query(built.database, text)
    sentence = str(caught.value)
    assert "\n" not in sentence
    return sentence


@pytest.mark.parametrize(
    "text",
    [
        "select run_id from run_summary where run_id = 'acme/moe'",
        "with one as (from run_summary) select run_id from one where sparsity = 'moe';",
        "from run_summary select run_id where tokens = 3e10 -- the only one",
    ],
)
def test_reading_statements_are_run(built: Paths, text: str) -> None:
    answer = query(built.database, text)
    assert (answer.columns, answer.rows) == (("run_id",), [("acme/moe",)])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("", "empty"),
        (" ; ", "empty"),
        ("-- only a remark", "empty"),
        ("select 1; select 2", "2 statements"),
        ("drop table record.runs", "DROP"),
        ("insert into record.runs (id) values ('x')", "INSERT"),
        ("update record.runs set name = ''", "UPDATE"),
        ("create table x (a int)", "CREATE"),
        ("create temp table x (a int)", "CREATE"),
        ("copy record.runs to 'stolen.csv'", "COPY"),
        ("attach 'other.duckdb'", "ATTACH"),
        ("install httpfs", "LOAD"),
        ("load httpfs", "LOAD"),
        ("pragma database_list", "PRAGMA"),
        ("set enable_external_access = true", "SET"),
        ("reset lock_configuration", "reading"),
        ("export database 'stolen'", "EXPORT"),
        ("explain analyze insert into record.runs (id) values ('x')", "read-only"),
        ("select * from read_csv('/etc/hostname')", "outside the database"),
        ("select * from read_text('/etc/hostname')", "outside the database"),
        ("select * from glob('/*')", "outside the database"),
        ("select * from '/etc/hostname'", "does not exist"),
        ("select * from run_sumary", "did you mean run_summary?"),
        ("select * from verdicts", "did you mean result.verdicts?"),
        ("select tokenz from run_summary", "tokens"),
        ("selec 1", "syntax error"),
        ("select ?", "parameters"),
        ("select error('made up')", "made up"),
    ],
)
def test_everything_else_is_refused_in_one_sentence(built: Paths, text: str, said: str) -> None:
    before, names = built.database.read_bytes(), sorted(path.name for path in built.build.iterdir())
    assert said in refused(built, text)
    assert built.database.read_bytes() == before
    assert sorted(path.name for path in built.build.iterdir()) == names


def test_a_missing_database_names_the_command_that_makes_it(tmp_path: Path) -> None:
    with pytest.raises(RefusalError, match=r"does not exist; run `shardbook build`"):
        query(tmp_path / "shardbook.duckdb", "select 1")


def test_a_file_that_is_no_database_is_called_so(tmp_path: Path) -> None:
    (tmp_path / "shardbook.duckdb").write_bytes(b"not a database" * 1000)
    with pytest.raises(RefusalError, match="not a readable DuckDB database"):
        query(tmp_path / "shardbook.duckdb", "select 1")


def test_a_database_held_by_a_writer_is_called_so(built: Paths) -> None:
    hold = "import duckdb, sys; c = duckdb.connect(sys.argv[1]); print('held', flush=True); sys.stdin.read()"
    command = [sys.executable, "-c", hold, str(built.database)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE) as writer:
        assert writer.stdout is not None
        assert writer.stdout.readline() == b"held\n"
        assert "being written by another program" in refused(built, "select 1")
        writer.communicate()


def test_compute_columns_are_known_as_flop(built: Paths) -> None:
    assert "compute_flop" in query(built.database, "select compute_flop from run_summary").flop


def test_two_readers_do_not_disturb_each_other(built: Paths) -> None:
    with duckdb.connect(str(built.database), read_only=True) as other:
        assert other.execute("select count(*) from run_summary").fetchone() == (3,)
        program = "import sys; from pathlib import Path; from etl.database.querying import query; "
        elsewhere = [sys.executable, "-c", program]
        elsewhere[-1] += "print(query(Path(sys.argv[1]), 'select count(*) from run_summary').rows)"
        done = subprocess.run([*elsewhere, str(built.database)], capture_output=True, text=True, check=True)
    assert done.stdout == "[(3,)]\n"


@pytest.mark.parametrize(
    "endless",
    [
        "with recursive r as (select 1 as i union all select i from r) select count(*) from r",
        "with recursive r as (select 1 as i union all select i + 1 from r) from r",
    ],
)
def test_a_query_without_end_is_stopped(built: Paths, endless: str) -> None:
    with pytest.raises(RefusalError, match=r"stopped after 0\.3 s"):
        query(built.database, endless, longest=0.3)


def test_an_answer_of_too_many_rows_is_refused_before_it_fills_the_memory(built: Paths) -> None:
    assert len(query(built.database, "from range(100)", most_rows=100).rows) == 100
    with pytest.raises(RefusalError, match="more than 100 rows; add a limit"):
        query(built.database, "from range(1000000000000)", most_rows=100)


def test_a_damaged_file_is_not_called_busy(built: Paths, tmp_path: Path) -> None:
    content = bytearray(built.database.read_bytes())
    content[9000:20000] = bytes(255 - byte for byte in content[9000:20000])
    (tmp_path / "damaged.duckdb").write_bytes(content)
    with pytest.raises(RefusalError, match="not a readable DuckDB database"):
        query(tmp_path / "damaged.duckdb", "from run_summary")
