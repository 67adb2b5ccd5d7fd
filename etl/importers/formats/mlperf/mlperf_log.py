"""MLPerf result logs: lines that start with `:::MLLOG` and hold one JSON object each."""

import json
from collections.abc import Iterator
from statistics import median
from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import number, whole

MARK = ":::MLLOG"
LONGEST_EVENT = 20_000
WHOLE_RUN = ("run_stop", "epoch_stop")


def events(lines: list[str]) -> Iterator[tuple[int, dict[str, Any]]]:
    """(line, event) of every complete MLLOG line."""
    for line, text in enumerate(lines, 1):
        at = text.find(MARK)
        if at < 0 or len(text) > LONGEST_EVENT:
            continue
        try:
            event = json.loads(text[at + len(MARK) :])
        except (ValueError, RecursionError):
            continue
        if isinstance(event, dict) and isinstance(event.get("key"), str):
            yield line, event


def read_events(reading: Reading, lines: list[str]) -> None:
    """State batch and length, what was done (not the cap), and the steady step time."""
    done: dict[str, Any] = {}
    times: list[float] = []
    rates: list[float] = []
    samples_at_end = None
    started = False
    for line, event in events(lines):
        key, value = event["key"], event.get("value")
        raw = event.get("metadata")
        metadata = raw if isinstance(raw, dict) else {}
        if key == "global_batch_size":
            reading.state("global_batch", value, key, line)
        elif key in {"max_sequence_length", "sequence_length"}:
            reading.state("seq_len", value, key, line)
        elif key == "run_start":
            started = True
        elif key in WHOLE_RUN:
            done = {**metadata, **done, "line": line, "key": key}
        elif key == "train_samples" and done:
            samples_at_end = whole(value)
        elif key == "tracked_stats" and isinstance(value, dict) and started:
            _track(value, times, rates)
    _done(reading, done, samples_at_end)
    _speed(reading, times, rates)


def _track(value: dict[str, Any], times: list[float], rates: list[float]) -> None:
    step, rate = number(value.get("train_step_time")), number(value.get("throughput"))
    if step and step > 0:
        times.append(float(step))
    if rate and rate > 0:
        rates.append(float(rate))


def _done(reading: Reading, done: dict[str, Any], samples_at_end: int | None) -> None:
    """Steps and samples when the run stopped; `step` counts samples for some submitters."""
    batch = reading.get("global_batch")
    samples, step = whole(done.get("samples_count")) or samples_at_end, whole(done.get("step"))
    reading.extra["cap"] = True
    key, line = str(done.get("key")), done.get("line")
    if samples and batch and samples % batch == 0:
        reading.state("train_steps", samples // batch, f"{key} samples_count", line)
    elif samples is None and step and batch and step % batch:
        reading.state("train_steps", step, f"{key} step", line)
    if samples and reading.get("seq_len"):
        reading.extra["samples"] = samples
        reading.extra["ramp"] = True  # the steps are stated above, never samples // batch of a plan


def _speed(reading: Reading, times: list[float], rates: list[float]) -> None:
    batch = reading.get("global_batch")
    if len(times) >= 3:
        reading.state("step_time_s", median(times[1:]), "tracked_stats train_step_time")
    elif rates and batch:
        reading.state(
            "step_time_s",
            batch / median(rates[1:] or rates),
            "tracked_stats throughput (samples per second)",
            origin="derived",
        )
