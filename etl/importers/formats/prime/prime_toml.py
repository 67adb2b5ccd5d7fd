"""Prime (DiLoCo) TOML: two vocabularies for one run; the batch is that of one worker."""

from etl.importers.facts import Reading
from etl.importers.read.documents import Document
from etl.importers.read.trees import find
from etl.importers.tables import agree, number, state, truth

NAME = "prime_toml"

MICRO = ("hardware.micro_batch_size", "train.micro_bs", "train.micro_batch_size")
LENGTH = ("data.seq_length", "data.seq_len")
BATCH = ("train.batch_size", "optim.batch_size")
RECOMPUTE = ("hardware.act_ckpt", "train.ac_ckpt", "train.act_ckpt")


def detect(document: Document) -> float:
    """A micro-batch under `hardware` or `train` beside `optim`, `diloco` or the data's `seq_length`."""
    tree = document.tree
    marks = (
        find(tree, *MICRO),
        find(tree, "diloco"),
        find(tree, "data.seq_length"),
        find(tree, *BATCH),
        find(tree, "model_name", "name_model"),
    )
    count = sum(m is not None for m in marks)
    return 0.0 if count < 2 or find(tree, "training") else 0.35 + 0.12 * count


def read(document: Document, _companions: list[Document]) -> Reading:
    """The facts of one worker's file; `total_steps` is a plan beside `stable_steps` only."""
    reading, tree = Reading(NAME), document.tree
    agree(reading, "micro_batch", [find(tree, p) for p in MICRO])
    agree(reading, "seq_len", [find(tree, p) for p in LENGTH])
    if find(tree, "optim.stable_steps"):  # warmup, stable and decay steps in all; else it is only the decay's horizon
        state(reading, "train_steps", find(tree, "optim.total_steps"))
    reading.extra["cap"] = True  # the steps of one worker; how many workers there are the file does not say
    recompute = find(tree, *RECOMPUTE)
    switch = truth(tree, *RECOMPUTE)
    if recompute is not None and isinstance(recompute.value, bool) and switch is not None:
        state(reading, "recompute", recompute, "full" if switch else "none")
    reshard = find(tree, "train.reshard_after_forward")
    if reshard is not None and isinstance(reshard.value, bool):
        state(reading, "zero_stage", reshard, 3 if reshard.value else 2)
    if find(tree, "diloco") is None and number(tree, *BATCH):
        agree(reading, "global_batch", [find(tree, p) for p in BATCH])
    return reading
