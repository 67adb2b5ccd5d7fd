"""ColossalAI launch scripts: a plugin that shards or splits, with its degrees as flags."""

import re

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.megatron.megatron_sh import follow
from etl.importers.read.documents import Document
from etl.importers.shell import slurm
from etl.importers.shell.flags import Flags

NAME = "colossalai_sh"
STAGES = {"zero2": 2, "zero2_cpu": 2, "zero1": 1, "ddp": 0, "gemini": 3, "gemini_auto": 3, "fsdp": 3}
"""Plugins that only shard. Gemini places chunks of weights, gradients and states over all ranks."""
STATED: dict[str, tuple[str, ...]] = {
    "tp": ("tp",),
    "pp": ("pp",),
    "cp": ("sp",),
    "seq_len": ("max-len", "max-length"),
    "precision": ("mixed-precision",),
    "zero_stage": ("zero-stage", "zero"),
}


def detect(document: Document) -> float:
    """The launcher's name before a script with a plugin."""
    return 0.9 if re.search(r"\bcolossalai\s+run\b", document.text[:400_000]) else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of the first training command."""
    reading = Reading(NAME)
    shell, commands, options = follow(document, companions)
    hits = [c for c in commands if any("colossalai" in word for word, _ in c.words[:2])]
    command = next((c for c in hits if c.certain), hits[0] if hits else None)
    if command is None:
        return reading
    flags = Flags(command.words, shell.undecided)
    plugin, key, line = flags.get("plugin", "p")
    for field, names in STATED.items():
        value, name, at = flags.get(*names)
        if value is not None:
            reading.state(field, value, name, at)
    stage = STAGES.get((plugin or "").lower())
    if stage is not None:
        reading.state("zero_stage", stage, key, line)
        for axis in ("tp", "pp", "cp"):
            reading.default(axis, 1, f"ColossalAI: plugin {plugin} only shards")
    micro, name, at = (
        flags.get("mbs", "microbatch-size") if plugin == "3d" else flags.get("batch-size", "micro-batch-size", "b")
    )
    if micro is not None:
        reading.state("micro_batch", micro, name, at)
    if stage is not None:
        reading.extra["accumulation"] = whole(flags.get("accumulation-steps")[0] or "1")
    for switch in ("grad-checkpoint", "use-grad-checkpoint", "g"):
        if switch in flags and not flags.uses[switch].maybe:
            reading.state("recompute", "full", f"--{switch}", flags.line(switch))
    count = slurm.devices(shell, flags, options, command)
    if count:
        reading.state("accelerators", *count)
    elif alone := slurm.one_node(shell, flags, options, command):
        reading.default("accelerators", *alone)
    return reading
