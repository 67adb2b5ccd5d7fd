"""Plans over a grid: partitions that DuckDB reads, two workers, and a run that goes on where it was ended."""

from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from dataclasses import replace
from multiprocessing import get_context

import duckdb
import pytest

from analysis.plan import grid
from analysis.plan.question import Question
from schemas.refusal import RefusalError

HEADER = "model,accelerator,accelerators,seq_len,global_batch"


@pytest.fixture
def cells(catalogue):
    ask = Question(catalogue.models["meta/llama-3.1-8b"], "nvidia/h100-sxm-80gb", 8, 4096, 64, domain=8)
    return [grid.Cell("meta/llama-3.1-8b", replace(ask, accelerators=count)) for count in (8, 16, 32)]


def test_two_workers_write_partitions_that_duckdb_reads(tmp_path, catalogue, cells):
    with ProcessPoolExecutor(2, mp_context=get_context("spawn")) as pool:
        done = list(grid.run(cells, catalogue, tmp_path, pool, top=50))
    assert sorted(one.cell.question.accelerators for one in done) == [8, 16, 32]
    files = duckdb.read_parquet(str(tmp_path / "**" / "*.parquet"), hive_partitioning=True)
    rows = files.aggregate("accelerators, count(*)").fetchall()
    assert dict(rows) == {one.cell.question.accelerators: one.rows for one in done}


def test_a_run_that_was_ended_goes_on_where_it_stopped(tmp_path, catalogue, cells):
    with ThreadPoolExecutor(1) as pool:
        assert len(list(grid.run(cells[:2], catalogue, tmp_path, pool, top=5))) == 2
        before = cells[0].place(tmp_path).stat().st_mtime_ns
        # A worker that was killed leaves no file, or the draft of one.
        cells[1].place(tmp_path).unlink()
        done = list(grid.run(cells, catalogue, tmp_path, pool, top=5))
    assert sorted(one.cell.question.accelerators for one in done) == [16, 32]
    assert cells[0].place(tmp_path).stat().st_mtime_ns == before


def test_a_question_without_layouts_says_why_and_leaves_no_file(tmp_path, catalogue, cells):
    large = replace(cells[0].question, model=catalogue.models["meta/llama-3.1-405b"])
    cell = grid.Cell("meta/llama-3.1-405b", large)
    with ThreadPoolExecutor(1) as pool:
        done = list(grid.run([cell], catalogue, tmp_path, pool))
    assert done[0].rows == 0
    assert "nothing fits" in done[0].why
    assert not cell.place(tmp_path).exists()


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("model,accelerator\n", "lacks the column accelerators"),
        (f"{HEADER}\nm,a,many,4096,64\n", "accelerators takes a whole number from 1, not 'many'"),
        ("", "cannot be read as CSV"),
    ],
)
def test_a_grid_that_cannot_be_read_is_refused(tmp_path, text, words):
    path = tmp_path / "grid.csv"
    path.write_text(text)
    with pytest.raises(RefusalError, match=words):
        grid.read(path, dict)
