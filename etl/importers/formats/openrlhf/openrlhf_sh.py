"""OpenRLHF launch scripts: flags with dashes or with dots; the actor's devices are reported."""

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.megatron.megatron_sh import follow
from etl.importers.read.documents import Document
from etl.importers.shell import slurm
from etl.importers.shell.flags import Flags

NAME = "openrlhf_sh"
STATED: dict[str, tuple[str, ...]] = {
    "micro_batch": ("micro-train-batch-size", "train.micro-batch-size"),
    "global_batch": ("train-batch-size", "train.batch-size"),
    "seq_len": ("max-len", "data.max-len"),
    "zero_stage": ("zero-stage", "ds.zero-stage"),
    "precision": ("param-dtype", "ds.param-dtype"),
    "tp": ("ds-tensor-parallel-size", "ds.tensor-parallel-size"),
    "cp": ("ring-attn-size", "ds.ring-attn-size"),
}
RECOMPUTE = ("gradient-checkpointing", "actor.gradient-checkpointing-enable", "model.gradient-checkpointing-enable")
DYNAMIC = ("use-dynamic-batch", "train.dynamic-batch-enable")


def detect(document: Document) -> float:
    """The program's name."""
    return 0.97 if "openrlhf.cli" in document.text[:400_000] else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of the training command."""
    reading = Reading(NAME)
    shell, commands, options = follow(document, companions)
    hits = [c for c in commands if any("openrlhf.cli" in word for word, _ in c.words)]
    if not hits:
        return reading
    command = next((c for c in hits if c.certain), hits[0])
    flags = Flags(command.words, shell.undecided)
    for field, names in STATED.items():
        value, key, line = flags.get(*names)
        dynamic = field == "micro_batch" and any(name in flags for name in DYNAMIC)
        if value is not None and not dynamic:
            reading.state(field, value, key, line)
    for name in RECOMPUTE:
        if name in flags:
            reading.state("recompute", "full", f"--{name}", flags.line(name))
    if "bf16" in flags:
        reading.state("precision", "bf16", "--bf16", flags.line("bf16"))
    _devices(reading, flags, lambda: slurm.devices(shell, flags, options, command))
    reading.default("pp", 1, "OpenRLHF: DeepSpeed without a pipeline")
    for axis, names in (("tp", STATED["tp"]), ("cp", STATED["cp"])):
        if not any(name in flags for name in names):
            reading.default(axis, 1, f"OpenRLHF: {axis} 1 without a flag")
    return reading


def _devices(reading: Reading, flags: Flags, otherwise: object) -> None:
    """Nodes times devices of the actor; of the launcher for supervised training."""
    nodes, key, line = flags.get("actor-num-nodes", "actor.num-nodes")
    each, _, _ = flags.get("actor-num-gpus-per-node", "actor.num-gpus-per-node")
    if whole(nodes) and whole(each):
        reading.state("accelerators", int(nodes or 0) * int(each or 0), key, line)
        reading.warn("several-roles", "devices and layout are those of the actor in training")
    elif callable(otherwise) and (count := otherwise()):
        reading.state("accelerators", *count)
