"""Every reader on inputs made of its own words and odd values: an answer or one sentence, never a traceback."""

import json
import re
from contextlib import suppress
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from analysis.physics.parameters import count
from etl.importers import counting, derive
from etl.importers.format import Format
from etl.importers.formats_list import formats
from etl.importers.problems import ImporterError
from etl.importers.read.documents import Document
from etl.importers.read.yaml import read_yaml

FOLDER = Path(derive.__file__).parent
ODD = st.sampled_from(
    [None, True, False, 0, -1, 1, 2, 8, 4096, 10**19, 1.5, -0.5, 1e300, "", "auto", "1e6", "8_192", "${a.b}",
     "${..x}",
     "none", "full", "bf16", "x" * 3000, "M*-E", "2ep", "63900ba", [], {}, [1, 2], [0, 1], ["a"], [None], "llama",
     "mpt", "moe", "swiglu"]
)  # fmt: skip
TREES = [row for row in formats() if {"yaml", "json", "toml"} & set(row.kinds)]
TEXTS = [row for row in formats() if {"shell", "log"} & set(row.kinds)]
BOUNDED = settings(max_examples=60, deadline=None, derandomize=True, suppress_health_check=list(HealthCheck))


def words_of(row: Format) -> list[str]:
    """The words that a reader looks for, as they stand in its source and in that of the importer modules it uses."""
    text = Path(row.module().__file__).read_text("utf-8")
    source = text
    for package, names in re.findall(r"from etl\.importers([\w.]*) import ([\w, ]+)", text):
        parts = [p for p in package.split(".") if p]
        for path in (FOLDER.joinpath(*parts, f"{n.strip()}.py") for n in (*names.split(","), "")):
            source += path.read_text("utf-8") if path.exists() else ""
        path = FOLDER.joinpath(*parts).with_suffix(".py")
        source += path.read_text("utf-8") if parts and path.exists() else ""
    return sorted(set(re.findall(r'"([A-Za-z_][\w.\-]{1,60})"', source)))


def nested(pairs: list[tuple[str, object]]) -> dict[str, object]:
    """Dotted keys as mappings within mappings."""
    root: dict[str, object] = {}
    for key, value in pairs:
        node, *parts = root, *key.split(".")
        for part in parts[:-1]:
            inner = node.get(part)
            node[part] = inner if isinstance(inner, dict) else {}
            node = node[part]
        node[parts[-1]] = value
    return root


def answer(module: Format, document: Document) -> None:
    """Read as the registry does, whatever the content test says; only the importers' own refusal may come."""
    reader = module.module()
    with suppress(ImporterError):
        assert 0 <= reader.detect(document) <= 1
        reading = reader.read(document, [])
        derive.complete(reading)
        counting.count(reading, count)
        assert json.dumps(reading.as_json())


@pytest.mark.parametrize("module", TREES, ids=lambda row: row.name)
@BOUNDED
@given(data=st.data())
def test_trees_of_known_words_and_odd_values(module, data):
    words = words_of(module)
    pairs = data.draw(st.lists(st.tuples(st.sampled_from(words), ODD), min_size=1, max_size=14))
    document = Document("config.yaml", "")
    document.__dict__["tree"] = read_yaml(json.dumps(nested(pairs)), "config.yaml")
    document.__dict__["kind"] = "yaml"
    answer(module, document)


@pytest.mark.parametrize("module", TEXTS, ids=lambda row: row.name)
@BOUNDED
@given(data=st.data())
def test_scripts_and_logs_of_known_words_and_odd_values(module, data):
    signs = [
        *" \n=|$}()\"'#",
        ": ",
        "${",
        "$((",
        "))",
        "if ",
        " fi\n",
        "--",
        "/ 8",
        "9" * 30,
        "8",
        "0",
        "1.5K",
        "export ",
    ]
    tokens = st.sampled_from([*words_of(module), *signs, "iteration 5", "elapsed time per iteration (ms)"])
    text = "".join(data.draw(st.lists(tokens, max_size=60)))
    answer(module, Document("run.sh", text))
