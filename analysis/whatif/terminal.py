"""Fits on the terminal: one column per layout, so that several can be read side by side."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

import numpy as np
from rich.console import RenderableType
from rich.table import Table
from rich.text import Text

from analysis.whatif.fit import Fit

LAYOUT = (
    "accelerator", "accelerators", "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "zero_stage", "schedule", "seq_len",
    "micro_batch", "global_batch", "precision", "recompute", "attention_kernel", "sequence_parallel",
)  # fmt: skip
STYLES = {"could-fit": "green", "does-not-fit": "bold red", "unknown": "yellow"}
PART_WORDS = {
    "moe": "moe (routing tokens to experts)",
    "scale": "scale (waiting for slower hosts)",
    "host": "host (launching kernels, steps of collectives)",
    "fixed": "fixed (once a step, whatever the batch)",
    "memory": "memory (norms, activations)",
}
"""Parts of a step whose name does not say what they are."""
HIDDEN = 1e-3
"""Parts below this many seconds or GiB are not worth a line."""


def sections(name: str, fits: Sequence[Fit]) -> Iterator[RenderableType]:
    """Everything to print, in order."""
    yield Text(name, style="bold")
    yield _table("Layout", fits, [(row, [_word(fit.layout.get(row)) for fit in fits]) for row in LAYOUT])
    yield _table("Memory of the fullest stage [GiB]", fits, list(_memory(fits)))
    yield _table("Step time [s] (modelled)", fits, list(_seconds(fits)))
    yield _table("What it takes", fits, list(_takes(fits)))
    yield _traffic(fits)
    for number, fit in enumerate(fits):
        head = f"{chr(65 + number)}: " if len(fits) > 1 else ""
        yield Text(f"{head}{fit.verdict}: {fit.why}.", style=STYLES[fit.verdict])
        for remark in fit.remarks:
            yield Text(f"   {remark}")
        if fit.flips:
            yield Text(f"   The verdict hangs on: {'; '.join(flip.text() for flip in fit.flips)}.")
        for near in fit.nearest:
            yield Text(f"   Measured nearby: {near.text()}.", style="dim")
        if fit.breakdown.missing:
            yield Text(f"   Not stated or assumed: {fit.breakdown.missing}.", style="dim")


def _word(value: object) -> str:
    return "" if value is None else f"{value:,}" if type(value) is int else str(value)


def _table(title: str, fits: Sequence[Fit], rows: list[tuple[str, list[str]]]) -> Table:
    heads = [chr(65 + number) for number in range(len(fits))] if len(fits) > 1 else ["" for _ in fits]
    table = Table("", title=title, title_justify="left", title_style="bold", box=None, pad_edge=False)
    for head in heads:
        table.add_column(head, justify="right")
    for label, cells in rows:
        if any(cells):
            table.add_row(label, *cells)
    return table


def _memory(fits: Sequence[Fit]) -> Iterator[tuple[str, list[str]]]:
    """Parts of the fullest stage, its number, the total with its range, and what the card has."""
    fullest = [_fullest(fit) for fit in fits]
    parts = dict.fromkeys(part for fit in fits for part in fit.breakdown.memory_gib)
    for part in parts:
        values = [
            float(fit.breakdown.memory_gib[part].iloc[stage])
            if stage is not None and part in fit.breakdown.memory_gib
            else 0.0
            for fit, stage in zip(fits, fullest, strict=True)
        ]
        yield str(part).replace("_", " "), [f"{value:.2f}" if value > HIDDEN else "" for value in values]
    yield "peak (range)", [_range(fit, "memory_gib", "{:.1f}") for fit in fits]
    yield "card", [f"{fit.card_gib:.1f}" if np.isfinite(fit.card_gib) else "" for fit in fits]
    yield "fullest stage", ["" if stage is None else str(stage) for stage in fullest]


def _fullest(fit: Fit) -> int | None:
    stages = fit.breakdown.memory_gib
    return None if stages.empty else int(np.argmax(stages.sum(axis=1).to_numpy()))


def _range(fit: Fit, name: str, form: str) -> str:
    best, low, high = (float(fit.breakdown.prediction[f"{name}{end}"]) for end in ("", "_low", "_high"))
    return f"{form.format(best)} ({form.format(low)}-{form.format(high)})" if np.isfinite(best) else "unknown"


def _seconds(fits: Sequence[Fit]) -> Iterator[tuple[str, list[str]]]:
    parts = dict.fromkeys(part for fit in fits for part in fit.breakdown.seconds)
    for part in parts:
        values = [fit.breakdown.seconds.get(part, 0.0) for fit in fits]
        yield PART_WORDS.get(part, part), [f"{value:.3f}" if value > HIDDEN else "" for value in values]
    yield "step (range)", [_range(fit, "step_time_s", "{:.2f}") for fit in fits]
    mfu = [float(fit.breakdown.prediction["mfu"]) for fit in fits]
    peaks = [f" of {fit.peak_tflops:.0f} TFLOP/s" if np.isfinite(fit.peak_tflops) else "" for fit in fits]
    yield (
        "MFU, causal",
        [
            f"{100 * value:.1f}%{peak}" if np.isfinite(value) else "unknown"
            for value, peak in zip(mfu, peaks, strict=True)
        ],
    )


def _takes(fits: Sequence[Fit]) -> Iterator[tuple[str, list[str]]]:
    """Speeds and, where tokens were given, days, hours and energy, each with its range."""
    rows = {
        "tokens_per_s": "tokens/s, all",
        "tokens_per_s_each": "tokens/s, each",
        "days": "days",
        "accelerator_hours": "accelerator-hours",
        "energy_mwh": "MWh (power x PUE 1.1-1.5)",
    }
    for name, label in rows.items():
        spans = [getattr(fit.amounts, name, None) for fit in fits]
        yield (
            label,
            ["" if one is None else f"{_short(one.best)} ({_short(one.low)}-{_short(one.high)})" for one in spans],
        )


def _short(value: float) -> str:
    return f"{value:,.0f}" if value >= 100 else f"{value:.3g}"


def _traffic(fits: Sequence[Fit]) -> Table:
    table = Table(
        "layout", "dimension", "GB per step", "of it out", "links", "busy s", "exposed s", box=None, pad_edge=False
    )
    table.title, table.title_justify, table.title_style = "Communication per accelerator (modelled)", "left", "bold"
    for number, fit in enumerate(fits):
        for link in fit.breakdown.traffic:
            table.add_row(
                chr(65 + number) if len(fits) > 1 else "",
                link.dimension,
                f"{link.bytes_per_step / 1e9:,.2f}",
                f"{link.scale_out_bytes_per_step / 1e9:,.2f}",
                link.placement,
                f"{link.seconds:.3f}",
                f"{link.exposed_s:.3f}",
            )
    return table
