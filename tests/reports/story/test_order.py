"""Every figure has its place in the story, and every query its own name."""

from importlib import resources

from reports.source import query_files
from reports.story import order


def test_every_folder_of_the_story_is_placed_once():
    folders = {one.name for one in resources.files("reports.story").iterdir() if (one / "section.py").is_file()}
    placed = [folder for chapter in order() for folder in chapter]
    assert sorted(placed) == sorted(folders)


def test_a_figure_brings_its_words():
    for folder in (folder for chapter in order() for folder in chapter):
        assert (resources.files("reports.story") / folder / "text.yaml").is_file(), folder


def test_queries_are_found_by_name_wherever_they_lie():
    assert {"mfu", "run_facts", "trends"} <= set(query_files())
