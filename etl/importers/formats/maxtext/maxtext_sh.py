"""MaxText launch scripts: `key=value` words of the training command on top of the YAML layers beside the script."""

import re
from math import prod
from pathlib import PurePosixPath

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.maxtext import maxtext_keys
from etl.importers.formats.maxtext.maxtext_keys import chips, cores_are_devices
from etl.importers.formats.maxtext.maxtext_yaml import check_override, layered, model_files
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map
from etl.importers.read.yaml import scalar
from etl.importers.shell.flags import Flags
from etl.importers.shell.follow import Shell
from etl.importers.shell.tree import Command
from etl.importers.shell.values import known, text
from etl.importers.tables import comment_blocks, number

NAME = "maxtext_sh"

RUNNERS = frozenset({"bash", "sh", "source", ".", "exec", "srun", "time", "nohup"})
UNRESOLVED = "${}"
_SETTING = re.compile(r"([a-z][a-z0-9_]*)=(.*)", re.S)
_SLICE = re.compile(r"\bon (?:(\d{1,4})\s*x\s*|an?\s+|one\s+)?((?:v2|v3|v4|v5p|v5e|v6e)-\d{1,6})\b", re.I)
_NODES = re.compile(r"(\d{1,5})\s*(?:nodes|VMs|hosts)\.?", re.I)


def detect(document: Document) -> float:
    """The program's name beside its settings, or beside another script of its own."""
    if not re.search(r"maxtext", document.text, re.I):
        return 0.0
    marks = re.findall(
        r"\b(?:base\.yml|per_device_batch_size|max_target_length|ici_\w+_parallelism|run_name)\b", document.text
    )
    return 0.95 if len(set(marks)) > 1 else 0.5


def read(document: Document, companions: list[Document]) -> Reading:
    """The facts of the training command, with base.yml, model and run files where they are given."""
    reading = Reading(NAME)
    scripts = {c.name: c for c in companions if c.kind == "shell"}
    commands = _follow(document, scripts, {}, 0)
    command = _settings(commands)
    layers = [c.tree for c in companions if c.kind == "yaml"]
    check_override(reading, layers, command)
    tree = layered(layers, command)
    models = model_files(layers)
    maxtext_keys.state_model(reading, tree, models)
    _slices_of_xpk(reading, document)
    maxtext_keys.state_run(reading, tree)
    maxtext_keys.architecture(reading, tree, models)
    _remark(reading, tree, document)
    return reading


def _follow(document: Document, scripts: dict[str, Document], arguments: dict[str, str], depth: int) -> list[Command]:
    """The training commands of a script, those of a script it calls with positional arguments among them."""
    shell = Shell()
    shell.variables |= {place: text(value) for place, value in arguments.items()}
    shell.run(document.text)
    hits: list[Command] = []
    for command in shell.commands:
        called = _called(command, scripts)
        if called is not None and depth < 4:
            words = [w for w, _ in command.words[called:]]
            given = {str(i): w for i, w in enumerate(words[1:10], 1)}
            hits += _follow(scripts[PurePosixPath(words[0]).name], scripts, given, depth + 1)
        elif sum(_SETTING.fullmatch(w) is not None for w, _ in command.words) > 1:
            hits.append(command)
    return hits


def _called(command: Command, scripts: dict[str, Document]) -> int | None:
    """Where a command names a script that it runs: itself, or behind a shell; `chmod +x script` runs nothing."""
    for place, (word, _) in enumerate(command.words[:3]):
        if PurePosixPath(word).name in scripts:
            return place
        if word not in RUNNERS and not word.startswith("-"):
            return None
    return None


def _settings(commands: list[Command]) -> Map:
    """The settings of the first command that is sure to run, else of the first; an unknown value hides lower layers."""
    chosen = next((c for c in commands if c.certain), commands[0] if commands else None)
    tree = Map()
    for word, line in chosen.words if chosen else []:
        match = _SETTING.fullmatch(word)
        if match is not None:
            value = match.group(2).strip("'\"")
            tree.merged.add(match.group(1))
            tree.put(match.group(1), scalar(value) if known(value) else UNRESOLVED, line)
    return tree


def _slices_of_xpk(reading: Reading, document: Document) -> None:
    """`xpk workload create --tpu-type=v5p-256 --num-slices=2`: the chips of a slice times the slices."""
    shell = Shell()
    shell.run(document.text)
    for command in shell.commands:
        flags = Flags(command.words)
        kind, key, line = flags.get("tpu-type", "device-type")
        size, slices = chips(kind or ""), whole(flags.get("num-slices")[0] or "1")
        if size and slices and any("xpk" in word for word, _ in command.words[:3]):
            reading.state("accelerators", size * slices, f"{key} * --num-slices", line)
            reading.extra["cores_are_devices"] = cores_are_devices(kind or "")
            return


def _remark(reading: Reading, tree: Map, document: Document) -> None:
    """Devices that only comments name: a slice by its type, or nodes times the devices of a node."""
    if reading.get("accelerators"):
        return
    blocks = comment_blocks(document)
    named_devices = _slices(blocks) or _nodes(blocks, tree)
    if len(named_devices) != 1:
        return
    ((devices, line),) = named_devices.items()
    reading.remark("accelerators", devices, "comment", line)
    each = reading.extra.get("per_device_batch")
    if each:
        reading.derive("global_batch", fields.number(each * devices), "accelerators")


def _slices(blocks: list[tuple[int, str]]) -> dict[int, int]:
    """Chips of "on 1 x v5p-512" or "on v5p-1024 slice", with the line of the comment."""
    hits: dict[int, int] = {}
    for line, words in blocks:
        for match in _SLICE.finditer(words):
            size = maxtext_keys.chips(match.group(2))
            if size:
                hits.setdefault(int(match.group(1) or 1) * size, line)
    return hits


def _nodes(blocks: list[tuple[int, str]], tree: Map) -> dict[int, int]:
    """A number of nodes times the product of the ici axes, where all of these are fixed."""
    axes = [number(tree, k) for k in tree if k.startswith("ici_") and k.endswith("_parallelism")]
    if not axes or any(a is None or a <= 0 for a in axes):
        return {}
    each = prod(int(a) for a in axes if a)
    return {int(m.group(1)) * each: line for line, words in blocks if (m := _NODES.fullmatch(words))}
