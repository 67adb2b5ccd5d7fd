"""SQL that somebody else wrote reads one database file, and takes no more than it may."""

import time
from collections.abc import Iterator
from pathlib import Path

import duckdb
import pytest

from schemas.refusal import RefusalError
from schemas.sandbox import Limits, QueryError, Sandbox, connect


@pytest.fixture(scope="module")
def path(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A database with one table, and a view that reads a file of the machine, as a stranger might hand over."""
    folder = tmp_path_factory.mktemp("sandbox")
    (folder / "secret.txt").write_text("secret")
    with duckdb.connect(str(folder / "a.duckdb")) as writer:
        writer.execute("create table runs as select 1 as id")
        writer.execute(f"create view leak as select content from read_text('{folder}/secret.txt')")  # noqa: S608  (a path of the test)
    return folder / "a.duckdb"


@pytest.fixture(scope="module")
def sandbox(path: Path) -> Iterator[Sandbox]:
    with Sandbox(path, Limits(seconds=2, rows=100, cell=1000)) as child:
        yield child


@pytest.mark.parametrize(
    "sql",
    [
        "select * from leak",
        "from '/etc/hostname'",
        "from read_csv('/etc/hostname')",
        "from glob('/*')",
        "from read_parquet('https://example.org/x.parquet')",
        "attach '/tmp/other.duckdb'",
        "copy runs to '/tmp/runs.csv'",
        "install httpfs",
        "set enable_external_access = true",
        "reset lock_configuration",
        "explain analyze copy runs to '/tmp/runs.csv'",
        "explain analyze delete from runs",
        "with gone as (delete from runs returning id) select * from gone",
        "from query('drop table runs')",
        "select 1; drop table runs",
        "",
    ],
)
def test_what_reaches_outside_or_writes_is_refused(sandbox: Sandbox, sql: str) -> None:
    with pytest.raises(QueryError):
        sandbox.query(sql)


def test_values_are_those_of_json(sandbox: Sandbox) -> None:
    sql = "select 1 as a, 0.5::decimal(3, 2) as b, date '2024-07-23' as c, 'nan'::double as d, [1, 2] as e, true as f"
    assert sandbox.query(sql) == (("a", "b", "c", "d", "e", "f"), [(1, 0.5, "2024-07-23", None, [1, 2], True)])


@pytest.mark.parametrize(
    "sql",
    [
        "with recursive r as (select 1 as n union all select n + 1 from r) select max(n) from r",
        "select list_sort(list_reverse(range(300000000)))[1]",  # an interrupt is not looked at inside one operator
        "select length(repeat('x', 3000000000))",
    ],
)
def test_what_takes_too_long_or_too_much_is_ended_and_the_next_query_runs(sandbox: Sandbox, sql: str) -> None:
    start = time.monotonic()
    with pytest.raises(QueryError) as caught:
        sandbox.query(sql)
    assert caught.value.kind in {"time", "memory"}
    assert time.monotonic() - start < 20
    assert sandbox.query("select count(*) from runs")[1] == [(1,)]


@pytest.mark.parametrize(("sql", "kind"), [("from range(101)", "rows"), ("select repeat('x', 1001)", "cell")])
def test_answers_have_a_size(sandbox: Sandbox, sql: str, kind: str) -> None:
    with pytest.raises(QueryError) as caught:
        sandbox.query(sql)
    assert caught.value.kind == kind


def test_views_of_a_file_that_is_only_opened_reach_nothing_either(path: Path, tmp_path: Path) -> None:
    with connect(path) as opened, pytest.raises(duckdb.PermissionException):
        opened.execute("from leak")
    with connect(path, writes_to=tmp_path) as opened:
        opened.execute(f"copy runs to '{tmp_path}/runs.csv'")
        with pytest.raises(duckdb.PermissionException):
            opened.execute(f"copy leak to '{tmp_path}/leak.csv'")


@pytest.mark.parametrize("name", ["missing.duckdb", ".", "text.duckdb"])
def test_what_is_no_database_is_refused_in_a_sentence(name: str, tmp_path: Path) -> None:
    (tmp_path / "text.duckdb").write_text("not a database")
    with pytest.raises(RefusalError):
        connect(tmp_path / name)
