"""Everything is said in both languages, and every title has its variants."""

import pytest
import yaml

from reports.words import text_files

FILES = text_files()


def leaves(node, path=""):
    """Every phrase of a file with its key."""
    if set(node) == {"en", "zh"}:
        yield path, node
    else:
        for key, value in node.items():
            yield from leaves(value, f"{path}.{key}")


def places(text):
    import string

    return {name for _, name, _, _ in string.Formatter().parse(text) if name}


@pytest.mark.parametrize("name", FILES)
def test_each_phrase_has_both_languages_with_the_same_places(name):
    text = FILES[name].read_text(encoding="utf-8")
    for key, pair in leaves(yaml.safe_load(text)):
        assert pair["en"], key
        assert pair["zh"], key
        assert places(pair["en"]) == places(pair["zh"]), key
