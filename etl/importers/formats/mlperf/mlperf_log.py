"""MLPerf result logs: lines that start with `:::MLLOG` and hold one JSON object each."""

import json
from collections.abc import Iterator
from statistics import median
from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import number, whole

MARK = ":::MLLOG"
LONGEST_EVENT = 20_000
MOST_SEQUENCES = 20_000_000
MOST_SEQUENCES_PER_S = 20_000.0
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
        if key == "submission_benchmark":
            reading.extra["benchmark"] = str(value).lower()
        elif key == "global_batch_size":
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
    length = reading.get("seq_len")
    if reading.extra.get("benchmark") == "gpt3" and length:
        done, samples_at_end, rates = _of_sequences(done, samples_at_end, rates, length)
    _done(reading, done, samples_at_end)
    _speed(reading, times, rates)


def _of_sequences(
    done: dict[str, Any], samples_at_end: int | None, rates: list[float], length: int
) -> tuple[dict[str, Any], int | None, list[float]]:
    """GPT-3 logs that count tokens, in sequences; its runs take about a million of these (MLPerf Training v2.1-4.1)."""
    counts = [c for c in (whole(done.get("samples_count")), samples_at_end) if c]
    if counts and all(c > MOST_SEQUENCES and c % length == 0 for c in counts):
        if done.get("samples_count"):
            done = {**done, "samples_count": int(done["samples_count"]) // length}
        samples_at_end = samples_at_end // length if samples_at_end else None
    return done, samples_at_end, [r / length if r > MOST_SEQUENCES_PER_S else r for r in rates]


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
