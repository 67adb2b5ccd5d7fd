"""LLaMA-Factory YAML: the trainer's arguments beside a stage of training, or those of its Megatron trainer."""

from etl.importers.facts import Reading
from etl.importers.formats.huggingface_trainer import trainer_keys
from etl.importers.read.documents import Document
from etl.importers.read.trees import find
from etl.importers.tables import state, truth, warn_repeated

NAME = "llamafactory_yaml"
MARKS = ("stage", "finetuning_type", "cutoff_len", "template", "do_train", "dataset_dir", "overwrite_cache")


def detect(document: Document) -> float:
    """`finetuning_type`, `cutoff_len`, `template` and a stage beside the trainer's own words."""
    count = sum(mark in document.tree for mark in MARKS)
    own = "finetuning_type" in document.tree or "cutoff_len" in document.tree
    return min(0.97, 0.7 + 0.06 * count) if own and count >= 2 else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of one file; gradient checkpointing is on unless it is switched off."""
    reading, tree = Reading(NAME), document.tree
    warn_repeated(reading, tree)
    trainer_keys.state_run(reading, tree, companions)
    off = truth(tree, "disable_gradient_checkpointing")
    if off is not None:
        state(reading, "recompute", find(tree, "disable_gradient_checkpointing"), "none" if off else "full")
    elif not any(axis in reading.facts for axis in ("tp", "pp")):
        reading.default(
            "recompute", "full", "LLaMA-Factory: disable_gradient_checkpointing false (hparams/model_args.py)"
        )
    return reading
