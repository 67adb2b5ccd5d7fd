"""Does the layout multiply, divide and stay inside the fast domain?"""

from __future__ import annotations

from dataclasses import replace
from math import prod
from typing import Any

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Values, Verdict, check

AXES = ("tp", "cp", "pp", "dp")
FILLERS = 4
"""Places of a pipeline that something other than a layer may take."""


def dp_of_batch(case: Case) -> Values | None:
    """The data-parallel degree that the batch implies, with its equation."""
    if not all(name in case for name in ("sequences_per_dp", "seq_len", "global_batch_tokens")):
        return None
    per_rank, length, batch = case.need("sequences_per_dp", "seq_len", "global_batch_tokens")
    tokens = as_span(batch).best
    return {"batch": tokens, "sequences": per_rank, "length": length, "implied": tokens / (per_rank * length)}


@check("layout-product", "phase")
def layout_product(case: Case) -> Verdict | None:
    """TP x CP x PP x DP is the accelerator count; the batch is the second witness of DP."""
    if not any(axis in case for axis in AXES):
        return None
    accelerators = as_span(case.need("accelerators"))
    # A source without context parallelism does not mention it; the other three have to be stated.
    degrees = {axis: case.need(axis) for axis in AXES if axis in case or axis != "cp"}
    product = prod(degrees.values())
    span = Span(accelerators.low, product, accelerators.high)
    values: Values = {"degrees": degrees, "product": product, "accelerators": accelerators.best}
    if accelerators.low <= product <= accelerators.high:
        return Verdict("plausible", "fits", values, span, "accelerators")
    witness = dp_of_batch(case)
    if witness is None:
        return Verdict("impossible", "differs", values, span, "accelerators")
    settles = abs(witness["implied"] * (product // degrees["dp"]) / accelerators.best - 1) <= 0.05
    reason = "settled" if settles else "differs-with-witness"
    return Verdict("impossible", reason, values | witness, span, "accelerators")


@check("batch-witness", "phase")
def batch_witness(case: Case) -> Verdict | None:
    """DP x sequences per rank x sequence length is the tokens of a batch."""
    if "sequences_per_dp" not in case:
        return None
    dp, per_rank, length, batch = case.need("dp", "sequences_per_dp", "seq_len", "global_batch_tokens")
    tokens, stated = dp * per_rank * length, as_span(batch)
    values = {"dp": dp, "sequences": per_rank, "length": length, "tokens": tokens, "batch": stated.best}
    # "16M tokens" is written for 2^24 = 16.8M as often as for 16.0M.
    fits = stated.low * 0.95 <= tokens <= stated.high * 1.05
    status, reason = ("plausible", "agrees") if fits else ("impossible", "contradicts")
    return Verdict(status, reason, values, Span(stated.low, tokens, stated.high), "tokens")


@check("expert-product", "phase")
def expert_product(case: Case) -> Verdict | None:
    """ETP x EP x PP divides the accelerator count; with EDP it is the count."""
    if "ep" not in case:
        return None
    accelerators, _, _ = case.need("accelerators", "ep", "pp")
    count = as_span(accelerators)
    # A degree that is not stated is left out of the product, which then has to divide the count.
    degrees = {axis: case[axis] for axis in ("ep", "etp", "pp", "edp") if axis in case}
    group = prod(degrees.values())
    fits = count.low <= group <= count.high if "edp" in case and "etp" in case else count.best % group == 0
    status, reason = ("plausible", "fits") if fits else ("impossible", "differs")
    values = {"degrees": degrees, "product": group, "accelerators": count.best}
    return Verdict(status, reason, values, Span(0, group, count.high), "accelerators")


def _divisions(case: Case) -> list[Values]:
    """Every division that has to be exact: what, amount, by what, divisor."""
    tp, pp, cp = (case.get(axis, 1) for axis in ("tp", "pp", "cp"))
    rows: list[tuple[str, Any, str, Any]] = [("heads", case.get("heads"), "tp", tp)]
    if "vpp" in case and "layers_per_stage" not in case:
        rows.append(("layers", case.get("layers"), "pp-vpp", pp * case["vpp"]))
    if "global_batch" in case and "micro_batch" in case and "dp" in case:
        batch = round(as_span(case["global_batch"]).best)
        rows.append(("sequences", batch, "micro-batch-dp", case["micro_batch"] * case["dp"]))
    if cp > 1:
        rows.append(("tokens-of-a-sequence", case.get("seq_len"), "cp-halves", 2 * cp))
    names = ("what", "amount", "by", "divisor")
    return [dict(zip(names, row, strict=True)) for row in rows if row[1] is not None and row[3] > 1]


@check("divisibility", "phase")
def divisibility(case: Case) -> Verdict | None:
    """Heads by TP, layers by PP x VPP, the batch by micro-batch x DP, the sequence by 2 CP."""
    rows = _divisions(case)
    if not rows:
        return None
    bad = next((row for row in rows if row["amount"] % row["divisor"]), None)
    if bad is None:
        return Verdict("plausible", "exact", {"divisions": rows})
    left = bad["amount"] % bad["divisor"]
    # Embedding, head, prediction depths and no-op layers fill a few places (Llama 3.1: 126 + 2 on 128, Pangu Ultra MoE:
    # 61 + 3 on 64); a ragged batch can be padded.
    filled = bad["what"] == "layers" and -bad["amount"] % bad["divisor"] <= FILLERS
    status = "strained" if filled or bad["what"] == "sequences" else "impossible"
    return Verdict(status, "remainder", bad | {"left": left}, Span(0, left, 0))


@check("layers-per-stage", "phase")
def layers_per_stage(case: Case) -> Verdict | None:
    """The stated split over stages holds every layer, one entry per (virtual) stage."""
    if "layers_per_stage" not in case:
        return None
    split = list(case["layers_per_stage"])
    layers, pp = case.need("layers", "pp")
    fits = sum(split) == layers and len(split) in (pp, pp * case.get("vpp", 1))
    values = {"entries": len(split), "total": sum(split), "pp": pp, "layers": layers}
    return Verdict("plausible" if fits else "impossible", "split", values, Span(layers, sum(split), layers), "layers")


def _domain(case: Case, degree: int) -> Verdict:
    domain = case.need("scale_up_domain")
    status, reason = ("plausible", "inside") if degree <= domain else ("strained", "across")
    return Verdict(status, reason, {"degree": degree, "domain": domain}, Span(0, degree, domain), "accelerators")


@check("tp-inside-domain", "phase")
def tp_inside_domain(case: Case) -> Verdict | None:
    """Tensor parallelism, which communicates most, stays on the scale-up links."""
    return _domain(case, case["tp"]) if "tp" in case else None


@check("ep-inside-domain", "phase")
def ep_inside_domain(case: Case) -> Verdict | None:
    """Where the all-to-all of expert parallelism goes; leaving the domain is a choice, not an error."""
    if case.get("ep", 1) == 1:
        return None
    return replace(_domain(case, case["ep"] * case.get("etp", 1)), status="plausible")
