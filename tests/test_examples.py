"""Examples in the help of commands are commands: they parse, and the files they read are there."""

import shlex
from pathlib import Path

import pytest
import typer

from shardbook import application

ROOT = Path(__file__).parents[1]
FRONT = typer.main.get_command(application())
CONTEXT = typer.Context(FRONT, info_name="shardbook")
EXAMPLES = {name: str(FRONT.get_command(CONTEXT, name).epilog) for name in FRONT.list_commands(CONTEXT)}


@pytest.mark.parametrize("name", EXAMPLES)
def test_every_command_has_an_example_that_parses(name: str) -> None:
    label, front, said, *words = shlex.split(EXAMPLES[name])
    assert (label, front, said) == ("Example:", "shardbook", name)
    FRONT.get_command(CONTEXT, name).make_context(name, words, parent=CONTEXT)


def test_files_that_examples_read_are_there() -> None:
    readme = (ROOT / "README.md").read_text("utf-8")
    words = {
        word for text in (*EXAMPLES.values(), readme) for word in text.split() if word.startswith("docs/examples/")
    }
    assert len(words) >= 3
    assert all((ROOT / word).is_file() for word in words)
