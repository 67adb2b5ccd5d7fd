"""Does the layout multiply, divide and stay inside the fast domain?"""

from __future__ import annotations

from dataclasses import replace
from math import prod

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Verdict, check, found, text_of

AXES = ("tp", "cp", "pp", "dp")
FILLERS = 4
"""Places of a pipeline that something other than a layer may take."""


def dp_of_batch(case: Case) -> tuple[float, str] | None:
    """The data-parallel degree that the batch implies, with its equation."""
    if not all(name in case for name in ("sequences_per_dp", "seq_len", "global_batch_tokens")):
        return None
    per_rank, length, batch = case.need("sequences_per_dp", "seq_len", "global_batch_tokens")
    implied = as_span(batch).best / (per_rank * length)
    return implied, f"DP {text_of(batch)} / ({per_rank} x {text_of(length)}) = {implied:.3g}"


def _way_out(case: Case, rest: int, accelerators: float) -> tuple[str, str]:
    """What the second witness says of a product that fails."""
    witness = dp_of_batch(case)
    if witness is None:
        return "", ""
    also, also_zh = f"; tokens per batch give {witness[1]}", f"；由每批 token 数得 {witness[1]}"
    if abs(witness[0] * rest / accelerators - 1) > 0.05:
        return also, also_zh
    return f"{also}, and DP {witness[0]:.0f} settles both", f"{also_zh}，取 DP {witness[0]:.0f} 则两式皆成立"


