"""MLPerf system descriptions: how many accelerators a submission ran on."""

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.read.documents import Document

NAME = "mlperf_json"
KEYS = ("number_of_nodes", "accelerators_per_node")


def detect(document: Document) -> float:
    """A JSON object with nodes and accelerators per node."""
    return 0.95 if all(key in document.tree for key in KEYS) else 0.0


def read(document: Document, _companions: list[Document]) -> Reading:
    """Nodes times accelerators per node; both are often written as text."""
    reading = Reading(NAME)
    tree = document.tree
    nodes, each = (whole(tree.get(key)) for key in KEYS)
    if nodes and each:
        reading.state("accelerators", nodes * each, " * ".join(KEYS), tree.lines.get(KEYS[0]))
    return reading
