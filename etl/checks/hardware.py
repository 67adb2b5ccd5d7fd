"""Hardware: what an accelerator's sheet can and cannot say."""

from __future__ import annotations

from collections.abc import Iterator

from etl.checks.figures import show
from etl.checks.registry import check
from etl.checks.subject import Subject
from etl.yaml.findings import Finding


@check("SUM019", "one-capacity", "accelerator")
def one_capacity(subject: Subject) -> Iterator[Finding]:
    """An accelerator has one memory size: hbm_gb where the maker prints GB, hbm_gib where it prints GiB."""
    decimal, binary = subject.value.get("hbm_gb"), subject.value.get("hbm_gib")
    if decimal is not None and binary is not None:
        message = f"hbm_gb {show(decimal)} and hbm_gib {show(binary)} are both given"
        yield subject.at(("hbm_gib",), message, "keep the unit that the maker prints", also=[("hbm_gb",)])


@check("SUM020", "usable-within-memory", "accelerator")
def usable_within_memory(subject: Subject) -> Iterator[Finding]:
    """Memory that software sees must not exceed the memory of the part; a printed GB may be a GiB."""
    usable = subject.value.get("usable_memory_gib")
    size = subject.value.get("hbm_gib", subject.value.get("hbm_gb"))
    if usable is not None and size is not None and usable > size:
        message = f"usable_memory_gib {show(usable)} is more than the {show(size)} that the part has"
        yield subject.at(("usable_memory_gib",), message, "compare both with their sources")
