"""DeepSpeed JSON: sharding stage, precision and batch; "auto" is not a value."""

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state_all, truth, warn_repeated

NAME = "deepspeed_json"

KEYS: Table = {
    "zero_stage": ("zero_optimization.stage",),
    "micro_batch": ("train_micro_batch_size_per_gpu",),
    "global_batch": ("train_batch_size",),
}
MARKS = (
    "zero_optimization",
    "train_micro_batch_size_per_gpu",
    "train_batch_size",
    "gradient_clipping",
    "steps_per_print",
    "fp16",
    "bf16",
    "wall_clock_breakdown",
    "gradient_accumulation_steps",
    "zero_allow_untested_optimizer",
)


def detect(document: Document) -> float:
    """DeepSpeed's own names at the top."""
    tree = document.tree
    blocks = any(isinstance(tree.get(k), Map) for k in ("zero_optimization", "fp16", "bf16", "optimizer"))
    model = "num_layers" in tree or "hidden_size" in tree
    return 0.0 if model or not blocks else min(0.9, 0.25 * sum(m in tree for m in MARKS))


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one file."""
    reading = Reading(NAME)
    state_settings(reading, document.tree)
    warn_repeated(reading, document.tree)
    return reading


def state_settings(reading: Reading, tree: Map) -> None:
    """What DeepSpeed's settings say, here or beside an accelerate file."""
    state_all(reading, tree, KEYS)
    reading.extra["accumulation"] = fields.whole(number(tree, "gradient_accumulation_steps"))
    enabled = [name for name in ("bf16", "bfloat16", "fp16") if truth(tree, f"{name}.enabled")]
    if len(enabled) == 1:
        place = find(tree, f"{enabled[0]}.enabled")
        reading.state("precision", enabled[0], place.key if place else None, place.line if place else None)
