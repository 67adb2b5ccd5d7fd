"""What is planned, and the refusal of a question that no layout answers."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from schemas.refusal import RefusalError


@dataclass(frozen=True)
class Question:
    """What is planned.

    Attributes
    ----------
    model : architecture facts
    accelerator : id of the part
    accelerators : how many
    seq_len, global_batch : tokens of a sequence, sequences per optimizer step
    domain : accelerators that share the fast links
    stack : software, where named
    fixed : columns that are given and not searched
    options : values that a column is searched over, in place of the planner's own
    strict : refuse combinations that programs do not offer; a report may state them all the same
    """

    model: Mapping[str, Any]
    accelerator: str
    accelerators: int
    seq_len: int
    global_batch: int
    domain: int = 8
    stack: str | None = None
    fixed: Mapping[str, Any] = field(default_factory=dict)
    options: Mapping[str, Sequence[Any]] = field(default_factory=dict)
    strict: bool = True


class EmptySpaceError(RefusalError):
    """No layout is left; the sentence names the constraint that empties the space and what would open it."""


SEARCHED = (
    "tp", "cp", "pp", "vpp", "dp", "ep", "etp", "micro_batch", "zero_stage", "sequence_parallel", "schedule",
    "recompute", "offload", "precision", "attention_kernel",
)  # fmt: skip
"""Columns that can be given in place of being searched or assumed; a plan has no place for the others."""


def check_fixed(fixed: Mapping[str, Any], model: Mapping[str, Any]) -> None:
    """Refuse a given column that would change nothing.

    Raises
    ------
    EmptySpaceError
        The sentence names the column and those that can be given.
    """
    for name, value in fixed.items():
        if name not in SEARCHED:
            raise EmptySpaceError(f"--fix {name} changes nothing in a plan; it takes {', '.join(SEARCHED)}")
        if name in ("ep", "etp") and not model.get("experts") and value != 1:
            raise EmptySpaceError(f"--fix {name}={value} cuts experts, and the model has none; leave it out")


NEEDED = ("layers", "hidden", "heads", "vocab")


def check_model(model: Mapping[str, Any]) -> None:
    """Refuse a model whose shape is not known.

    Raises
    ------
    EmptySpaceError
        The sentence names what is missing.
    """
    missing = [name for name in NEEDED if not model.get(name)]
    if missing:
        raise EmptySpaceError(
            f"{model.get('name', 'the model')} has no {', '.join(missing)} on record; give its config.json"
        )
