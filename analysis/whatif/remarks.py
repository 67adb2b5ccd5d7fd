"""What follows from the numbers of a what-if layout, in sentences."""

from __future__ import annotations

from itertools import groupby
from typing import Any

import numpy as np

from analysis.engine.breakdown import Breakdown
from analysis.engine.stack import OTHER
from analysis.physics.bubble import classic_bubble
from analysis.physics.pipeline import layers_on_stage
from analysis.records.load import Catalogue

Row = dict[str, Any]


def remarks(row: Row, breakdown: Breakdown, states: float | None, card: float) -> list[str]:
    """What follows from the numbers, in sentences."""
    sentences = [*_split(row), *_bubble(row), *_tensor(row, breakdown, states, card)]
    step = breakdown.prediction
    if np.isfinite(step["mfu"]):
        sentences.append(f"The largest loss is {step['bound_by']}; MFU {100 * step['mfu']:.1f}% with causal attention.")
    return sentences


def assumed(layout: Row, row: Row) -> list[str]:
    """What `complete` filled in of how the work is split and by which software."""
    remarks = []
    if "etp" not in layout and int(row.get("etp", 1)) > 1:
        remarks.append(f"ETP is not given; {row['etp']}, the TP degree, is assumed, as in Megatron.")
    if "stack" not in layout and "stack" in row:
        remarks.append("The software is not given; fused kernels as in Megatron-LM are assumed; --stack names another.")
    elif "stack" not in row:
        remarks.append(
            "The software is not given; a training loop that nothing is known of is assumed; --stack names it."
        )
    return remarks


def unknown_software(row: Row, catalogue: Catalogue) -> list[str]:
    """A sentence where the table of software has no entry by the name that is given."""
    name, known = str(row.get("stack", OTHER)).strip().lower(), sorted({*catalogue.constants["stacks"], OTHER})
    if name in known:
        return []
    listed = ", ".join(one for one in known if one != OTHER)
    return [f"Nothing is known of the software {name!r}; the habits of unknown software are assumed; known: {listed}."]


def _split(row: Row) -> list[str]:
    """Which layers are taken to be on which stage where the stages do not divide them."""
    layers, pp, vpp = int(row.get("layers", 0)), int(row["pp"]), int(row["vpp"])
    if "layers_per_stage" in row or pp == 1 or layers % (pp * vpp) == 0:
        return []
    stages = [layers_on_stage(*(np.asarray(float(n)) for n in (layers, pp, vpp, stage))) for stage in range(pp)]
    shown = ", ".join(
        f"{count:g}" if times == 1 else f"{times} x {count:g}"
        for count, times in ((count, len(list(same))) for count, same in groupby(float(one) for one in stages))
    )
    return [
        f"{layers} layers do not divide by {pp * vpp} stages; assumed per rank: {shown} (layers_per_stage sets it)."
    ]


def _bubble(row: Row) -> list[str]:
    pp, vpp, batch = int(row["pp"]), int(row["vpp"]), row.get("global_batch")
    if pp == 1 or batch is None or row["schedule"] not in ("1f1b", "interleaved", "gpipe"):
        return []
    count = int(batch) / (int(row["dp"]) * int(row.get("micro_batch", 1)))
    plain, loss = (float(classic_bubble(pp, count, chunks, stage=1 / count)) for chunks in (1, vpp))
    text = (
        f"PP {pp} with {count:g} micro-batches idles {plain:.4g} of the ideal time without interleaving, "
        f"so at most {100 / (1 + plain):.1f}% of the step is work"
    )
    if vpp > 1:
        return [f"{text}; {vpp} virtual stages bring the idle share to {loss:.3g}, at most {100 / (1 + loss):.1f}%."]
    return [f"{text}; any MFU near or above that needs interleaving, more micro-batches or fewer stages."]


def _tensor(row: Row, breakdown: Breakdown, states: float | None, card: float) -> list[str]:
    tp = int(row["tp"])
    if tp == 1 and states is not None and np.isfinite(card) and states < card:
        cuts = " x ".join(f"{axis.upper()} {row[axis]}" for axis in ("pp", "ep") if int(row[axis]) > 1)
        by = f"{cuts} and the sharded optimizer leave" if cuts else "The sharded optimizer leaves"
        return [f"No TP is needed for the states: {by} {states:.1f} GiB of {card:.1f} GiB on the fullest stage."]
    link = next((one for one in breakdown.traffic if one.dimension == "tp"), None)
    if link is None:
        return []
    place = "inside the scale-up domain" if link.placement == "scale-up" else "ACROSS the scale-up domain"
    return [
        f"TP {tp} sends {link.bytes_per_step / 1e9:,.0f} GB per step and accelerator {place}, {link.seconds:.2f} s."
    ]
