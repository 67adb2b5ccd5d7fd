"""Which layers of a Hugging Face model hold experts, and how wide its FFN matrices are."""

from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.huggingface.hf_families import FAMILIES
from etl.importers.read.trees import Map, find

MOST_LAYERS = 4096
BESIDE = frozenset({"gemma4", "gemma4_text"})
"""Families with a dense FFN beside the experts of every layer: to a rank it is a shared expert of that width."""
SHARED_WORDS = ("n_shared_experts", "moe_num_shared_experts", "num_shared_experts", "num_shared_expert")
SHARED_WIDTHS = ("shared_expert_intermediate_size", "shared_intermediate_size", "moe_shared_expert_intermediate_size")


def feed_forward(reading: Reading, text: Map, family: str, dense: tuple[Any, str | None, int | None]) -> None:
    """State the dense FFN width, the expert width and the shared experts; leave out what no layer has."""
    width, key, line = dense
    pattern = text.get("hybrid_override_pattern")
    if isinstance(pattern, str):
        _hybrid(reading, text, pattern, dense)
        return
    if isinstance(text.get("block_configs"), list):
        _block_configs(reading, text)
        return
    if not (reading.get("experts") or 0) > 1:
        if not reading.state("ffn_hidden", width, key, line, "stated" if key else "default"):
            reading.drop("ffn_hidden")
        return
    known = FAMILIES.get(family)
    if (known and known.expert_width) or reading.get("moe_ffn_hidden") is None:
        reading.state("moe_ffn_hidden", width, key, line)
        width, key, line = _second_width(text)
    _shared(reading, text, family)
    layers = moe_layers(reading, text)
    if family in BESIDE:
        reading.state("ffn_hidden", width, key, line)
        reading.architecture["shared_ffn_hidden"] = whole(width)
        reading.extra["shared_open"] = True
    elif layers is not None and not all(layers):
        reading.state("ffn_hidden", width, key, line)
    reading.architecture["moe_pattern"] = layers


def _second_width(text: Map) -> tuple[Any, str | None, int | None]:
    """Llama 4 keeps its dense width apart; others whose one width is the experts' have no dense layer."""
    return text.get("intermediate_size_mlp"), "intermediate_size_mlp", text.lines.get("intermediate_size_mlp")


def _shared(reading: Reading, text: Map, family: str) -> None:
    """Always-on experts: a count, or a shared width in units of the expert width; a contradiction is left out."""
    count = next((hits for word in SHARED_WORDS if (hits := find(text, word))), None)
    width = next((hits for word in SHARED_WIDTHS if (hits := find(text, word))), None)
    expert = reading.get("moe_ffn_hidden")
    total = whole(width.value) if width else None
    number = whole(count.value) if count else None
    if family == "nemotron_h" and number:  # here the width is that of one shared expert
        reading.state("shared_experts", number, count.key if count else None, count.line if count else None)
        reading.architecture["shared_ffn_hidden"] = number * (total or 0) or None
    elif total is not None and expert:
        reading.architecture["shared_ffn_hidden"] = total
        ratio = total // expert if total % expert == 0 else None
        if ratio is not None and number in (None, ratio):
            reading.state("shared_experts", ratio, width.key if width else None, width.line if width else None)
        elif ratio is not None:
            reading.architecture["shared_unclear"] = True
    elif count is not None:
        reading.state("shared_experts", number or 0, count.key, count.line)
    known = FAMILIES.get(family)
    if known and known.shared_experts:
        reading.default("shared_experts", known.shared_experts, f"transformers: {family} has one shared expert")


def moe_layers(reading: Reading, text: Map) -> list[bool] | None:
    """For each layer whether it holds experts; None when the config does not fix it."""
    layers = reading.get("layers")
    if not layers or layers > MOST_LAYERS:
        return None
    for rule in (_by_types, _by_frequency, _first_dense, _ernie, _qwen, _interleaved):
        marks = rule(text, layers)
        if marks is not None:
            return marks
    return [True] * layers


