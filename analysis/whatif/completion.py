"""What-if layouts as a person states them: changes in words, and what follows from the degrees that are given."""

from __future__ import annotations

import re
from typing import Any

from analysis.layout.columns import BY_NAME, LAYOUT
from analysis.layout.from_record import IN_HOUSE
from schemas.nearest import did_you_mean
from schemas.refusal import RefusalError

Row = dict[str, Any]
COMMA = re.compile(r",(?![^(]*\))(?=[^,=]*=)")
"""A comma that another field follows: those of a list of layers or within brackets do not count."""


class LayoutError(RefusalError):
    """A layout that cannot be; the text is one sentence with a way out."""


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
