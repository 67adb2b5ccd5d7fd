"""Does the layout multiply, divide and stay inside the fast domain?"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Values, Verdict, check, compare
from schemas.axes import BY_NAME, EXPERT_FACTORS, FACTORS
from schemas.identities import Outcome, apply, sequence_chunks


def dp_of_batch(case: Case) -> Values | None:
    """The data-parallel degree that the batch implies, with its equation."""
    if not all(name in case for name in ("sequences_per_dp", "seq_len", "global_batch_tokens")):
        return None
    per_rank, length, batch = case.need("sequences_per_dp", "seq_len", "global_batch_tokens")
    tokens = as_span(batch).best
    return {"batch": tokens, "sequences": per_rank, "length": length, "implied": tokens / (per_rank * length)}


@check("layout-product", "phase", decisive=True)
def layout_product(case: Case) -> Verdict | None:
    """TP x CP x PP x DP is the accelerator count; the batch is the second witness of DP."""
    if not any(axis in case for axis in FACTORS):
        return None
    accelerators = as_span(case.need("accelerators"))
    # A source without context parallelism does not mention it; the other three have to be stated.
    degrees = {axis: case.need(axis) for axis in FACTORS if axis in case or BY_NAME[axis].unset == "unknown"}
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


@check("batch-witness", "phase", decisive=True)
def batch_witness(case: Case) -> Verdict | None:
    """DP x sequences per rank x sequence length is the tokens of a batch."""
    if "sequences_per_dp" not in case:
        return None
    dp, per_rank, length, batch = case.need("dp", "sequences_per_dp", "seq_len", "global_batch_tokens")
    tokens, stated = dp * per_rank * length, as_span(batch)
    values = {"dp": dp, "sequences": per_rank, "length": length, "tokens": tokens, "batch": stated.best}
    status, _, _ = compare("batch-in-tokens-of-replicas", stated, as_span(tokens))
    reason = "agrees" if status == "plausible" else "contradicts"
    return Verdict(status, reason, values, Span(stated.low, tokens, stated.high), "tokens")


@check("expert-product", "phase", decisive=True)
def expert_product(case: Case) -> Verdict | None:
    """ETP x EP x PP divides the accelerator count; with EDP it is the count."""
    if "ep" not in case:
        return None
    count, _, _ = case.need("accelerators", "ep", "pp")
    # A degree that is not stated is left out of the product, which then has to divide the count.
    degrees = {axis: case[axis] for axis in EXPERT_FACTORS if axis in case}
    outcome = apply("expert-axes-multiply", degrees | {"accelerators": as_span(count).best})
    group = prod(degrees.values())
    holds = outcome is None or outcome.holds or as_span(count).low <= group <= as_span(count).high
    status, reason = ("plausible", "fits") if holds else ("impossible", "differs")
    values = {"degrees": degrees, "product": group, "accelerators": as_span(count).best}
    return Verdict(status, reason, values, Span(0, group, as_span(count).high), "accelerators")


DIVISIONS = {
    "heads-divide": ("heads", "tp"),
    "kv-heads-divide": ("kv-heads", "tp"),
    "experts-divide": ("experts", "ep"),
    "layers-divide": ("layers", "pp-vpp"),
    "batch-divides": ("sequences", "micro-batch-dp"),
    "sequence-divides": ("tokens-of-a-sequence", "sequence-chunks"),
}
"""Identities of division, and the words for what is divided and by what."""


def _numbers(case: Case) -> Values:
    """The whole numbers that the divisions read."""
    names = ("heads", "kv_heads", "experts", "layers", "seq_len", "tp", "ep", "pp", "vpp", "dp", "micro_batch")
    values: Values = {name: case[name] for name in names if name in case}
    if "global_batch" in case:
        values["global_batch"] = round(as_span(case["global_batch"]).best)
    if "cp" in case or "sequence_parallel" in case:
        parallel = bool(case.get("sequence_parallel", False))
        values["sequence_chunks"] = sequence_chunks(case.get("tp", 1), case.get("cp", 1), parallel)
    # Stages without interleaving may differ; a stated split is checked for itself.
    if "vpp" not in case or "layers_per_stage" in case:
        values.pop("layers", None)
    if values.get("kv_heads", 0) < values.get("tp", 1) and values.get("tp", 1) % values.get("kv_heads", 1) == 0:
        values.pop("kv_heads", None)  # each group is repeated on some of the ranks
    return values


@check("divisibility", "phase")
def divisibility(case: Case) -> Verdict | None:
    """Heads by TP, experts by EP, layers by PP x VPP, the batch by micro-batch x DP, the sequence by its chunks."""
    applied = [apply(name, _numbers(case)) for name in DIVISIONS]
    outcomes = [one for one in applied if one is not None and one.right > 1]
    if not outcomes:
        return None
    bad = next((one for one in outcomes if not one.holds), None)
    if bad is None:
        return Verdict("plausible", "exact", {"divisions": [_division(one) for one in outcomes]})
    left = bad.left % bad.right
    return Verdict(bad.status, "remainder", _division(bad) | {"left": left}, Span(0, left, 0))


def _division(one: Outcome) -> Values:
    what, by = DIVISIONS[one.identity.name]
    return {"what": what, "amount": one.left, "by": by, "divisor": int(one.right)}


@check("layers-per-stage", "phase", decisive=True)
def layers_per_stage(case: Case) -> Verdict | None:
    """The stated split over stages holds every layer, one entry per (virtual) stage."""
    if "layers_per_stage" not in case:
        return None
    split = list(case["layers_per_stage"])
    layers, pp = case.need("layers", "pp")
    facts = {"layers_per_stage": split, "layers": layers, "pp": pp, "vpp": case.get("vpp")}
    outcomes = [apply(name, facts) for name in ("layers-sum", "stages-count")]
    holds = all(one is None or one.holds for one in outcomes)
    values = {"entries": len(split), "total": sum(split), "pp": pp, "layers": layers}
    return Verdict("plausible" if holds else "impossible", "split", values, Span(layers, sum(split), layers), "layers")


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
