"""What the Hugging Face trainer leaves behind: `trainer_state.json` and `train_results.json`."""

from etl.importers.facts import Reading
from etl.importers.fields import number
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, find
from etl.importers.tables import number as number_at
from etl.importers.tables import state

NAME = "trainer_state_json"


def detect(document: Document) -> float:
    """A history of logged steps, or the totals of a run."""
    tree = document.tree
    if isinstance(tree.get("log_history"), list):
        return 0.95
    return 0.9 if "train_runtime" in tree and "train_steps_per_second" in tree else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """Planned steps, batch per device, last loss; the step time is that of the whole run, pauses included."""
    reading, tree = Reading(NAME), document.tree
    state(reading, "train_steps", find(tree, "max_steps"))
    state(reading, "micro_batch", find(tree, "train_batch_size"))
    reading.extra["cap"] = True
    history = tree.get("log_history")
    rows = [row for row in history if isinstance(row, Map)] if isinstance(history, list) else [tree]
    losses = [row for row in rows if number(row.get("loss"))]
    if losses:
        last = losses[-1]
        reading.state("loss", last["loss"], f"loss, the last of {len(losses)} entries", last.lines.get("loss"))
    for row in rows:
        rate = number_at(row, "train_steps_per_second")
        if rate and rate > 0:
            line = row.lines.get("train_steps_per_second")
            reading.state("step_time_s", 1 / rate, "1 / train_steps_per_second", line, "derived")
    return reading
