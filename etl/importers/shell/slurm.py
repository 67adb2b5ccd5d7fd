"""What a batch header and a launcher say about nodes and devices."""

import re
from collections.abc import Iterable, Mapping

from etl.importers.fields import whole
from etl.importers.read.documents import Document
from etl.importers.shell.flags import Flags
from etl.importers.shell.follow import Shell
from etl.importers.shell.tree import Command
from etl.importers.shell.values import Rope, Value, text

_HEADER = re.compile(r"^#SBATCH\s+(.*)$", re.M)
_PBS = re.compile(r"^#(?:PBS\s+-l\s+(?:select|rt_QF)=(\d+)(?:\S*?:ngpus=(\d+))?|\$\s+-l\s+rt_A?F=(\d+))", re.M)
_GRES = re.compile(r"(?:gpu|npu|dcu)(?::[A-Za-z][\w.-]*)?:(\d+)")
_SHORT = {"-N": "nodes", "-n": "ntasks", "-G": "gpus"}
NODE_NAMES = (
    "NNODES",
    "NUM_NODES",
    "SLURM_NNODES",
    "SLURM_JOB_NUM_NODES",
    "NODES",
    "WORLD_NODES",
    "DGXNNODES",
    "N_NODES",
    "NODE_NUM",
)
DEVICE_NAMES = (
    "GPUS_PER_NODE", "NUM_GPUS_PER_NODE", "NPUS_PER_NODE", "GPU_PER_NODE", "NPROC_PER_NODE", "SLURM_GPUS_PER_NODE",
    "DGXNGPU",
    "SLURM_GPUS_ON_NODE", "NGPUS_PER_NODE", "N_GPUS_PER_NODE", "NUM_GPUS_PER_WORKER",
)  # fmt: skip

NODE_FLAGS = ("nnodes", "num-nodes", "actor-num-nodes")

Count = tuple[int, str, int | None]


def header(documents: Iterable[Document]) -> dict[str, tuple[str, int]]:
    """Options of `#SBATCH` lines by long name, with lines; an earlier document wins, within one the last line wins."""
    hits: dict[str, tuple[str, int]] = {}
    for document in documents:
        own: dict[str, tuple[str, int]] = {}
        for match in _HEADER.finditer(document.text):
            line = document.text.count("\n", 0, match.start()) + 1
            words = match.group(1).partition(" #")[0].strip()
            option = re.match(r"(--?[\w-]+)(?:\s*=\s*|\s+)(\S+)", words)
            if option:
                own[_SHORT.get(option.group(1), option.group(1).lstrip("-"))] = (option.group(2), line)
        hits = {**_other_headers(document), **own, **hits}
    return hits


def _other_headers(document: Document) -> dict[str, tuple[str, int]]:
    """Nodes of `#PBS -l select=16` and of `#$ -l rt_F=16`, with devices per node where `ngpus` states them."""
    hits: dict[str, tuple[str, int]] = {}
    for match in _PBS.finditer(document.text):
        line = document.text.count("\n", 0, match.start()) + 1
        hits["nodes"] = (match.group(1) or match.group(3), line)
        if match.group(2):
            hits["gpus-per-node"] = (match.group(2), line)
    return hits


def per_node(options: dict[str, tuple[str, int]]) -> Count | None:
    """Devices of one node: `--gpus-per-node=4`, `--gpus-per-node=a100:4`, `--gres=gpu:8`."""
    for name in ("gpus-per-node", "gres"):
        raw, line = options.get(name, ("", 0))
        match = _GRES.search(raw)
        value = whole(match.group(1) if match else raw.rpartition(":")[2])
        if value:
            return value, f"#SBATCH --{name}", line
    return None


