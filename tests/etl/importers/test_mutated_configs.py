"""Run configs with values replaced at random: an answer or one sentence, never a traceback; bounded and repeatable."""

import re
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from etl.importers.formats_list import read_documents
from etl.importers.problems import ImporterError
from etl.importers.read.documents import Document

SEEDS = {p.name: p.read_text("utf-8") for p in sorted((Path(__file__).parents[2] / "data/importer-seeds").iterdir())}
ODD = ("null", "[]", "{}", "[[1, 2], [3]]", "{a: {b: 1}}", "-1", "0", "1e400", "9" * 390, "'x'", "${a.b}", "${..x}")
ODD += (
    '"auto"',
    "nan",
    "1.5",
    "None",
    "f(x)",
    "dict(size=None)",
    "[1] * 9",
    "$(id)",
    "`id`",
    "lambda: 0",
    "*a",
    "&a 1",
)
_VALUE = re.compile(r"([:=]\s*)([^\n,]+)")


def mutated(text: str, places: list[tuple[int, str]]) -> str:
    """The text with the values at some places, counted around, replaced."""
    for index, odd in places:
        spans = [match.span(2) for match in _VALUE.finditer(text)]
        if spans:
            start, end = spans[index % len(spans)]
            text = text[:start] + odd + text[end:]
    return text


@pytest.mark.parametrize("name", SEEDS)
def test_the_seed_itself_is_read(name):
    assert read_documents(Document(name, SEEDS[name]), []).facts


@pytest.mark.parametrize("name", SEEDS)
@settings(max_examples=40, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))
@given(places=st.lists(st.tuples(st.integers(0, 40), st.sampled_from(ODD)), min_size=1, max_size=4))
def test_odd_values_never_end_in_a_traceback(name, places):
    try:
        read_documents(Document(name, mutated(SEEDS[name], places)), [])
    except ImporterError as problem:
        sentence = str(problem)
    else:
        sentence = "read"
    assert sentence
    assert "\n" not in sentence