@check("layout-product", "phase")
def layout_product(case: Case) -> Verdict | None:
    """TP x CP x PP x DP is the accelerator count; the batch is the second witness of DP."""
    if not any(axis in case for axis in AXES):
        return None
    accelerators = as_span(case.need("accelerators"))
    # A source without context parallelism does not mention it; the other three have to be stated.
    degrees = {axis: case.need(axis) for axis in AXES if axis in case or axis != "cp"}
    product = prod(degrees.values())
    equation = " x ".join(f"{axis.upper()} {degree}" for axis, degree in degrees.items()) + f" = {text_of(product)}"
    count = text_of(accelerators)
    span = Span(accelerators.low, product, accelerators.high)
    if accelerators.low <= product <= accelerators.high:
        return found(
            "plausible", f"{equation}, the accelerators stated", f"{equation}，与所述卡数一致", span, "accelerators"
        )
    also, also_zh = _way_out(case, product // degrees["dp"], accelerators.best)
    why = f"{equation}, but {count} accelerators are stated{also}"
    return found("impossible", why, f"{equation}，而所述卡数为 {count}{also_zh}", span, "accelerators")


@check("batch-witness", "phase")
def batch_witness(case: Case) -> Verdict | None:
    """DP x sequences per rank x sequence length is the tokens of a batch."""
    if "sequences_per_dp" not in case:
        return None
    dp, per_rank, length, batch = case.need("dp", "sequences_per_dp", "seq_len", "global_batch_tokens")
    tokens, stated = dp * per_rank * length, as_span(batch)
    equation = f"DP {dp} x {per_rank} sequences x {text_of(length)} tokens = {text_of(tokens)}"
    # "16M tokens" is written for 2^24 = 16.8M as often as for 16.0M.
    fits = stated.low * 0.95 <= tokens <= stated.high * 1.05
    word, word_zh = ("agrees with", "一致") if fits else ("contradicts", "矛盾")
    return found(
        "plausible" if fits else "impossible",
        f"{equation}, which {word} the stated batch of {text_of(stated)}",
        f"{equation}，与所述批量 {text_of(stated)} {word_zh}",
        Span(stated.low, tokens, stated.high),
        "tokens",
    )


@check("expert-product", "phase")
def expert_product(case: Case) -> Verdict | None:
    """ETP x EP x PP divides the accelerator count; with EDP it is the count."""
    if "ep" not in case:
        return None
    accelerators, ep, pp = case.need("accelerators", "ep", "pp")
    count, etp, edp = as_span(accelerators), case.get("etp", 1), case.get("edp")
    group = ep * etp * pp * (edp or 1)
    equation = f"EP {ep} x ETP {etp} x PP {pp}" + (f" x EDP {edp}" if edp else "") + f" = {text_of(group)}"
    fits = count.low <= group <= count.high if edp else count.best % group == 0
    relation, relation_zh = ("fits", "符合") if fits else ("does not fit", "不符合")
    return found(
        "plausible" if fits else "impossible",
        f"{equation} {relation} the {text_of(count)} accelerators stated",
        f"{equation} {relation_zh}所述卡数 {text_of(count)}",
        Span(0, group, count.high),
        "accelerators",
    )


def _divisions(case: Case) -> list[tuple[str, int, str, int]]:
    """(what, amount, by what, divisor) of every division that has to come out even."""
    tp, pp, cp = (case.get(axis, 1) for axis in ("tp", "pp", "cp"))
    rows = [("heads", case.get("heads"), "TP", tp)]
    if "vpp" in case and "layers_per_stage" not in case:
        rows.append(("layers", case.get("layers"), "PP x VPP", pp * case.get("vpp")))
    if "global_batch" in case and "micro_batch" in case and "dp" in case:
        batch = round(as_span(case.get("global_batch")).best)
        rows.append(("sequences", batch, "micro-batch x DP", case.get("micro_batch") * case.get("dp")))
    if cp > 1:
        rows.append(("tokens of a sequence", case.get("seq_len"), "2 x CP", 2 * cp))
    return [row for row in rows if row[1] is not None and row[3] > 1]


@check("divisibility", "phase")
def divisibility(case: Case) -> Verdict | None:
    """Heads by TP, layers by PP x VPP, the batch by micro-batch x DP, the sequence by 2 CP."""
    rows = _divisions(case)
    if not rows:
        return None
    bad = next((row for row in rows if row[1] % row[3]), None)
    if bad is None:
        shown = ", ".join(f"{text_of(amount)} {what} / {divisor}" for what, amount, _, divisor in rows)
        return found("plausible", f"Every division comes out even: {shown}", f"均可整除：{shown}")
    what, amount, by, divisor = bad
    left = amount % divisor
    # Embedding, head, prediction depths and no-op layers fill a few places (Llama 3.1: 126 + 2 on 128, Pangu Ultra MoE:
    # 61 + 3 on 64); a ragged batch can be padded.
    excused = what == "sequences" or (what == "layers" and -amount % divisor <= FILLERS)
    return found(
        "strained" if excused else "impossible",
        f"{text_of(amount)} {what} over {by} {divisor} leaves {left}",
        f"{what} {text_of(amount)} 除以 {by} {divisor} 余 {left}",
        Span(0, left, 0),
    )


@check("layers-per-stage", "phase")
def layers_per_stage(case: Case) -> Verdict | None:
    """The stated split over stages holds every layer, one entry per (virtual) stage."""
    if "layers_per_stage" not in case:
        return None
    split = list(case.get("layers_per_stage"))
    layers, pp = case.need("layers", "pp")
    fits = sum(split) == layers and len(split) in (pp, pp * case.get("vpp", 1))
    return found(
        "plausible" if fits else "impossible",
        f"The split has {len(split)} entries with {sum(split)} layers; PP is {pp}, the model has {layers} layers",
        f"切分共 {len(split)} 项、{sum(split)} 层；PP 为 {pp}，模型有 {layers} 层",
        Span(layers, sum(split), layers),
        "layers",
    )


def _domain(case: Case, axis: str, degree: int) -> Verdict:
    domain = case.need("scale_up_domain")
    inside = degree <= domain
    where, where_zh = ("stays inside", "位于") if inside else ("crosses", "超出")
    return found(
        "plausible" if inside else "strained",
        f"{axis} {degree} {where} the scale-up domain of {domain} accelerators",
        f"{axis} {degree} {where_zh} {domain} 张卡的高速域",
        Span(0, degree, domain),
        "accelerators",
    )


@check("tp-inside-domain", "phase")
def tp_inside_domain(case: Case) -> Verdict | None:
    """Tensor parallelism, the heaviest talker, stays on the scale-up links."""
    return _domain(case, "TP", case.get("tp")) if "tp" in case else None


@check("ep-inside-domain", "phase")
def ep_inside_domain(case: Case) -> Verdict | None:
    """Where the all-to-all of expert parallelism goes; leaving the domain is a choice, not an error."""
    if case.get("ep", 1) == 1:
        return None
    return replace(_domain(case, "EP", case.get("ep") * case.get("etp", 1)), status="plausible")
