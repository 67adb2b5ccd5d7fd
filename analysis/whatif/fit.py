"""What-if: does a layout fit, where do its bytes and seconds go, and what limits it; one or several side by side."""

from __future__ import annotations

import re
from dataclasses import dataclass, field
from itertools import groupby
from typing import Any

import numpy as np

from analysis.engine.breakdown import Breakdown, break_down, states_gib
from analysis.layout.columns import BY_NAME, LAYOUT, MODEL, in_base_units
from analysis.layout.from_record import IN_HOUSE, leanest
from analysis.physics.bubble import classic_bubble
from analysis.physics.pipeline import layers_on_stage
from analysis.records.facts import Facts
from analysis.records.load import Catalogue
from analysis.records.spans import Span
from analysis.whatif.amounts import Amounts, amounts
from analysis.whatif.divisibility import contradictions, without_effect
from analysis.whatif.neighbours import Neighbour
from analysis.whatif.sensitivity import Flip
from schemas.capacity import GIB
from schemas.nearest import did_you_mean
from schemas.refusal import RefusalError

Row = dict[str, Any]
COMMA = re.compile(r",(?![^(]*\))(?=[^,=]*=)")
"""A comma that another field follows: those of a list of layers or within brackets do not count."""
EXIT_CODES = {"could-fit": 0, "does-not-fit": 1, "unknown": 3}


class LayoutError(RefusalError):
    """A layout that cannot be; the text is one sentence with a way out."""


@dataclass(frozen=True)
class Fit:
    """One layout, what the engine finds, and what follows from it in words."""

    layout: Row
    breakdown: Breakdown
    card_gib: float
    states: float | None
    verdict: str
    why: str
    remarks: list[str]
    amounts: Amounts | None = None
    peak_tflops: float = float("nan")
    nearest: list[Neighbour] = field(default_factory=list)
    flips: list[Flip] = field(default_factory=list)

    def as_json(self) -> dict[str, Any]:
        """Plain numbers and texts; what is not known is null."""
        step = {name: _plain(value) for name, value in self.breakdown.prediction.items() if name != "id"}
        stages = self.breakdown.memory_gib
        return {
            "layout": {k: v for k, v in self.layout.items() if k not in MODEL and k != "id"},
            "verdict": self.verdict,
            "why": self.why,
            "card_gib": _plain(self.card_gib),
            "states_at_least_gib": self.states,
            **step,
            "mfu_divides_by_tflops": _plain(self.peak_tflops),
            "amounts": amounts_json(self.amounts),
            "memory_gib_by_stage": {part: [round(float(v), 4) for v in stages[part]] for part in stages},
            "seconds_by_part": self.breakdown.seconds,
            "communication": [link.__dict__ for link in self.breakdown.traffic],
            "remarks": self.remarks,
            "flips": [flip.__dict__ for flip in self.flips],
            "nearest_measured": [{k: _plain(v) for k, v in one.__dict__.items()} for one in self.nearest],
        }


def _plain(value: Any) -> Any:
    if isinstance(value, (float, np.floating)):
        return float(value) if np.isfinite(value) else None
    return value


