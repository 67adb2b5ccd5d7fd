"""Kubernetes manifests: the shell command inside is read by its own format, the devices come from the job around it."""

import re
from collections.abc import Iterator
from math import prod

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.problems import ImporterError
from etl.importers.read.documents import Document
from etl.importers.read.trees import Map, walk

NAME = "kubernetes_yaml"
KINDS = frozenset({"Job", "JobSet", "PyTorchJob", "MPIJob", "RayJob", "Pod", "LeaderWorkerSet", "TrainJob"})
DEVICES = ("nvidia.com/gpu", "amd.com/gpu", "google.com/tpu", "aws.amazon.com/neuron")
TOPOLOGY = "cloud.google.com/gke-tpu-topology"
_CUBE = re.compile(r"\d{1,3}(?:x\d{1,3}){1,2}")


def detect(document: Document) -> float:
    """An API version beside the kind of a job."""
    tree = document.tree
    return 0.9 if "apiVersion" in tree and tree.get("kind") in KINDS else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """Devices of the job, and the facts of the first container whose command a format claims."""
    from etl.importers.formats_list import choose

    reading = Reading(NAME)
    for script, line in _scripts(document.tree):
        inner = Document(document.name, "\n" * (line - 1) + script, "shell")
        try:
            module, inner = choose(inner)
            reading = module.read(inner, companions)
        except ImporterError:
            continue
        if reading.facts:
            break
    reading.format = NAME
    _devices(reading, document.tree)
    return reading


def _scripts(tree: Map) -> Iterator[tuple[str, int]]:
    """Shell texts of the containers, with their lines."""
    for _, node in walk(tree):
        for key in ("args", "command"):
            words = node.get(key)
            for word in words if isinstance(words, list) else []:
                if isinstance(word, str) and len(word.split()) > 3:
                    yield word, node.lines.get(key, node.line)


def _devices(reading: Reading, tree: Map) -> None:
    """A slice of TPUs by its topology times the slices; else pods times the devices that each asks for."""
    slices = pods = 0
    for _, node in walk(tree):
        shape = node.get(TOPOLOGY)
        if isinstance(shape, str) and _CUBE.fullmatch(shape):
            slices = prod(int(side) for side in shape.split("x"))
        pods = pods or whole(node.get("parallelism")) or 0
    jobs = [n for _, n in walk(tree) if isinstance(n.get("template"), Map) and "replicas" in n]
    copies = whole(jobs[0].get("replicas")) if len(jobs) == 1 else 1
    each = {(key, whole(n.get(key))) for _, n in walk(tree) for key in DEVICES if key in n}
    if slices and copies:
        reading.state("accelerators", slices * copies, TOPOLOGY)
    elif len(each) == 1 and pods and copies:
        ((key, count),) = each
        if count:
            reading.state("accelerators", count * pods * copies, key)
