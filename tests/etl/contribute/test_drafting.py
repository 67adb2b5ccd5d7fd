"""Drafts: every finding in one is a `todo`, and facts of a config come with the line that states them."""

import json
import shutil
from datetime import date
from pathlib import Path

import pytest

from etl.checks.runner import examine
from etl.contribute.drafting import guidelines, write, write_with_model
from etl.paths import Paths
from etl.records import schema
from etl.records.loading import load

ROOT = Path(__file__).parents[3]
CONFIG = {
    "architectures": ["LlamaForCausalLM"],
    "model_type": "llama",
    "hidden_size": 4096,
    "num_hidden_layers": 32,
    "num_attention_heads": 32,
    "num_key_value_heads": 8,
    "intermediate_size": 14336,
    "vocab_size": 128256,
}


@pytest.fixture
def place(tmp_path: Path) -> Paths:
    shutil.copytree(ROOT / "tests" / "data" / "valid", tmp_path / "data")
    shutil.copytree(ROOT / "schemas", tmp_path / "schemas")
    return Paths(tmp_path)


def codes(place: Paths) -> set[str]:
    return {one.code for one in examine(load(place.data), schema.load(place.schemas), date(2026, 8, 1))}


@pytest.mark.parametrize(
    ("kind", "key"),
    [
        ("run", "acme/beta"),
        ("model", "acme/beta"),
        ("accelerator", "acme/chip-9"),
        ("system", "acme/rack"),
        ("benchmark", "beta-table"),
        ("cluster", "beta-site"),
        ("trend", "beta-growth"),
        ("claim", "beta-claim"),
    ],
)
def test_a_draft_has_nothing_wrong_but_what_a_person_must_fill_in(place: Paths, kind: str, key: str) -> None:
    made = write(place, kind, key, None)
    assert codes(place) == {"TDO001"}
    told = list(guidelines(made.draft.value, schema.load(place.schemas).kind(kind)))
    assert told
    assert all(path and text for path, text in told)


def test_an_organization_already_known_keeps_its_spelling(place: Paths) -> None:
    assert write(place, "run", "acme/beta", []).draft.value["organization"] == "Acme"


def test_the_model_of_the_same_id_is_pointed_at(place: Paths) -> None:
    assert write(place, "run", "acme/alpha-2", None).draft.value["model"] == "todo"
    shutil.copy(place.data / "models/acme/alpha.yaml", place.data / "models/acme/alpha-3.yaml")
    assert write(place, "run", "acme/alpha-3", None).draft.value["model"] == "acme/alpha-3"


def test_facts_of_a_config_come_with_key_and_line(place: Paths) -> None:
    config = place.root / "config.json"
    config.write_text(json.dumps(CONFIG, indent=2))
    value = write(place, "model", "acme/beta", [config]).draft.value
    assert (value["layers"], value["hidden"], value["vocab"], value["kv_heads"]) == (32, 4096, 128256, 8)
    assert value["cite"]["layers"] == "config num_hidden_layers, line 7"
    assert value["sources"]["config"] == {"title": "config.json", "url": "todo", "kind": "config"}
    assert codes(place) == {"TDO001"}


def test_a_new_run_brings_the_model_that_has_no_record_yet(place: Paths) -> None:
    config = place.root / "config.json"
    config.write_text(json.dumps(CONFIG, indent=2))
    model, run = write_with_model(place, "run", "acme/beta", [config])
    assert (model.draft.value["layers"], run.draft.value["model"]) == (32, "acme/beta")
    assert all("only a default" in line for line in model.draft.left_out)
    assert run.draft.left_out == []
    assert codes(place) == {"TDO001"}
    (place.data / "runs/acme/beta.yaml").unlink()
    assert [made.kind for made in write_with_model(place, "run", "acme/beta", [])] == ["run"]


def test_defaults_of_a_framework_are_not_facts(place: Paths) -> None:
    config = place.root / "config.json"
    config.write_text(
        json.dumps({key: value for key, value in CONFIG.items() if key != "num_key_value_heads"}, indent=2)
    )
    made = write(place, "model", "acme/beta", [config])
    assert made.draft.value["kv_heads"] == "todo"
    assert any(line.startswith("kv_heads 32: only a default") for line in made.draft.left_out)


IDS = "in lower-case letters, digits, '.' and '-'"


@pytest.mark.parametrize(
    ("kind", "key", "sentence"),
    [
        ("run", "Acme/beta", f"'Acme/beta' is not an id of a run; write <organization>/<name> {IDS}"),
        ("run", "../../x", f"'../../x' is not an id of a run; write <organization>/<name> {IDS}"),
        ("cluster", "acme/x", f"'acme/x' is not an id of a cluster; write <name> {IDS}"),
        ("run", "acme/alpha", "data/runs/acme/alpha.yaml exists; edit it, or choose another id"),
    ],
)
def test_a_wrong_id_gets_one_sentence(place: Paths, kind: str, key: str, sentence: str) -> None:
    with pytest.raises(ValueError, match="id") as caught:
        write(place, kind, key, None)
    assert str(caught.value) == sentence


RUN_SCRIPT = """\
source model.sh
torchrun --nnodes=2 --nproc_per_node=8 pretrain_gpt.py $MODEL --tensor-model-parallel-size 4 \\
  --seq-length 2048 --micro-batch-size 1 --global-batch-size 64 --use-distributed-optimizer --bf16
"""
MODEL_SCRIPT = 'MODEL="--num-layers 12 --hidden-size 768 --num-attention-heads 12 --ffn-hidden-size 3072"\n'


@pytest.mark.parametrize("named", [True, False], ids=["files", "folder"])
def test_a_run_is_drafted_from_its_files_or_their_folder(place: Paths, tmp_path_factory, named: bool) -> None:
    folder = tmp_path_factory.mktemp("run")
    (folder / "run.sh").write_text(RUN_SCRIPT)
    (folder / "model.sh").write_text(MODEL_SCRIPT)
    files = [folder / "run.sh", folder / "model.sh"] if named else [folder]
    model, run = write_with_model(place, "run", "acme/beta", files)
    (phase,) = run.draft.value["phases"]
    layout = {name: phase["layout"][name] for name in ("tp", "dp", "zero_stage")}
    assert (layout, phase["accelerators"]) == ({"tp": 4, "dp": 16 // 4, "zero_stage": 1}, 2 * 8)
    assert phase["cite"]["tp"] == "config --tensor-model-parallel-size, line 2"
    assert model.draft.value["layers"] == 12
    assert run.draft.value["sources"]["config"]["title"] == "run.sh with model.sh" if named else True
