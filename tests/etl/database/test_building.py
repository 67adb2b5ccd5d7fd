"""The database says what the records say, is the same for the same records, and is never left half-written."""

import os
from pathlib import Path

import duckdb
import pytest

from etl.database import building, ddl, filling
from etl.paths import Paths
from etl.records import loading, schema
from schemas.refusal import RefusalError

TABLES = "select schema_name || '.' || table_name from duckdb_tables() order by 1"


def contents(file: Path) -> dict[str, list[tuple[object, ...]]]:
    with duckdb.connect(str(file), read_only=True) as connection:
        names = [name for (name,) in connection.execute(TABLES).fetchall()]
        return {name: connection.execute(f"from {name}").fetchall() for name in names}


def build(house: Paths) -> None:
    building.build(house, loading.load(house.data))


def test_the_same_records_give_the_same_rows_in_the_same_order(house: Paths) -> None:
    build(house)
    first = contents(house.database)
    build(house)
    assert contents(house.database) == first


def test_a_killed_build_leaves_the_last_good_file(house: Paths, monkeypatch: pytest.MonkeyPatch) -> None:
    build(house)
    before = house.database.read_bytes()
    (house.data / "runs" / "acme" / "moe.yaml").unlink()
    monkeypatch.setattr(filling, "comment", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        build(house)
    assert house.database.read_bytes() == before
    assert [path.name for path in house.build.iterdir()] == ["shardbook.duckdb"]


def test_an_unreadable_record_is_refused_by_name(house: Paths) -> None:
    (house.data / "runs" / "acme" / "moe.yaml").write_text("a: [\n")
    with pytest.raises(RefusalError, match=r"runs/acme/moe\.yaml can't be read"):
        build(house)
    assert not house.database.exists()


def test_a_pipe_among_the_records_is_refused_and_not_waited_for(house: Paths) -> None:
    os.mkfifo(house.data / "runs" / "acme" / "pipe.yaml")
    with pytest.raises(RefusalError, match=r"runs/acme/pipe\.yaml can't be read"):
        building.memory(house)


def test_a_fraction_of_an_accelerator_is_refused(house: Paths) -> None:
    file = house.data / "runs" / "acme" / "moe.yaml"
    file.write_text(file.read_text().replace("accelerators: 16", "accelerators: 16.5"))
    with pytest.raises(RefusalError, match=r"acme/moe phases 1: accelerators is 16\.5"):
        build(house)


def test_ranges_fill_low_and_high_and_no_best_is_invented(memory: duckdb.DuckDBPyConnection) -> None:
    columns = "accelerators, accelerators_low, accelerators_high"
    found = memory.execute(f"from record.phases select {columns} where run_id = 'acme/secret'").fetchall()
    assert found == [(None, 100, 200)]


def test_rows_of_a_benchmark_carry_what_they_share_and_their_own_value_wins(memory: duckdb.DuckDBPyConnection) -> None:
    columns = "id, accelerators, layers, model_name, precision, assumed"
    found = memory.execute(f"from record.benchmark_rows select {columns}").fetchall()
    assert found == [("row-1", 8, 16, "Small", "bf16", None), ("row-2", 16, 16, "Small", "bf16", ["precision"])]


def test_a_citation_of_one_value_goes_before_that_of_its_block(memory: duckdb.DuckDBPyConnection) -> None:
    places = "block = 'phases.small' and field in ('tp', 'seq_len')"
    found = memory.execute(f"from record.citations select field, source, locator where {places}").fetchall()
    assert found == [("tp", "paper", "sec. 3"), ("seq_len", "paper", "Table 2")]


def test_a_value_seen_elsewhere_only_is_second_hand(memory: duckdb.DuckDBPyConnection) -> None:
    found = memory.execute(
        "from record.citations select record_id, field, via_source, via_locator where second_hand"
    ).fetchall()
    assert found == [("acme/moe", "tokens", "survey", "Table 9")]


def test_hidden_fields_and_conflicts_have_rows_of_their_own(memory: duckdb.DuckDBPyConnection) -> None:
    hidden = memory.execute("from record.not_disclosed select record_id, block, field").fetchall()
    assert hidden == [("acme/dense", "phases.large", "recompute"), ("acme/secret", "totals", "tokens")]
    assert memory.execute("from record.conflicts select field, other, locator").fetchall() == [
        ("totals.tokens", "21000000000.0", "abstract")
    ]


def test_calibration_has_one_row_per_number(memory: duckdb.DuckDBPyConnection) -> None:
    assert memory.execute("from record.calibration select key, value, unit").fetchall() == [
        ("overhead.context_gib", 0.5, "GiB"),
        ("overhead.efficiency.gemm.alpha", 0.7, "1"),
        ("overhead.efficiency.gemm.beta", 0.6, "1"),
    ]


def test_every_column_of_every_table_and_view_is_in_the_dictionary(memory: duckdb.DuckDBPyConnection) -> None:
    real = (
        "select schema_name, table_name, column_name, data_type from duckdb_columns() where not internal order by all"
    )
    said = "from meta.fields select schema, table_name, column_name, type order by all"
    assert memory.execute(real).fetchall() == memory.execute(said).fetchall()


def test_no_column_is_without_words(memory: duckdb.DuckDBPyConnection) -> None:
    bare = "from meta.fields select table_name, column_name where '' in (title, title_zh, description)"
    assert memory.execute(bare).fetchall() == []


def test_the_file_carries_its_words_as_comments(built: Paths) -> None:
    query = "select comment from duckdb_columns() where table_name = 'run_summary' and column_name = 'mfu_basis'"
    with duckdb.connect(str(built.database), read_only=True) as connection:
        assert "hardware-flops" in str(connection.execute(query).fetchone())
        (view,) = connection.execute("select comment from duckdb_views() where view_name = 'run_summary'").fetchall()
    assert view[0].startswith("One row per run")


def test_memory_reads_only_the_kinds_asked_for(house: Paths) -> None:
    (house.data / "runs" / "acme" / "moe.yaml").write_text("a: [\n")
    with building.memory(house, ["accelerator", "calibration"]) as connection:
        assert connection.execute("select count(*) from record.accelerators").fetchall() == [(1,)]
        assert connection.execute("select count(*) from run_summary").fetchall() == [(0,)]


def test_the_result_tables_are_those_of_their_schema(house: Paths) -> None:
    tables = ddl.result_tables(schema.load(house.schemas))
    assert [table.name for table in tables] == list(schema.load(house.schemas).results)
    assert next(column.type for table in tables for column in table.columns if column.name == "total_flop") == "DOUBLE"


def test_the_hash_changes_with_any_byte_of_any_record(house: Paths) -> None:
    before = building.about(house, loading.load(house.data))["data_hash"]
    file = house.data / "trends" / "acme-growth.yaml"
    file.write_text(file.read_text().replace("best: 4,", "best: 4.1,"))
    assert building.about(house, loading.load(house.data))["data_hash"] != before


def test_a_draft_is_no_record_yet(house: Paths) -> None:
    draft = house.data / "models" / "acme" / "next.yaml"
    draft.parent.mkdir(parents=True, exist_ok=True)
    draft.write_text("name: Next\norganization: Acme\nlayers: todo\n")
    with building.memory(house) as connection:
        ids = [key for (key,) in connection.execute("select id from record.models").fetchall()]
    assert len(ids) == 3
    assert "acme/next" not in ids


def test_the_file_has_the_storage_version_of_duckdb_1_0(built: Paths) -> None:
    # DuckDB's table of storage versions: 64 is written by v0.9 to v1.1 and read by all since; it stands behind "DUCK".
    header = built.database.read_bytes()[:20]
    assert header[8:12] == b"DUCK"
    assert int.from_bytes(header[12:20], "little") == 64


def test_no_column_of_lists_is_without_an_item_in_the_file(built: Paths) -> None:
    # DuckDB 1.0 does not read a column of lists that never had an item: "field id mismatch, expected: 100, got: 101".
    with duckdb.connect(str(built.database), read_only=True) as connection:
        assert connection.execute("select count(*), count(aliases) from record.clusters").fetchone() == (1, 0)
        segments = "select count(*) from pragma_storage_info('record.clusters') where column_path like '%, 1]'"
        assert connection.execute(segments).fetchone() != (0,)
