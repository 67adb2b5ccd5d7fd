"""Megatron-LM, Megatron-DeepSpeed and MindSpeed launch scripts, followed statically."""

import re
from math import prod
from pathlib import PurePosixPath
from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.megatron.megatron_flags import CORE, CORE_PARALLEL, read_flags
from etl.importers.frameworks import of_command
from etl.importers.problems import ImporterError
from etl.importers.read.documents import Document
from etl.importers.read.json import read_json
from etl.importers.read.trees import Map, find
from etl.importers.shell import slurm
from etl.importers.shell.flags import Flags
from etl.importers.shell.follow import Shell
from etl.importers.shell.tree import Command
from etl.importers.shell.values import Rope, text

NAME = "megatron_sh"
MOST_CALLS = 50
RUNNERS = frozenset({"bash", "sh", "sbatch", "srun", "exec", "time", "nohup", "source", ".", "qsub"})
OWN = CORE | CORE_PARALLEL | {"train-iters", "train-samples"}
"""Flags that together only Megatron's argument parser knows."""
_FLAG = re.compile(
    r"--(?:num[-_]layers|hidden[-_]size|num[-_]attention[-_]heads|micro[-_]batch[-_]size|global[-_]batch[-_]size"
    r"|seq[-_]length|train[-_]iters|train[-_]samples|(?:tensor|pipeline)[-_]model[-_]parallel[-_]size)\b"
)

_TRAINS = re.compile(r"\bpretrain_\w+\.py|[Mm]egatron|torchrun|torch\.distributed|#SBATCH|\bsbatch\b")


def detect(document: Document) -> float:
    """A script with the flags of Megatron's argument parser."""
    hits = set(_FLAG.findall(document.text[:400_000]))
    if not hits:  # the flags may stand in a file that the script sources
        return 0.1 if _TRAINS.search(document.text[:400_000]) else 0.0
    return min(0.95, 0.3 + 0.2 * len(hits))


def follow(document: Document, companions: list[Document]) -> tuple[Shell, list[Command], dict[str, tuple[str, int]]]:
    """(shell after the script, the commands it would start, options of the batch header)."""
    scripts = [c for c in companions if c.kind == "shell"]
    shell = Shell(lambda name: _sourced(name, [*scripts, document]))
    options = slurm.header([document, *scripts])
    slurm.environment(shell, options)
    drivers = [s for s in scripts if _sources(s, document)]
    for script in scripts:
        if not _sources(document, script) and not _sources_any(scripts, script):
            shell.run(script.text)
    options |= slurm.submitted(shell.commands)
    slurm.environment(shell, options)
    before = len(shell.commands)
    if not drivers:
        shell.run(document.text)
    own = shell.commands[before:] if not drivers else shell.commands
    if not any(_FLAG.search(" ".join(word for word, _ in command.words)) for command in own):
        _called_scripts(shell, scripts, shell.commands[before:])
        _written_scripts(shell, options)
        own = shell.commands[before:] if not drivers else shell.commands
    return shell, own or shell.commands, options


def _called_scripts(shell: Shell, scripts: list[Document], commands: list[Command]) -> None:
    """Follow the companions that commands start (`sbatch job.sh 8`), with their arguments and variables."""
    for command in commands[:MOST_CALLS]:
        words = [word for word, _ in command.words]
        place = next((i for i, w in enumerate(words) if any(_same(PurePosixPath(w).name, s) for s in scripts)), None)
        if place is None or (place and words[0] not in RUNNERS):
            continue
        script = next(s for s in scripts if _same(PurePosixPath(words[place]).name, s))
        given = {str(i): text(word, command.line) for i, word in enumerate(words[place + 1 : place + 10], 1)}
        before = dict(shell.variables)
        shell.variables |= {**command.env, **given}
        shell.run(script.text)
        shell.variables = before | {k: v for k, v in shell.variables.items() if k not in given}


def _written_scripts(shell: Shell, options: dict[str, tuple[str, int]]) -> None:
    """Follow scripts that the script writes as here-documents and submits."""
    for content in [str(document) for document in shell.documents]:
        if _FLAG.search(content) and not content.lstrip().startswith("{"):
            for name, value in slurm.header([Document("here-document", content)]).items():
                options.setdefault(name, value)
            slurm.environment(shell, options)
            shell.run(content)


def _same(name: str, script: Document) -> bool:
    return bool(name) and (script.name == name or script.name.endswith(f"_{name}"))


