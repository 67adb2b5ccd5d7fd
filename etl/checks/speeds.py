"""Speeds: throughput and step time of a phase printed beside each other."""

from __future__ import annotations

from collections.abc import Iterator

from etl.checks.figures import plain_number, show, spread
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding
from etl.yaml.nodes import Path
from schemas.identities import IDENTITIES, within


def batch_of(phase: dict[str, object], path: Path) -> tuple[float, list[Path]] | None:
    """Tokens per step as printed, or sequences times length, with the places of what they are made of."""
    printed = plain_number(phase, "global_batch_tokens")
    if printed is not None:
        return printed, [(*path, "global_batch_tokens")]
    batch, length = plain_number(phase, "global_batch"), plain_number(phase, "seq_len")
    if batch is None or length is None:
        return None
    return batch * length, [(*path, "global_batch"), (*path, "seq_len")]


@check("SUM032", "throughput-and-step-time", "run")
def throughput_and_step_time(subject: Subject) -> Iterator[Finding]:
    """tokens_per_s (or per accelerator times accelerators) times step_time_s must be the tokens of a batch."""
    for path, phase in subject.phases():
        reported, batch = phase.get("reported", {}), batch_of(phase, path)
        step = plain_number(reported, "step_time_s")
        if step is None or batch is None:
            continue
        for name, count in (
            ("tokens_per_s", 1.0),
            ("tokens_per_s_per_accelerator", plain_number(phase, "accelerators")),
        ):
            rate, here = plain_number(reported, name), (*path, "reported", name)
            if rate is None or count is None:
                continue
            places = [here, (*path, "reported", "step_time_s"), *batch[1]]
            tokens, slack = rate * count * step, spread(subject, *places)
            if not within(tokens / batch[0], IDENTITIES["batch-of-throughput"].strict, slack):
                each = f" * {show(count)} accelerators" if count != 1 else ""
                message = (
                    f"{name} {show(rate)}{each} * step_time_s {show(step)} = {show(tokens)} tokens a step, and the "
                    f"batch has {show(batch[0])}"
                )
                yield subject.at(here, message, "compare the three with the source", also=places)
