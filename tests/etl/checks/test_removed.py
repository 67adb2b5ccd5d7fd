"""Removed records: their ids are not used again, and old pointers learn where to go."""

import shutil
from datetime import date
from pathlib import Path

from etl.checks.runner import examine
from etl.records import schema
from etl.records.loading import load

ROOT = Path(__file__).parents[3]
STONE = "removed:\n  - kind: {kind}\n    id: {id}\n    date: 2024-07-01\n    why: The paper withdrew it.\n"


def findings(place: Path, stone: str, broken: tuple[str, str, str] | None = None) -> list[tuple[str, str]]:
    data = place / "data"
    shutil.copytree(ROOT / "tests" / "data" / "valid", data)
    (data / "removed.yaml").write_text(stone)
    if broken:
        file, old, new = broken
        (data / file).write_text((data / file).read_text().replace(old, new))
    found = examine(load(data), schema.load(ROOT / "schemas"), date(2026, 8, 1))
    return [(finding.code, f"{finding.message}; {finding.tip}") for finding in found]


def test_an_id_that_was_removed_is_not_used_again(tmp_path: Path) -> None:
    found = findings(tmp_path, STONE.format(kind="run", id="acme/alpha"))
    assert found == [("REF008", "the run acme/alpha was removed on 2024-07-01; give the new record another name")]


def test_the_same_id_of_another_kind_is_another_record(tmp_path: Path) -> None:
    assert findings(tmp_path, STONE.format(kind="claim", id="acme/alpha")) == []


def test_what_took_its_place_must_be_there(tmp_path: Path) -> None:
    stone = STONE.format(kind="model", id="acme/old") + "    instead: acme/nowhere\n"
    assert [code for code, _ in findings(tmp_path, stone)] == ["REF009"]


def test_a_pointer_at_a_removed_record_learns_why_and_where_to_go(tmp_path: Path) -> None:
    stone = STONE.format(kind="model", id="acme/old") + "    instead: acme/alpha\n"
    found = findings(tmp_path, stone, ("runs/acme/alpha.yaml", "model: acme/alpha", "model: acme/old"))
    assert [code for code, _ in found] == ["REF001"]
    assert "removed on 2024-07-01: The paper withdrew it.; now acme/alpha" in found[0][1]
