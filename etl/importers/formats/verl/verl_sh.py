"""verl launch scripts: Hydra words behind `verl.trainer`."""

from etl.importers.facts import Reading
from etl.importers.formats.megatron.megatron_sh import follow
from etl.importers.formats.verl.verl_keys import state_run
from etl.importers.read.documents import Document
from etl.importers.shell import slurm
from etl.importers.shell.flags import Flags
from etl.importers.shell.overrides import chosen, of_command

NAME = "verl_sh"
PROGRAMS = ("verl.trainer", "main_ppo", "recipe.")


def detect(document: Document) -> float:
    """The program's name beside the settings of an actor or trainer."""
    text = document.text[:400_000]
    named = "verl.trainer" in text or "verl/trainer" in text or "actor_rollout_ref." in text
    return (
        0.97 if named and ("trainer.nnodes" in text or "n_gpus_per_node" in text or "actor_rollout_ref" in text) else 0
    )


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of the command, on top of the YAML beside it."""
    reading = Reading(NAME)
    shell, commands, options = follow(document, companions)
    command = chosen(commands, "actor_rollout_ref.") or chosen(commands, "verl.")
    beside = [c.tree for c in companions if c.kind == "yaml"]
    words = " ".join(word for word, _ in command.words) if command else ""
    state_run(reading, of_command(command, beside[0] if beside else None), "megatron_trainer" in words, whole=False)
    if command and "accelerators" not in reading.facts:  # supervised training is started by torchrun
        count = slurm.devices(shell, Flags(command.words, shell.undecided), options, command)
        if count:
            reading.state("accelerators", *count)
    return reading
