"""Hand an architecture to the parameter counter: the one place that maps importer words to the counter's arguments."""

from collections.abc import Callable
from typing import Any

from etl.importers.facts import Reading


def count(reading: Reading, counter: Callable[..., Any] | None) -> None:
    """Derive params_total and params_active when the file fixes the whole architecture.

    A format module that knows enough sets `reading.architecture["complete"] = True` and adds what the fields do not carry
    (`gated_mlp`, `mla` and its ranks, biases, norms); others leave it out, and then nothing is counted.
    """
    if counter is None or not reading.architecture.get("complete"):
        return
