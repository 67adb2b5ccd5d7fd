"""Does the model have the parameters it is said to have?"""

from __future__ import annotations

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Verdict, check, compare, found, text_of


def _against(stated: Span, exact: float, what: str, what_zh: str) -> Verdict:
    status, ratio, cause = compare(stated, as_span(exact), near=(0.97, 1.03), possible=(0.8, 1.25))
    return found(
        status,
        f"{text_of(stated)} {what} printed, {exact:,.0f} counted from the architecture (ratio {ratio:.3f})",
        f"所述{what_zh} {text_of(stated)}，按结构计数为 {exact:,.0f}（比值 {ratio:.3f}）",
        Span(exact, exact, exact),
        "parameters",
        cause,
    )


@check("headline-parameters", "run")
def headline_parameters(case: Case) -> Verdict | None:
    """The printed parameter count against the exact count."""
    if "params_total" not in case:
        return None
    return _against(as_span(case.get("params_total")), float(case.need("exact_total")), "parameters", "参数量")


@check("active-parameters", "run")
def active_parameters(case: Case) -> Verdict | None:
    """The printed active parameters against the exact count (with or without input embedding) and the total."""
    if "params_active" not in case:
        return None
    active = as_span(case.get("params_active"))
    if "params_total" in case and active.low > as_span(case.get("params_total")).high:
        whole = text_of(case.get("params_total"))
        why, why_zh = (
            f"{text_of(active)} active parameters of {whole} in all",
            f"激活 {text_of(active)} 多于总数 {whole}",
        )
        return found("impossible", why, why_zh, active, "parameters")
    counts = [float(count) for count in case.need("exact_active", "exact_active_without_embedding")]
    nearest = min(counts, key=lambda exact: abs(exact / active.best - 1))
    return _against(active, nearest, "active parameters", "激活参数量")
