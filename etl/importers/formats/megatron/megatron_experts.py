"""Feed-forward widths and experts of Megatron flags: which layers hold experts, and how wide a matrix is."""

import ast
import operator
import re
from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import number, truth, whole
from etl.importers.shell.flags import Flags

FRAMEWORK = "Megatron"
TOP_K = ("moe-router-topk", "topk")
MOST_LAYERS = 4096
_LIST = re.compile(r"[\[\]()\d\s,*+]+")


def on(flags: Flags, name: str) -> bool:
    """Whether a switch is set; `--switch false` and `--switch 0` unset it."""
    use = flags.uses.get(name)
    return use is not None and not use.maybe and not (use.first is not None and truth(use.first) is False)


def undecided(flags: Flags, *names: str) -> bool:
    """Whether the presence of one of `names` is unknown, so that no default may be assumed."""
    return any(name in flags and flags.uses[name].maybe for name in names)


def feed_forward(reading: Reading, flags: Flags) -> None:
    hidden = reading.get("hidden")
    width, key, line = flags.get("ffn-hidden-size")
    origin = "stated"
    if not any(f in flags for f in ("ffn-hidden-size", "glu-activation")) and hidden and not undecided(flags, "swiglu"):
        gated = on(flags, "swiglu")
        width, key, line = str(int(4 * hidden * 2 / 3 / 64) * 64 if gated else 4 * hidden), "", 0
        origin = "default"
    because = (
        key or f"{FRAMEWORK}: ffn = {'8/3 hidden, down to a multiple of 64' if on(flags, 'swiglu') else '4 * hidden'}"
    )
    at = line or None
    if not (reading.get("experts") or 0) > 1:
        if "num-experts" not in flags or not flags.uses["num-experts"].open:
            reading.state("ffn_hidden", width, because, at, origin)
        return
    expert, expert_key, expert_line = flags.get("moe-ffn-hidden-size")
    if expert:
        reading.state("moe_ffn_hidden", expert, expert_key, expert_line)
    elif "moe-ffn-hidden-size" not in flags:
        reading.default("moe_ffn_hidden", width, f"{FRAMEWORK}: expert width = ffn width ({because})")
    _experts(reading, flags, width, because, at, origin)
    if not any(flag in flags for flag in TOP_K):
        top = 1 if on(flags, "deepspeed") else 2
        reading.default("experts_per_token", top, f"{FRAMEWORK}: top {top} without a flag")


def hybrid(reading: Reading, flags: Flags) -> None:
    """A pattern of sub-blocks (M Mamba, * attention, - MLP, E experts): a width counts only where its letter stands."""
    pattern, _, _ = flags.get("hybrid-override-pattern")
    if pattern is None:
        ratio = number(flags.get("hybrid-attention-ratio")[0])
        if ratio or any(f in flags for f in ("hybrid-override-pattern", "hybrid-layer-pattern")):
            reading.drop("ffn_hidden")
        return
    if "-" not in pattern:
        reading.drop("ffn_hidden")
    if "*" not in pattern:
        reading.drop("heads", "kv_heads", "head_dim")
    if "E" not in pattern:
        reading.drop("experts", "experts_per_token", "moe_ffn_hidden", "shared_experts")


def _experts(reading: Reading, flags: Flags, width: str | None, because: str, line: int | None, origin: str) -> None:
    """Shared experts, and the dense FFN of the layers that hold no experts."""
    shared, key, at = flags.get("moe-shared-expert-intermediate-size")
    count, count_key, count_line = flags.get("n-shared-experts")
    expert = reading.get("moe_ffn_hidden")
    if whole(shared) and expert and int(shared or 0) % expert == 0:
        reading.state("shared_experts", int(shared or 0) // expert, key, at)
    elif count is not None:
        reading.state("shared_experts", count, count_key, count_line)
    elif whole(shared):
        reading.architecture["shared_unclear"] = True
    if whole(shared):
        reading.architecture["shared_ffn_hidden"] = whole(shared)
    if any(flags.uses[n].open for n in ("moe-shared-expert-intermediate-size", "n-shared-experts") if n in flags):
        reading.extra["shared_open"] = True
    marks = moe_layers(flags, reading.get("layers") or 0)
    reading.architecture["moe_pattern"] = marks
    if marks is not None and not all(marks):
        reading.state("ffn_hidden", width, because, line, origin)


def moe_layers(flags: Flags, layers: int) -> list[bool] | None:
    """For each layer whether it holds experts, by `--first-k-dense-replace` or `--moe-layer-freq` (number or list)."""
    if not 0 < layers <= MOST_LAYERS:
        return None
    first, frequency = flags.get("first-k-dense-replace")[0], flags.joined("moe-layer-freq")
    step = whole(frequency)
    if first is not None:
        dense = whole(first) or 0
        return [i >= dense and i % (step or 1) == 0 for i in range(layers)]
    if on(flags, "deepspeed") and frequency is None:
        interval = whole(flags.get("expert-interval")[0]) or (0 if "expert-interval" in flags else 2)
        return [(i + 1) % interval == 0 for i in range(layers)] if interval else None
    if "moe-layer-freq" not in flags:
        return [True] * layers
    if step:
        return [i % step == 0 for i in range(layers)]
    marks = list_expression(frequency or "")
    return [bool(m) for m in marks] if marks is not None and len(marks) >= layers else None


def list_expression(source: str) -> list[int] | None:
    """The value of a list written as a Python expression, such as ([0]*1+[1]*31), by its syntax only.

    >>> list_expression("([0]*1+[1]*3)"), list_expression("__import__('os')")
    ([0, 1, 1, 1], None)
    """
    if not _LIST.fullmatch(source.strip()[:500]):
        return None
    try:
        value = _value(ast.parse(source.strip()[:500], mode="eval").body, 0)
    except (SyntaxError, ValueError, RecursionError, MemoryError):
        return None
    return value if isinstance(value, list) and all(isinstance(v, int) for v in value) else None


def _value(node: ast.expr, depth: int) -> Any:
    if depth > 30:
        raise ValueError("nests too deep")
    if isinstance(node, ast.Constant) and isinstance(node.value, int):
        return node.value
    if isinstance(node, ast.List | ast.Tuple):
        return [_value(e, depth + 1) for e in node.elts]
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add | ast.Mult):
        left, right = _value(node.left, depth + 1), _value(node.right, depth + 1)
        if (
            isinstance(node.op, ast.Mult)
            and isinstance(left, list)
            and isinstance(right, int)
            and len(left) * right <= MOST_LAYERS
        ):
            return left * right
        if isinstance(node.op, ast.Add) and type(left) is type(right):
            return operator.add(left, right)
    raise ValueError("no list of numbers")
