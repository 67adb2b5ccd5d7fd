"""Tables of steps that Weights & Biases exports: one column a metric, a run's name before it or not."""

import csv
import re
from statistics import median

from etl.importers.facts import Reading
from etl.importers.fields import number
from etl.importers.read.documents import Document

NAME = "wandb_csv"
MOST_ROWS = 20_000
LONGEST_HEADER = 20_000
_TAIL = re.compile(r"^(?:.* - )?(?:[\w-]+/)*(.+?)$")
# Last part of a metric's name -> the field and the factor to its unit; names without a unit of their own stay out.
COLUMNS: dict[str, tuple[str, float]] = {
    "tflops_per_gpu": ("tflops_per_accelerator", 1.0), "tflops/gpu": ("tflops_per_accelerator", 1.0),
    "model_tflops_per_gpu": ("tflops_per_accelerator", 1.0), "throughput(tflops)": ("tflops_per_accelerator", 1.0),
    "tokens_per_sec_per_gpu": ("tokens_per_s_per_accelerator", 1.0),
    "tokens_per_second_per_gpu": ("tokens_per_s_per_accelerator", 1.0), "tgs": ("tokens_per_s_per_accelerator", 1.0),
    "throughput(tps)": ("tokens_per_s_per_accelerator", 1.0),
    "iteration-time": ("step_time_s", 1.0), "iteration_time": ("step_time_s", 1.0), "step_time": ("step_time_s", 1.0),
    "step_time_s": ("step_time_s", 1.0), "train_step_timing in s": ("step_time_s", 1.0),
    "iteration_time_ms": ("step_time_s", 1e-3), "step_time_ms": ("step_time_s", 1e-3),
    "max_reserved(gib)": ("memory_gib", 1.0), "max_active(gib)": ("memory_gib", 1.0),
    "loss": ("loss", 1.0), "lm loss": ("loss", 1.0), "train_loss": ("loss", 1.0), "reduced_train_loss": ("loss", 1.0),
    "global_avg_loss": ("loss", 1.0),
}  # fmt: skip
STEPS = ("Step", "_step", "global_step", "trainer/global_step")


def detect(document: Document) -> float:
    """A header line with a step column."""
    header = _header(document)
    return 0.9 if header and any(step in header for step in STEPS) and len(header) > 1 else 0.0


def _header(document: Document) -> list[str]:
    line = document.text[:LONGEST_HEADER].partition("\n")[0]
    if "," not in line:
        return []
    try:
        return next(csv.reader([line]), [])
    except csv.Error:
        return []


def read(document: Document, _companions: list[Document]) -> Reading:
    """Medians without the first rows; the loss is the last one. Several runs in one table: the first column counts."""
    reading, header = Reading(NAME), _header(document)
    wanted: dict[str, tuple[int, float]] = {}
    for place, title in enumerate(header):
        match = _TAIL.match(title)
        name, factor = COLUMNS.get(match.group(1).lower() if match else "", ("", 0.0))
        if not name or title.endswith(("__MIN", "__MAX")):
            continue
        if name in wanted and name != "memory_gib":
            reading.warn("several-runs", f"column {title!r} repeats {name}; the first column is reported")
        wanted.setdefault(name, (place, factor))
    columns: dict[str, list[tuple[float, int]]] = {name: [] for name in wanted}
    try:
        for line, row in enumerate(csv.reader(document.lines[1 : MOST_ROWS + 1]), 2):
            for name, (place, factor) in wanted.items():
                value = number(row[place]) if place < len(row) else None
                if value:
                    columns[name].append((float(value) * factor, line))
    except csv.Error:
        reading.warn("cut-table", "a row cannot be read; those before it count")
    for name, values in columns.items():
        _state(reading, name, values, header[wanted[name][0]])
    return reading


def _state(reading: Reading, name: str, values: list[tuple[float, int]], title: str) -> None:
    if not values:
        return
    if name == "loss":
        reading.state(name, values[-1][0], f"{title}, the last of {len(values)} rows", values[-1][1])
        return
    skip = min(5, max(1, len(values) // 10)) if len(values) > 2 else 0
    kept = [value for value, _ in values[skip:]]
    reading.state(name, float(f"{median(kept):.9g}"), f"{title}, median of {len(kept)} rows", values[-1][1])
