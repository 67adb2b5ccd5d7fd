"""Memory policies written flat: `recompute_core=1` for what `memory_policy(recompute={"core": 1})` says."""

from typing import Any

from analysis.physics.memory_policy import MemoryPolicy, memory_policy


def policy(**choices: Any) -> MemoryPolicy:
    """A policy; names that begin with `recompute_` are parts of a layer."""
    parts = {name.removeprefix("recompute_"): choices.pop(name) for name in [*choices] if name.startswith("recompute_")}
    return memory_policy(recompute=parts, **choices)
