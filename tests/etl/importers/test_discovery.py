"""A format is found because its folder names it; a module that no folder names is a mistake."""

from pathlib import Path

from etl.importers import formats as rooms
from etl.importers.formats_list import formats


def test_every_module_with_a_reader_is_named_by_its_folder():
    files = Path(rooms.__file__).parent.glob("*/*.py")
    readers = {path.stem for path in files if "\ndef detect(" in path.read_text("utf-8")}
    assert readers == {row.name for row in formats()}


def test_a_file_that_looks_like_two_formats_says_so(reading):
    text = """\
        apiVersion: v1
        kind: Job
        base_model: a
        sequence_len: 8
        micro_batch_size: 1
        datasets: []
        adapter: lora
        """
    found = reading("a.yaml", text)
    assert found.warnings == [f"two-formats: read as {found.format}; it also looks like kubernetes_yaml"]


def test_a_format_prints_the_name_of_its_module():
    assert [row.module().NAME for row in formats()] == [row.name for row in formats()]
