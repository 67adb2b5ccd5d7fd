"""Claims are judged by their own query, and a claim that cannot be judged says what to mend."""

import duckdb
import pandas as pd
import pytest

from analysis.trends.claims import LIMITS, ClaimError, judge, judged
from schemas.sandbox import Limits, Sandbox

TEXTS = {
    "finding_en": "{n} runs", "finding_zh": "{n} 个", "would_change_en": "more than {n}", "would_change_zh": "多于 {n}",
}  # fmt: skip


def claim(sql, **texts):
    return {"id": "x", "number": 7, "sql": sql} | TEXTS | texts


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    path = tmp_path_factory.mktemp("claims") / "claims.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("create table runs as select * from (values (0.41), (0.38)) as t(mfu)")
    return path


@pytest.fixture(scope="module")
def run(database):
    with Sandbox(database, LIMITS) as child:
        yield child.query


def test_the_verdict_and_the_numbers_come_from_the_query(run):
    found = judge(run, claim("select 'holds' as verdict, count(*) as n from runs"))
    assert (found["verdict"], found["number"], found["finding_en"]) == ("holds", 7, "2 runs")
    assert found["numbers"] == '{"verdict": "holds", "n": 2}'


def test_a_value_that_is_not_known_reads_as_a_dash(run):
    found = judge(run, claim("select 'cannot-tell' as verdict, null as n"))
    assert found["finding_en"] == "– runs"


@pytest.mark.parametrize(
    ("sql", "words"),
    [
        ("drop table runs", "one select and nothing else"),
        ("select 'holds' as verdict, 1 as n; select 2", "one select and nothing else"),
        ("select 'holds' as verdict, mfu as n from runs", "returns 2 rows"),
        ("select 'true' as verdict, 1 as n", "says verdict 'true'"),
        ("select 'holds' as verdict, 1 as n from nowhere", "its query fails"),
        ("select 'holds' as verdict", "a text cannot be filled"),
    ],
)
def test_a_claim_that_cannot_be_judged_is_refused_with_its_name(run, sql, words):
    with pytest.raises(ClaimError, match=f"claim x: .*{words}"):
        judge(run, claim(sql))


@pytest.mark.parametrize("text", ["{verdict.__class__}", "{verdict[0]}", "{n:999999999d}", "{0}", "{n!z}", "{n"])
def test_a_text_reaches_columns_and_nothing_else(run, text):
    with pytest.raises(ClaimError, match="claim x: a text cannot be filled"):
        judge(run, claim("select 'holds' as verdict, 1 as n", finding_en=text))


@pytest.mark.parametrize(
    "endless",
    [
        "with recursive r as (select 1 as i union all select i from r) select count(*) as n from r",
        "select 'holds' as verdict, list_sort(list_reverse(range(300000000)))[1] as n",  # inside one operator
    ],
)
def test_a_query_without_end_is_stopped(database, endless):
    with (
        Sandbox(database, Limits(seconds=1)) as child,
        pytest.raises(ClaimError, match=r"claim x: The query was stopped after 1 s"),
    ):
        judge(child.query, claim(endless))


def test_a_claim_cannot_fill_the_page(run):
    with pytest.raises(ClaimError, match="claim x: A value of the answer has more than 10,000 characters"):
        judge(run, claim("select 'holds' as verdict, repeat('x', 100000) as n"))


def test_nothing_is_dropped_by_a_claim(run, database):
    with pytest.raises(ClaimError):
        judge(run, claim("drop table runs"))
    with duckdb.connect(str(database), read_only=True) as reader:
        assert reader.execute("select count(*) from runs").fetchone() == (2,)


WRITING = "with a as (update runs set mfu = 9 returning mfu) select 'holds' as verdict, count(*) as n from a"


def test_a_claim_that_writes_behind_a_select_is_refused_and_changes_nothing(tmp_path):
    path = tmp_path / "claims.duckdb"
    with duckdb.connect(str(path)) as writer:
        writer.execute("create schema record; create table runs as select 0.41 as mfu")
        writer.register("claim", pd.DataFrame([claim(WRITING)]))
        writer.execute("create table record.claims as select * from claim")
    with pytest.raises(ClaimError, match=r"claim x: its query fails .*read-only"):
        judged(path)
    with duckdb.connect(str(path), read_only=True) as reader:
        assert reader.execute("select mfu::double from runs").fetchall() == [(0.41,)]
