"""What-if layouts that no training program would start: degrees that do not divide what they cut."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

Row = dict[str, Any]


def contradictions(row: Row) -> Iterator[str]:
    """Sentences on why a complete layout cannot be run, each with a way out; none where it can.

    Parameters
    ----------
    row
        Architecture facts and a layout whose dp is known.

    Source: Megatron-Core's own assertions - heads divide by tensor-parallel ranks, experts by expert-parallel ranks,
    the global batch by micro-batch times data-parallel ranks, and every virtual stage holds a layer (the input and
    output embeddings may count as one each).

    >>> list(contradictions({"heads": 128, "tp": 7}))
    ['128 heads do not divide by TP 7; TP 8 divides them']
    >>> list(contradictions({"heads": 128, "tp": 8, "layers": 126, "pp": 16, "vpp": 8}))
    []
    """
    yield from _cut(row.get("heads"), "heads", int(row.get("tp", 1)), "TP")
    if int(row.get("ep", 1)) > 1 and not row.get("experts"):
        yield f"EP {row['ep']} cuts experts, and the model has none; leave ep at 1"
    yield from _cut(row.get("experts") or None, "experts", int(row.get("ep", 1)), "EP")
    layers, stages = row.get("layers"), int(row.get("pp", 1)) * int(row.get("vpp", 1))
    if layers and stages > int(layers) + 2:
        yield f"PP {row['pp']} x VPP {row.get('vpp', 1)} = {stages} stages for {layers} layers; take fewer stages"
    yield from _batch(row)


def _cut(whole: Any, name: str, ranks: int, axis: str) -> Iterator[str]:
    if whole and int(whole) % ranks:
        near = min((part for part in range(1, int(whole) + 1) if int(whole) % part == 0), key=lambda d: abs(d - ranks))
        yield f"{whole} {name} do not divide by {axis} {ranks}; {axis} {near} divides them"


def _batch(row: Row) -> Iterator[str]:
    if "global_batch" in row and "dp" in row:
        batch, share = int(row["global_batch"]), int(row["dp"]) * int(row.get("micro_batch", 1))
        if batch % share:
            near = max(1, round(batch / share)) * share
            said = f"DP {row['dp']} x micro-batch {row.get('micro_batch', 1)} = {share:,}"
            yield f"a global batch of {batch:,} does not divide by {said}; the nearest that does: {near:,}"
