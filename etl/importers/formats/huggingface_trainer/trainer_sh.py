"""Scripts that start the Hugging Face trainer: `accelerate launch`, `torchrun` or `deepspeed` with its arguments."""

import re

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.accelerate import accelerate_yaml
from etl.importers.formats.deepspeed.deepspeed_json import state_settings
from etl.importers.formats.huggingface_trainer import trainer_keys
from etl.importers.formats.megatron.megatron_sh import follow, written_configs
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map
from etl.importers.shell import slurm
from etl.importers.shell.flags import Flags

NAME = "trainer_sh"
_MARK = re.compile(r"--per[-_]device[-_]train[-_]batch[-_]size\b")
_MEGATRON = re.compile(r"--(?:num[-_]layers|tensor[-_]model[-_]parallel[-_]size)\b")
SWITCHES = frozenset({"bf16", "fp16", "gradient-checkpointing"})


def detect(document: Document) -> float:
    """The trainer's batch per device among the arguments of a command."""
    text = document.text[:400_000]
    return 0.8 if _MARK.search(text) and not _MEGATRON.search(text) else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of the first command with the trainer's arguments."""
    reading = Reading(NAME)
    shell, commands, options = follow(document, companions)
    ranked = [(c, Flags(c.words, shell.undecided)) for c in commands]
    training = [pair for pair in ranked if "per-device-train-batch-size" in pair[1]]
    sure = [pair for pair in training if pair[0].certain] or training
    if not sure:
        return reading
    command, flags = sure[0]
    runs = {tuple(word for word, _ in c.words) for c, _ in sure}
    if len(runs) > 1:
        reading.warn("several-runs", f"the script starts {len(runs)} different runs; the first is reported")
    for config in written_configs(shell, []):
        state_settings(reading, config)
    trainer_keys.state_run(reading, _tree(flags), companions)
    count = slurm.devices(shell, flags, options, command)
    if count is None and (alone := slurm.one_node(shell, flags, options, command)):
        reading.default("accelerators", *alone)
    elif count:
        reading.state("accelerators", *count)
    _accelerate(reading, flags, companions)
    if not any(axis in reading.facts for axis in ("tp", "pp", "cp")) and "sequence-parallel-size" not in flags:
        for axis in ("tp", "pp", "cp"):
            reading.default(axis, 1, "the Hugging Face trainer splits the batch only")
    return reading


def _tree(flags: Flags) -> Map:
    """The arguments as a tree of settings."""
    tree = Map()
    for name, use in flags.uses.items():
        key = name.replace("-", "_")
        if not use.open and not use.maybe:
            tree.put(key, use.first if use.first is not None else True, use.line)
    return tree


def _accelerate(reading: Reading, flags: Flags, companions: list[Document]) -> None:
    """`accelerate launch --num_processes N`: processes over all machines; its config file is a companion."""
    total, key, line = flags.get("num-processes")
    nodes, each = flags.get("num-nodes")[0], flags.get("gpus")[0]
    if whole(nodes) and whole(each):  # a job submitter in front of the launcher: its nodes times its devices
        reading.state("accelerators", int(nodes or 0) * int(each or 0), "--num_nodes", flags.line("num-nodes"))
    elif whole(total):
        reading.state("accelerators", total, key, line)
    precision, key, line = flags.get("mixed-precision")
    if precision and precision != "no" and "precision" not in reading.facts:
        reading.state("precision", precision, key, line)
    for other in companions:
        if other.kind == "yaml" and accelerate_yaml.detect(other) > 0:
            beside = accelerate_yaml.read(other, [])
            for name, fact in beside.facts.items():
                if name not in reading.facts:
                    reading.facts[name] = fact
