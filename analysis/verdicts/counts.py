"""Does the model have the parameters that are printed for it?"""

from __future__ import annotations

from analysis.records.spans import Span, as_span
from analysis.verdicts.registry import Case, Verdict, check, compare


def _against(stated: Span, exact: float) -> Verdict:
    status, ratio, cause = compare("parameters-counted", stated, as_span(exact))
    values = {"stated": stated.best, "exact": exact, "ratio": ratio}
    return Verdict(status, "counted", values, as_span(exact), "parameters", cause)


@check("headline-parameters", "run", decisive=True, identity="parameters-counted")
def headline_parameters(case: Case) -> Verdict | None:
    """The printed parameter count against the exact count."""
    if "params_total" not in case:
        return None
    return _against(as_span(case["params_total"]), float(case.need("exact_total")))


@check("active-parameters", "run", decisive=True, identity="parameters-counted")
def active_parameters(case: Case) -> Verdict | None:
    """The printed active parameters against the exact count (with or without input embedding) and the total."""
    if "params_active" not in case:
        return None
    active = as_span(case["params_active"])
    if "params_total" in case and active.low > as_span(case["params_total"]).high:
        values = {"stated": active.best, "total": as_span(case["params_total"]).best}
        return Verdict("impossible", "above-total", values, active, "parameters")
    counts = [float(count) for count in case.need("exact_active", "exact_active_without_embedding")]
    return _against(active, min(counts, key=lambda exact: abs(exact / active.best - 1)))