def _by_types(text: Map, layers: int) -> list[bool] | None:
    """`mlp_layer_types`: one word per layer."""
    words = text.get("mlp_layer_types")
    if isinstance(words, list) and len(words) == layers and set(map(str, words)) <= {"dense", "sparse", "moe"}:
        return [word != "dense" for word in words]
    return None


def _by_frequency(text: Map, layers: int) -> list[bool] | None:
    """`moe_layer_freq` as a list of 0 and 1, one per layer, or `moe_layers_enum` as text."""
    marks = text.get("moe_layer_freq")
    if isinstance(marks, list) and len(marks) == layers:
        return [bool(m) for m in marks]
    listed = text.get("moe_layers_enum") or text.get("moe_layers")
    if isinstance(listed, str):
        listed = listed.split(",")
    if isinstance(listed, list) and listed:
        chosen = {whole(i) for i in listed}
        return [i in chosen for i in range(layers)]
    return None


def _first_dense(text: Map, layers: int) -> list[bool] | None:
    dense = find(text, "first_k_dense_replace", "num_dense_layers")
    if dense is None or whole(dense.value) is None:
        return None
    step = whole(text.get("moe_layer_freq")) or 1
    return [i >= int(dense.value) and i % step == 0 for i in range(layers)]


def _ernie(text: Map, layers: int) -> list[bool] | None:
    starts = text.get("moe_layer_start_index")
    start = (
        min(starts)
        if isinstance(starts, list) and starts and all(whole(s) is not None for s in starts)
        else whole(starts)
    )
    if start is None:
        return None
    ends = text.get("moe_layer_end_index")
    end = whole(max(ends) if isinstance(ends, list) and ends and all(whole(e) is not None for e in ends) else ends)
    step = whole(text.get("moe_layer_interval")) or 1
    last = layers - 1 if end is None or end >= layers else end
    return [start <= i <= last and (i + 1) % step == 0 for i in range(layers)]


def _qwen(text: Map, layers: int) -> list[bool] | None:
    step, dense = whole(text.get("decoder_sparse_step")), text.get("mlp_only_layers")
    if step is None and dense is None:
        return None
    apart = {whole(i) for i in dense} if isinstance(dense, list) else set()
    return [i not in apart and (i + 1) % (step or 1) == 0 for i in range(layers)]


def _interleaved(text: Map, layers: int) -> list[bool] | None:
    step = whole(text.get("interleave_moe_layer_step"))
    return None if not step else [(i + 1) % step == 0 for i in range(layers)]


def _hybrid(reading: Reading, text: Map, pattern: str, dense: tuple[Any, str | None, int | None]) -> None:
    """One letter per sub-block: M Mamba, * attention, - MLP, E experts; a width counts only where its letter stands."""
    width, key, line = dense
    blocks = [c for c in pattern if c in "M*-E"]
    reading.state("layers", len(blocks), "hybrid_override_pattern", text.lines.get("hybrid_override_pattern"))
    if "-" in blocks:
        reading.state("ffn_hidden", width, key, line)
    if "E" in blocks:
        _shared(reading, text, "nemotron_h")
    else:
        reading.drop("experts", "experts_per_token", "moe_ffn_hidden")
    if "*" not in blocks:
        reading.drop("heads", "kv_heads", "head_dim")


def _block_configs(reading: Reading, text: Map) -> None:
    """Nemotron NAS: each layer has its own FFN width and groups; a fact only where all layers that have one agree."""
    blocks = [b for b in text["block_configs"] if isinstance(b, Map)]
    line = text.lines.get("block_configs")
    groups = {whole(f.value) for b in blocks if (f := find(b, "attention.n_heads_in_group"))}
    heads = reading.get("heads")
    reading.drop("kv_heads", "ffn_hidden")
    group = groups.pop() if len(groups) == 1 else None
    if group and heads and heads % group == 0:
        reading.state("kv_heads", heads // group, "block_configs.attention.n_heads_in_group", line)
    reading.architecture["blocks"] = blocks
    widths = {whole(f.value) for b in blocks if (f := find(b, "ffn.intermediate_size"))}
    if len(widths) == 1:
        reading.state("ffn_hidden", widths.pop(), "block_configs.ffn.intermediate_size", line)
