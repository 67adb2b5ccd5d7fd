"""Read a text as if it were a file of that name, with companions beside it; no file is opened."""

from collections.abc import Callable
from textwrap import dedent

import pytest

from etl.importers.facts import Reading
from etl.importers.formats_list import read_documents
from etl.importers.read.documents import Document


@pytest.fixture
def reading() -> Callable[..., Reading]:
    """reading("a.yaml", text, ("b.yaml", companion), ...)."""

    def read(name: str, text: str, *companions: tuple[str, str]) -> Reading:
        beside = [Document(other, dedent(content)) for other, content in companions]
        return read_documents(Document(name, dedent(text)), beside)

    return read


@pytest.fixture
def facts(reading: Callable[..., Reading]) -> Callable[..., dict[str, object]]:
    """The same, only the values by field."""
    return lambda *texts: {name: fact.value for name, fact in reading(*texts).facts.items()}
