"""Hand an architecture to the parameter counter: the one place that maps importer words to the counter's arguments."""

import math
from collections.abc import Callable
from typing import Any

from etl.importers.facts import Reading

# Facts that the counter reads under the same name; everything else it needs stands in `Reading.architecture`.
SHARED_NAMES = (
    "layers", "hidden", "ffn_hidden", "heads", "kv_heads", "head_dim", "vocab", "tied_embeddings", "experts",
    "experts_per_token",
    "moe_ffn_hidden", "sliding_window", "sliding_window_layers", "mtp_layers", "shared_ffn_hidden", "dense_layers",
    "moe_layer_step",
)  # fmt: skip
BESIDE_THE_MODEL = frozenset({"mtp_layers"})
"""Trained beside the model; a published total leaves it out."""
PRIVATE = frozenset({"complete", "more", "moe_pattern", "blocks", "total", "active", "shared_unclear", "rows"})


def count(reading: Reading, counter: Callable[[dict[str, Any]], Any] | None) -> None:
    """Derive params_total and, with experts, params_active when the file fixes the whole architecture.

    `counter` takes one mapping of facts and returns at least `total` and `active`. A format module that knows enough
    sets `reading.architecture["complete"] = True` and adds what the fields do not carry (`gated_mlp`, `mla` and its
    ranks, biases, norms; `rows`: embedding rows where they differ from the vocabulary; `more`: parameters beyond a
    plain decoder), or gives `total` and `active` itself.
    """
    arch = reading.architecture
    if arch.get("total"):
        _state(reading, arch["total"], arch.get("active"))
    elif counter is not None and arch.get("complete"):
        counted = counter({k: v for k, v in arguments(reading).items() if k not in BESIDE_THE_MODEL})
        more = arch.get("more", 0)
        total, active = float(counted["total"]), float(counted["active"])
        if math.isfinite(total) and total > 0:
            _state(reading, int(total) + more, int(active) + more if reading.get("experts") else None)


def _state(reading: Reading, total: int, active: int | None) -> None:
    parents = [name for name in SHARED_NAMES if name in reading.facts]
    reading.derive("params_total", total, *parents)
    if active is not None:
        reading.derive("params_active", active, *parents)


def arguments(reading: Reading) -> dict[str, Any]:
    """The facts of a reading as the counter's mapping; shared experts become one width."""
    arch = reading.architecture
    facts = {name: reading.get(name) for name in SHARED_NAMES if name in reading.facts}
    facts |= {name: value for name, value in arch.items() if name not in PRIVATE}
    facts["vocab"] = arch.get("rows") or facts.get("vocab")
    shared, width = reading.get("shared_experts"), reading.get("moe_ffn_hidden")
    if "shared_ffn_hidden" not in facts and shared and width:
        facts["shared_ffn_hidden"] = shared * width
    return {name: float(value) if isinstance(value, bool) else value for name, value in facts.items()}