def _sourced(name: str, scripts: list[Document]) -> str | None:
    exact = [s.text for s in scripts if s.name == name]
    close = [s.text for s in sorted(scripts, key=lambda s: len(s.name)) if _same(name, s)]
    return next(iter(exact or close), None)


def _sources(script: Document, other: Document) -> bool:
    """Whether `script` sources `other`."""
    names = re.findall(r"^\s*(?:source|\.)\s+.*?([\w.+-]+)[\"']?\s*$", script.text, re.M)
    return any(_same(name, other) for name in names)


def _sources_any(scripts: list[Document], other: Document) -> bool:
    return any(_sources(s, other) for s in scripts if s is not other)


def read(document: Document, companions: list[Document]) -> Reading:
    """Read the command the script would start; from another launcher only its devices are read."""
    shell, commands, options = follow(document, companions)
    reading = Reading(NAME)
    command, flags = _training(reading, shell, commands)
    if not OWN & flags.certain():
        reading.format = "launch_script"
        _devices(reading, shell, flags, options, command)
        return reading
    framework = of_command(" ".join(w for w, _ in command.words), flags.certain(), OWN) if command else None
    reading.format = framework.format if framework else NAME
    if "deepspeed" in flags or "deepspeed-config" in flags:
        reading.format = "megatron_deepspeed"
    read_flags(reading, flags, framework)
    for config in written_configs(shell, companions):
        _deepspeed(reading, config)
    _devices(reading, shell, flags, options, command)
    return reading


def _devices(
    reading: Reading, shell: Shell, flags: Flags, options: dict[str, tuple[str, int]], command: Command | None
) -> None:
    count = slurm.devices(shell, flags, options, command)
    if count:
        reading.state("accelerators", *count)
        return
    alone = slurm.one_node(shell, flags, options, command)
    ways = prod(reading.get(axis) or 1 for axis in ("tp", "pp", "cp"))
    if alone and alone[0] % ways == 0:
        reading.default("accelerators", *alone)


def _training(reading: Reading, shell: Shell, commands: list[Command]) -> tuple[Command | None, Flags]:
    """The training command with its flags; without one (a file of parameters only) those of every array and string."""
    ranked = [(c, Flags(c.words, shell.undecided)) for c in commands]
    training = [(c, f) for c, f in ranked if len(OWN & f.certain()) >= 2]
    sure = [pair for pair in training if pair[0].certain] or training
    if sure:
        runs = {tuple((n, u.values) for n, u in f.uses.items() if n in CORE) for _, f in sure}
        if len(runs) > 1:
            reading.warn("several-runs", f"the script starts {len(runs)} different runs; the first is reported")
        return sure[0]
    words = Flags((word for value in shell.variables.values() for word in _flag_words(value)), shell.undecided)
    if OWN & words.certain():
        return None, words
    launched = [(c, f) for c, f in ranked if slurm.launched(f) or slurm.per_process(f)]
    chosen = launched or ranked
    return chosen[0] if chosen else (None, Flags([]))


def _flag_words(value: Any) -> list[tuple[str, int]]:
    ropes = value if isinstance(value, list) else [value] if isinstance(value, Rope) else []
    words = [(piece, rope.line or 0) for rope in ropes for piece in str(rope).split()]
    return words if any(word.startswith("--") for word, _ in words) else []


def written_configs(shell: Shell, companions: list[Document]) -> list[Map]:
    """DeepSpeed settings: written by a here-document, or passed beside the script."""
    hits = [c.tree for c in companions if c.kind == "json"]
    for document in shell.documents:
        content = str(document).strip()
        if content.startswith("{"):
            try:
                hits.append(read_json("\n" * ((document.line or 1) - 1) + content, "here-document"))
            except ImporterError:
                continue  # a value in it is not known
    return hits


def _deepspeed(reading: Reading, config: Map) -> None:
    stage = find(config, "zero_optimization.stage")
    if stage and reading.get("zero_stage") is None:
        reading.state("zero_stage", stage.value, stage.key, stage.line)
    for word in ("bf16", "fp16"):
        switch = find(config, f"{word}.enabled")
        if switch and switch.value is True and reading.get("precision") is None:
            reading.state("precision", word, switch.key, switch.line)
    for name, key in (("global_batch", "train_batch_size"), ("micro_batch", "train_micro_batch_size_per_gpu")):
        if whole(config.get(key)) and reading.get(name) is None:
            reading.state(name, config[key], key)
