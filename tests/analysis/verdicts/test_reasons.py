"""Every reason that a check can give has its sentence in both languages, and every sentence its reason."""

import ast
from pathlib import Path

import pytest

from analysis import verdicts
from analysis.verdicts import CHECKS
from schemas.reasons import LANGUAGES, tables

FOLDER = Path(verdicts.__file__).parent
ENTRIES = [
    (table, name, entry)
    for table in ("causes", "facts", "nouns", "assumed", "rows")
    for name, entry in tables()[table].items()
] + [
    ("verdicts", f"{check}/{name}", entry)
    for check, all_ in tables()["verdicts"].items()
    for name, entry in all_.items()
]


@pytest.mark.parametrize(("table", "name", "entry"), ENTRIES, ids=[f"{table}/{name}" for table, name, _ in ENTRIES])
def test_words_are_there_in_both_languages(table, name, entry):
    assert set(entry) - {"factor"} == set(LANGUAGES)


def test_every_check_has_sentences_and_every_sentence_a_check():
    assert set(CHECKS) == set(tables()["verdicts"]) - {"unstated"}


def test_every_sentence_is_named_by_the_code_and_no_code_writes_its_own():
    texts = {
        node.value
        for path in FOLDER.glob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Constant) and isinstance(node.value, str)
    }
    reasons = {name for words in tables()["verdicts"].values() for name in words}
    assert reasons <= texts
    assert not [text for text in texts if not text.isascii()]


LOOKS = {"startswith", "endswith", "removeprefix", "removesuffix", "split", "partition", "rpartition"}


def test_no_module_of_the_analysis_looks_into_sentences():
    """Reasons and assumptions are codes: nothing is chosen by how a sentence begins, ends or divides."""
    folders = ("verdicts", "assess", "records", "whatif", "layout", "trends")
    looking = [
        f"{path.name}:{node.lineno}"
        for folder in folders
        for path in (FOLDER.parent / folder).rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text(encoding="utf-8")))
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in LOOKS
        for word in node.args
        if isinstance(word, ast.Constant) and isinstance(word.value, str) and " " in word.value
    ]
    assert looking == []