def environment(shell: Shell, options: dict[str, tuple[str, int]]) -> None:
    """Set the variables a batch system derives from its header."""
    nodes, devices = options.get("nodes"), per_node(options)
    tasks = options.get("ntasks-per-node")
    values = {
        "NHOSTS": nodes,
        "SLURM_NNODES": nodes,
        "SLURM_JOB_NUM_NODES": nodes,
        "SLURM_NTASKS_PER_NODE": tasks,
        "SLURM_TASKS_PER_NODE": tasks,
    }
    for name in ("SLURM_GPUS_PER_NODE", "SLURM_GPUS_ON_NODE"):
        values[name] = (str(devices[0]), devices[2] or 0) if devices else None
    if nodes and tasks and whole(nodes[0]) and whole(tasks[0]):
        product = str(int(nodes[0]) * int(tasks[0]))
        values |= {"SLURM_NTASKS": (product, nodes[1]), "SLURM_NPROCS": (product, nodes[1])}
    for name, value in values.items():
        if value and whole(value[0]) is not None:
            shell.variables[name] = text(value[0], value[1])
            shell.where[name] = value[1]


def launched(flags: Flags) -> Count | None:
    """Devices that the launcher in a command names: nodes times processes per node, or processes in all."""
    nodes, key, line = flags.get("nnodes", "num-nodes", "actor-num-nodes")
    each, _, _ = flags.get("nproc-per-node", "num-gpus", "actor-num-gpus-per-node")
    if whole(nodes) and whole(each):
        return int(nodes or 0) * int(each or 0), f"{key} * processes per node", line
    total, key, line = flags.get("np")
    if whole(total) and any(word.startswith("mpi") for word in flags.positional):
        return int(total or 0), "-np", line
    return None


def per_process(flags: Flags) -> Count | None:
    """Processes that a launcher starts on one node: torchrun's `--nproc_per_node`, DeepSpeed's `--num_gpus`."""
    each, key, line = flags.get("nproc-per-node", "num-gpus")
    return (int(each or 0), key, line) if whole(each) else None


def one_node(
    shell: Shell, flags: Flags, options: dict[str, tuple[str, int]], command: Command | None
) -> tuple[int, str] | None:
    """Devices of a launcher that names processes and no nodes: one node is what torchrun and DeepSpeed take then.

    A batch header with several nodes, or a number of nodes that is not known, leaves it open.
    """
    if any(name in flags for name in (*NODE_FLAGS, "hostfile", "deepspeed-hostfile")) or "nodes" in options:
        return None
    env = command.env if command else {}
    named = [name for name in NODE_NAMES if name in shell.variables or name in env]
    if named:
        return None
    hits = per_process(flags) or _variable(shell, ("NPROC_PER_NODE",), env)
    return None if hits is None else (hits[0], f"the launcher starts one node: {hits[1]} (line {hits[2] or 0})")


def submitted(commands: Iterable[Command]) -> dict[str, tuple[str, int]]:
    """Options of an `sbatch --nodes=N script` call; they beat the header of the script."""
    hits: dict[str, tuple[str, int]] = {}
    for command in commands:
        if command.words[0][0] == "sbatch":
            for name, use in Flags(command.words[1:]).uses.items():
                if use.first is not None:
                    hits[_SHORT.get(f"-{name}", name)] = (use.first, use.line)
    return hits


def devices(
    shell: Shell, flags: Flags, options: dict[str, tuple[str, int]], command: Command | None = None
) -> Count | None:
    """Devices of the run, from the launcher, from variables named for it, or from the batch header."""
    if hits := launched(flags):
        return hits
    env = command.env if command else {}
    nodes, each = _variable(shell, NODE_NAMES, env), _variable(shell, DEVICE_NAMES, env) or per_process(flags)
    if nodes and each and not any(flags.uses[n].open for n in NODE_FLAGS if n in flags):
        return nodes[0] * each[0], f"{nodes[1]} * {each[1]}", nodes[2]
    stated, own = options.get("nodes"), per_node(options) or each
    if stated and whole(stated[0]) and own:
        return int(stated[0]) * own[0], f"#SBATCH --nodes * {own[1]}", stated[1]
    return None


def _variable(shell: Shell, names: Iterable[str], env: Mapping[str, Value]) -> Count | None:
    for name in names:
        given = env.get(name)
        value = whole(str(given)) if isinstance(given, Rope) else whole(shell.word(name))
        if value:
            return value, name, shell.where.get(name)
    return None
