"""A value is the same in the record, the database, the CSV and the Parquet file, and the package describes them all."""

import csv
import hashlib
import json
import shutil
from pathlib import Path
from typing import Any

import duckdb
import pytest

from etl.database import building
from etl.paths import Paths
from etl.publish import datapackage
from etl.publish.export import export
from etl.records import loading
from schemas.refusal import RefusalError


@pytest.fixture(scope="module")
def exported(built: Paths) -> Path:
    export(built)
    return built.export


def package(exported: Path) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((exported / "datapackage.json").read_text("utf-8"))
    return found


def cell(exported: Path, table: str, key: str, column: str) -> str:
    with (exported / f"{table}.csv").open(encoding="utf-8", newline="") as file:
        return next(row[column] for row in csv.DictReader(file) if key in row.values())


@pytest.mark.parametrize(
    ("table", "key", "column", "value"),
    [
        ("runs", "acme/dense", "tokens", 2e10),
        ("runs", "acme/dense", "compute_flop", 1.2e20),
        ("run_summary", "acme/secret", "compute_flop_high", 1e21),
        ("phases", "large", "accelerators", 64),
        ("benchmark_rows", "row-1", "memory_gib", 40.5),
        ("accelerators", "acme/chip-a", "bf16_tflops", 100),
    ],
)
def test_a_value_survives_the_whole_way(
    built: Paths, exported: Path, table: str, key: str, column: str, value: float
) -> None:
    assert float(cell(exported, table, key, column)) == value
    with duckdb.connect(str(built.database), read_only=True) as connection:
        space = "main" if table == "run_summary" else "record"
        for source in (f"{space}.{table}", f"'{exported / table}.parquet'"):
            assert (value,) in connection.execute(f'from {source} select "{column}"').fetchall()


def test_lists_are_json_in_csv_and_lists_in_parquet(exported: Path) -> None:
    assert json.loads(cell(exported, "runs", "acme/dense", "aliases")) == ["Dense", "D-1B"]
    found = duckdb.sql(f"from '{exported / 'runs.parquet'}' select aliases where aliases is not null").fetchall()
    assert found == [(["Dense", "D-1B"],)]


def test_what_is_not_known_is_empty(exported: Path) -> None:
    assert cell(exported, "runs", "acme/moe", "compute_flop") == ""


def test_equal_records_give_equal_csv_bytes(built: Paths, exported: Path) -> None:
    before = {path.name: path.read_bytes() for path in exported.glob("*.csv")}
    export(built)
    assert {path.name: path.read_bytes() for path in exported.glob("*.csv")} == before


def test_the_package_names_every_file_with_its_size_and_hash(exported: Path) -> None:
    resources = package(exported)["resources"]
    assert {one["path"] for one in resources} == {path.name for path in exported.iterdir()} - {"datapackage.json"}
    for one in resources:
        content = (exported / one["path"]).read_bytes()
        assert (one["bytes"], one["hash"]) == (len(content), f"sha256:{hashlib.sha256(content).hexdigest()}")


def test_fields_carry_unit_and_words_in_both_languages(exported: Path) -> None:
    runs = next(one for one in package(exported)["resources"] if one["name"] == "runs")
    field = next(one for one in runs["schema"]["fields"] if one["name"] == "tokens")
    words = {"type": "number", "title": "Training tokens", "title_zh": "训练 token 数", "unit": "tokens"}
    assert words.items() <= field.items()


def test_fields_stand_in_the_order_of_the_csv(exported: Path) -> None:
    for one in package(exported)["resources"]:
        if one["format"] == "csv":
            header = (exported / one["path"]).read_text("utf-8").split("\n")[0]
            assert header.split(",") == [field["name"] for field in one["schema"]["fields"]]


def test_primary_keys_are_unique_and_foreign_keys_lead_somewhere(exported: Path) -> None:
    for one in package(exported)["resources"]:
        source, key = f"'{exported / one['path']}'", one["schema"].get("primaryKey")
        if key and one["format"] == "parquet":
            assert (
                duckdb.sql(f"from {source} select {', '.join(key)} group by all having count(*) > 1").fetchall() == []
            )
        for link in one["schema"].get("foreignKeys", []) if one["format"] == "parquet" else []:
            target = f"'{exported / link['reference']['resource']}.parquet'"
            known = set(duckdb.sql(f"from {target} select id").fetchall()) | {(None,)}
            assert set(duckdb.sql(f'from {source} select "{link["fields"][0]}"').fetchall()) <= known


def test_the_data_may_be_used_by_anybody_who_names_us(exported: Path) -> None:
    assert package(exported)["licenses"] == [datapackage.LICENSE]
    assert {"title": "A survey", "path": "https://survey.example/"} in package(exported)["sources"]


def test_a_broken_export_leaves_the_last_good_one(
    built: Paths, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    house = Paths(tmp_path)
    shutil.copytree(built.root, tmp_path, dirs_exist_ok=True)
    export(house)
    before = {path.name: path.read_bytes() for path in house.export.iterdir()}
    monkeypatch.setattr(datapackage, "describe", lambda *_: (_ for _ in ()).throw(KeyboardInterrupt))
    with pytest.raises(KeyboardInterrupt):
        export(house)
    assert {path.name: path.read_bytes() for path in house.export.iterdir()} == before
    assert sorted(path.name for path in house.build.iterdir()) == ["export", "shardbook.duckdb"]


def test_an_export_without_a_database_names_the_command_that_makes_it(house: Paths) -> None:
    with pytest.raises(RefusalError, match="run `shardbook build`"):
        export(house)


def test_no_text_of_an_export_is_a_formula_to_a_spreadsheet(house: Paths) -> None:
    record = house.data / "models" / "acme" / "dense.yaml"
    record.write_text(record.read_text().replace("\nsources:", "\nfamily: =cmd|' /C calc'!A0\nsources:", 1))
    building.build(house, loading.load(house.data))
    export(house)
    assert "'=cmd|' /C calc'!A0" in (house.export / "models.csv").read_text()
    row = duckdb.read_parquet(str(house.export / "models.parquet")).filter("id = 'acme/dense'").project("family")
    assert row.fetchall() == [("=cmd|' /C calc'!A0",)]
