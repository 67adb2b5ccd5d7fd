"""The YAML of an MLPerf submission: its values are variables that the submission's shell files export."""

from etl.importers.facts import Reading
from etl.importers.formats.mlperf.mlperf_sh import read_yaml_keys
from etl.importers.read.documents import Document
from etl.importers.read.resolve import resolve
from etl.importers.shell.follow import Shell

NAME = "mlperf_yaml"
MARKS = ("oc.env:DGXNNODES", "oc.env:TENSOR_MODEL_PARALLEL", "oc.env:MINIBS", "oc.env:DGXNGPU")


def detect(document: Document) -> float:
    """A YAML file that takes its layout from MLPerf variables."""
    return 0.97 if any(mark in document.text for mark in MARKS) else 0.0


def read(document: Document, companions: list[Document]) -> Reading:
    """Read the keys with the variables of the shell files passed beside it."""
    shell = Shell(lambda name: next((c.text for c in companions if c.name.endswith(name)), None) if name else None)
    for script in companions:
        if script.kind == "shell":
            shell.run(script.text)
    known = {name: word for name in shell.variables if (word := shell.word(name)) is not None}
    reading = Reading(NAME)
    read_yaml_keys(reading, resolve(document.tree, known))
    reading.extra["cap"] = True
    return reading
