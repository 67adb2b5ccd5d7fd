"""How well a record knows its facts: estimates, values from another's table, values on which sources disagree."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

REPORTED = frozenset({
    "mfu", "hfu", "mfu_basis", "peak_tflops", "step_time_s", "tokens_per_s", "tokens_per_s_per_accelerator",
    "tflops_per_accelerator", "goodput", "bubble", "memory_gib",
})  # fmt: skip
"""Fields of the block `reported`, whose facts carry its name."""


@dataclass(frozen=True)
class Provenance:
    """Of the facts of one run or phase: which are estimated or second-hand, and why some are disputed."""

    basis: dict[str, str] = field(default_factory=dict)
    disputed: dict[str, str] = field(default_factory=dict)

    def __or__(self, other: Provenance) -> Provenance:
        return Provenance(self.basis | other.basis, self.disputed | other.disputed)

    def of(self, names: Iterable[str]) -> Provenance:
        """The part that is about some facts."""
        kept = set(names)
        return Provenance(
            {name: basis for name, basis in self.basis.items() if name in kept},
            {name: why for name, why in self.disputed.items() if name in kept},
        )


def fact_of(path: str) -> tuple[str, str]:
    """The phase ('' for the run) and the fact that a path of a record is about.

    >>> fact_of("phases.main.reported.mfu"), fact_of("totals.tokens"), fact_of("phases.main.tp")
    (('main', 'reported_mfu'), ('', 'tokens'), ('main', 'tp'))
    """
    *blocks, name = path.split(".")
    phase = blocks[1] if blocks[:1] == ["phases"] and len(blocks) > 1 else ""
    return phase, f"reported_{name}" if name in REPORTED else name


def by_record(rows: Iterable[Mapping[str, Any]]) -> dict[tuple[str, str, str], Provenance]:
    """Provenance by kind, record and phase, from the rows of queries/provenance.sql."""
    result: defaultdict[tuple[str, str, str], Provenance] = defaultdict(Provenance)
    for row in rows:
        phase, name = fact_of(row["path"])
        one = result[row["kind"], row["record_id"], phase]
        if isinstance(row["why"], str):
            one.disputed[name] = row["why"]
        else:
            one.basis[name] = row["basis"]
    return dict(result)