def complete(row: Row) -> Row:
    """Derive what a layout leaves open by its own arithmetic: dp, sequence parallelism, the schedule; and ETP as
    Megatron does, where experts are split by TP unless ETP is given, with its software where anything is split.

    Raises
    ------
    LayoutError
        The degrees do not multiply to the accelerators; the sentence names the nearest that do.

    >>> complete({"accelerators": 64, "tp": 8, "pp": 4})["dp"]
    2
    """
    tp, cp, pp = (int(row.get(axis, 1)) for axis in ("tp", "cp", "pp"))
    one: Row = dict.fromkeys(("tp", "cp", "pp", "ep", "vpp"), 1)
    row = one | row
    group, world = tp * cp * pp, int(row["accelerators"])
    if "dp" not in row and world % group == 0:
        row["dp"] = world // group
    if group * int(row.get("dp", 0)) != world:
        raise LayoutError(_nearest(row, group, world))
    row.setdefault("sequence_parallel", tp > 1)
    if int(row["ep"]) > 1 and tp > 1 and (world // pp) % (int(row["ep"]) * tp) == 0:
        row.setdefault("etp", tp)
    row.setdefault("schedule", "interleaved" if int(row["vpp"]) > 1 else "1f1b")
    if tp * pp > 1:
        row.setdefault("stack", IN_HOUSE)
    return row


def _nearest(row: Row, group: int, world: int) -> str:
    shown = f"TP {row['tp']} x CP {row['cp']} x PP {row['pp']}"
    sentences = f"{shown} x DP {row['dp']} = {group * int(row['dp']):,}" if "dp" in row else f"{shown} = {group:,}"
    relation = "is not" if "dp" in row else "does not divide"
    dp = max(1, round(world / group))
    return (
        f"{sentences}, which {relation} the {world:,} accelerators; the nearest that does: "
        f"DP {dp} on {group * dp:,} accelerators" + (f", or DP {world // group}" if world % group == 0 else "")
    )


def parse_change(text: str, option: str = "--vs") -> Row:
    """A change of a layout in words: comma-separated field=value, as an option of the command line takes it.

    >>> parse_change("tp=4,recompute=full")
    {'tp': 4, 'recompute': 'full'}
    >>> parse_change("recompute=selective (mlp,moe_act)")
    {'recompute': 'selective (mlp,moe_act)'}
    """
    change: Row = {}
    for item in filter(None, (part.strip() for part in COMMA.split(text))):
        name, sign, value = item.partition("=")
        name = name.strip().replace("-", "_")
        if not sign or name not in LAYOUT:
            tip = did_you_mean(name, LAYOUT, f"fields: {', '.join(LAYOUT)}")
            raise LayoutError(f"{option} takes field=value with a field of a layout, not {item!r}; {tip}")
        change[name] = _value(name, value.strip(), option)
    return change


def _value(name: str, text: str, option: str) -> Any:
    kind = BY_NAME[name].kind
    if kind in ("count", "tally"):
        if not (text.isascii() and text.isdigit()) or (int(text[:30]) < 1 and kind == "count"):
            raise LayoutError(f"{option} {name} takes a whole number from 1, not {text[:30]!r}")
        return int(text)
    if kind == "flag":
        return text.lower() in ("true", "yes", "1")
    return text


def amounts_json(made: Amounts | None) -> dict[str, Any] | None:
    """Amounts as plain numbers with their bounds; null where they are not known."""
    if made is None:
        return None
    spans = {name: value for name, value in made.__dict__.items() if value is not None}
    return {name: {"low": span.low, "best": span.best, "high": span.high} for name, span in spans.items()}


def fit(model: Facts, layout: Row, catalogue: Catalogue, tokens: float | None = None) -> Fit:
    """Judge one layout of one model.

    Parameters
    ----------
    model
        Architecture facts.
    layout
        Columns of a layout row; see `complete` for what is derived.
    catalogue
        Accelerators and constants.
    tokens
        Of the whole run, where days, hours and energy are wanted.

    Raises
    ------
    LayoutError
        The degrees do not multiply, or do not divide what they cut.
    """
    row = {name: model[name] for name in MODEL if name in model} | complete(layout) | {"id": "fit"}
    wrong = [*without_effect(layout, row), *contradictions(row)]
    if wrong:
        raise LayoutError("; ".join(wrong))
    breakdown = break_down(row, catalogue)
    states = states_gib([leanest(row)[0]], catalogue)[0]
    card = card_gib(str(row["accelerator"]), catalogue)
    verdict, why = _judge(breakdown, states, card)
    sentences = [*remarks(row, breakdown, states, card), *_assumed(layout, row)]
    part = chip_figures(str(row["accelerator"]), catalogue)
    made = _amounts(row, breakdown, part.get("tdp", float("nan")), tokens)
    half = "fp16" if row.get("precision") == "fp16" else "bf16"
    peak = part.get(half, float("nan")) / TERA
    return Fit(row, breakdown, card, states, verdict, why, sentences, made, peak)


TERA = 1e12


def chip_figures(accelerator: str, catalogue: Catalogue) -> dict[str, float]:
    """Figures of one accelerator in base units; empty where it is not on record."""
    table = in_base_units(catalogue.accelerators)
    if accelerator not in table.index:
        return {}
    return {str(name): float(table[name].to_dict()[accelerator]) for name in table}


def _amounts(row: Row, breakdown: Breakdown, watts: float, tokens: float | None) -> Amounts | None:
    """Speeds and what a run takes; None where the step time is not known."""
    step = [float(breakdown.prediction[f"step_time_s{end}"]) for end in ("_low", "", "_high")]
    if not np.isfinite(step).all():
        return None
    per_step = float(row["global_batch"]) * float(row["seq_len"])
    power = watts if np.isfinite(watts) else None
    return amounts(Span(*step), per_step, float(row["accelerators"]), tokens, power)


def card_gib(accelerator: str, catalogue: Catalogue) -> float:
    """Memory of the accelerator that a program can have [GiB]; NaN when not known."""
    return float(in_base_units(catalogue.accelerators)["card"].get(accelerator, float("nan"))) / GIB


def _judge(breakdown: Breakdown, states: float | None, card: float) -> tuple[str, str]:
    step = breakdown.prediction
    peak, low, high = (float(step[name]) for name in ("memory_gib", "memory_gib_low", "memory_gib_high"))
    if states is not None and states > card:
        return "does-not-fit", f"weights, gradients and optimizer alone take {states:.1f} GiB of {card:.1f} GiB"
    if not np.isfinite(peak) or not np.isfinite(card):
        return "unknown", breakdown.missing or "the memory of the accelerator is not known"
    shown = f"modelled peak {peak:.1f} GiB ({low:.1f} to {high:.1f}) of {card:.1f} GiB"
    if low > card:
        return "does-not-fit", f"{shown}: even the low end is more than the card has"
    return "could-fit", f"{shown}{': it likely does not fit' if peak > card else ''}"


def remarks(row: Row, breakdown: Breakdown, states: float | None, card: float) -> list[str]:
    """What follows from the numbers, in sentences."""
    sentences = [*_split(row), *_bubble(row), *_tensor(row, breakdown, states, card)]
    step = breakdown.prediction
    if np.isfinite(step["mfu"]):
        sentences.append(f"The largest loss is {step['bound_by']}; MFU {100 * step['mfu']:.1f}% with causal attention.")
    return sentences


def _assumed(layout: Row, row: Row) -> list[str]:
    """What `complete` filled in of how the work is split and by which software."""
    remarks = []
    if "etp" not in layout and int(row.get("etp", 1)) > 1:
        remarks.append(f"ETP is not given; {row['etp']}, the TP degree, is assumed, as in Megatron.")
    if "stack" not in layout and "stack" in row:
        remarks.append("The software is not given; fused kernels as in Megatron-LM are assumed; --stack names another.")
    return remarks


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
