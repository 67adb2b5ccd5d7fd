"""Frameworks as named things: what shows that a command is theirs, what they do where it is silent, and who says so.

A default is a fact only when the framework is established; a table of model flags that another script sources, or a
trainer of somebody's own, gets none.
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType
from typing import Any


@dataclass(frozen=True, slots=True)
class Framework:
    """One framework on Megatron's arguments.

    Attributes
    ----------
    name : as it is written in the reason of a default
    format : the name of the format that a reading of its scripts prints
    run : what a run does where no flag speaks, by field
    source : repository and file, or page, that states the defaults
    experts_over_tp : whether experts are split over the tensor-parallel ranks unless a flag says otherwise
    """

    name: str
    format: str
    run: Mapping[str, Any]
    source: str
    experts_over_tp: bool = True


_ONES = {"tp": 1, "pp": 1, "cp": 1, "ep": 1}

MEGATRON = Framework(
    "Megatron",
    "megatron_sh",
    MappingProxyType({**_ONES, "sequence_parallel": False, "zero_stage": 0, "recompute": "none"}),
    "NVIDIA/Megatron-LM megatron/training/arguments.py",
)
SWIFT = Framework(
    "ms-swift",
    "ms_swift_sh",
    MappingProxyType(
        {
            **_ONES,
            "sequence_parallel": False,
            "zero_stage": 1,
            "recompute": "selective",
            "micro_batch": 1,
            "global_batch": 16,
        }
    ),
    "swift.readthedocs.io Megatron-SWIFT/Command-line-parameters",
    experts_over_tp=False,
)
SLIME = Framework(
    "slime",
    "slime_sh",
    MappingProxyType({**_ONES, "sequence_parallel": False, "zero_stage": 1, "recompute": "none"}),
    "THUDM/slime slime/backends/megatron_utils/arguments.py",
)
ON_MEGATRON = (SWIFT, SLIME, MEGATRON)
"""Frameworks whose launch scripts carry Megatron's flags, the most particular first."""

_SWIFT = re.compile(r"(?:^|[\s/])megatron\s+(?:sft|pt|rlhf)\b|swift/cli/_megatron/")
_NOT_TRAINING = re.compile(r"(?:generat|evaluat|inference|convert|export|tasks/|lm_eval|eval_)\w*[\w/]*\.py", re.I)
_SLIME = frozenset({"actor-num-nodes", "actor-num-gpus-per-node", "rollout-num-gpus", "hf-checkpoint"})
_PROGRAM = re.compile(
    r"mindspeed|megatron[-_]lm|(?:pretrain|posttrain|finetune|train)_?(?:gpt|mamba|hybrid|llama|moe)", re.I
)
ENOUGH = 3
PARTICULAR = frozenset(
    {"num-layers", "hidden-size", "num-attention-heads", "tensor-model-parallel-size", "pipeline-model-parallel-size"}
)
"""Flags of Megatron's own; batch and steps are spelled alike by recipes of other frameworks."""


def of_command(command: str, flags: set[str], own: frozenset[str]) -> Framework | None:
    """The framework of a command, or None where nothing establishes one.

    Parameters
    ----------
    command : the words of the command
    flags : the flags it certainly has
    own : flags that only Megatron's parser knows together

    >>> of_command("torchrun pretrain_gpt.py", {"num-layers", "hidden-size"}, frozenset({"num-layers"})).name
    'Megatron'
    >>> of_command("torchrun train.py --lr 1", {"lr"}, frozenset({"num-layers"})) is None
    True
    """
    if _NOT_TRAINING.search(command):
        return None
    if _SWIFT.search(command):
        return SWIFT
    if len(_SLIME & flags) >= 2:
        return SLIME
    shared, particular = len(own & flags), bool(PARTICULAR & flags)
    named = _PROGRAM.search(command) is not None
    return MEGATRON if (particular and shared >= ENOUGH) or (named and shared) else None
