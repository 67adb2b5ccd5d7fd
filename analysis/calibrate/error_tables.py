"""The printed account of a fit: errors with all rows and left out, and how many rows the intervals hold."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from analysis.calibrate.left_out import Fit
from analysis.engine.predict import KINDS, KNOWLEDGE
from analysis.engine.timing_constants import Interval, Intervals
from analysis.records.constants import read, subject


def errors(result: Fit) -> str:
    """Fitted and left-out error side by side: all rows, dense and MoE, per family, software and accelerator [%]."""
    table = result.table
    sections = {"all": table, "dense": table[~table["moe"]], "moe": table[table["moe"]]}
    for name in ("family", "stack", "accelerator"):
        sections |= {f"  {value}": part for value, part in table.groupby(name)}
    lines = [f"{'step time error %':<34}{'rows':>5}{'fitted':>9}{'left out':>9}{'bias':>7}{'median':>8}"]
    for name, part in sections.items():
        if len(part):
            shown = [part["fitted"].abs().mean(), part["left_out"].abs().mean(), part["left_out"].mean()]
            numbers = [100 * x for x in (*shown, part["left_out"].abs().median())]
            lines.append(f"{str(name)[:33]:<34}{len(part):>5}" + "{:>9.1f}{:>9.1f}{:>+7.1f}{:>8.1f}".format(*numbers))
    return "\n".join(lines)


def coverage(result: Fit, calibration: Mapping[str, Any]) -> str:
    """Left-out rows inside their interval, by class, and how wide it is.

    Parameters
    ----------
    result
        The fit.
    calibration
        Constants with the intervals to judge.

    Returns
    -------
    str
        A line per class: rows, share inside [%], low and high (factors on the prediction), width [%], mean error [%].
    """
    known = read(Intervals, "intervals", subject(calibration, "intervals"))
    head = f"{'left-out rows by class':<34}{'rows':>5}{'inside':>9}{'low':>7}{'high':>7}{'width':>7}{'error':>7}"
    lines = [head]
    for kind in KINDS:
        for knowledge in KNOWLEDGE:
            part = result.trials[(result.trials["kind"] == kind) & (result.trials["knowledge"] == knowledge)]
            edges: Interval = getattr(getattr(known, kind), knowledge)
            if len(part):
                ratio = 1.0 / (1.0 + part["error"])
                inside = 100 * ((ratio >= edges.low) & (ratio <= edges.high)).mean()
                wide, error = 100 * (edges.high - edges.low), 100 * part["error"].abs().mean()
                name = f"{kind.replace('_', ' ')}, {WORDS[knowledge]}"
                lines.append(
                    f"{name:<34}{len(part):>5}{inside:>9.1f}{edges.low:>7.2f}{edges.high:>7.2f}{wide:>7.0f}{error:>7.1f}"
                )
    return "\n".join(lines)


WORDS = {"both": "software, chip", "one": "one of them", "neither": "neither"}
"""What the classes of knowledge mean."""
