"""Facts of a reading as the columns of a layout table: what a what-if takes from a script, a config or a log."""

from typing import Any

from etl.importers.counting import arguments
from etl.importers.facts import Reading

LAYOUT = (
    "accelerators", "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "fsdp_shard", "seq_len", "micro_batch", "global_batch",
    "zero_stage", "sequence_parallel", "precision", "recompute",
)  # fmt: skip
"""Columns of a layout that files state, under the same names as the facts."""
KEPT = frozenset({"stated", "derived", "default"})


def layout(reading: Reading) -> dict[str, Any]:
    """Layout columns that the files state or the framework fixes; what only a comment says stays out.

    >>> reading = Reading("megatron_sh")
    >>> reading.state("tp", 4) and reading.remark("accelerators", 64)
    True
    >>> layout(reading)
    {'tp': 4}
    """
    return {name: reading.facts[name].value for name in LAYOUT if name in reading.facts and _kept(reading, name)}


def _kept(reading: Reading, name: str) -> bool:
    return reading.facts[name].origin in KEPT


def model(reading: Reading) -> dict[str, Any]:
    """Architecture facts under the names of a model record; `not_modelled` names parts that no field describes."""
    return arguments(reading)
