"""Megatron's arguments as settings of a tree (`num_layers: 80`), for frameworks that write them in YAML."""

from typing import Any

from etl.importers import fields
from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, word

KEYS: Table = {
    "layers": ("num_layers",),
    "hidden": ("hidden_size",),
    "heads": ("num_attention_heads",),
    "head_dim": ("kv_channels",),
    "seq_len": ("seq_length",),
    "micro_batch": ("micro_batch_size",),
    "global_batch": ("global_batch_size",),
    "train_steps": ("train_iters",),
    "tp": ("tensor_model_parallel_size",),
    "pp": ("pipeline_model_parallel_size",),
    "cp": ("context_parallel_size",),
    "ep": ("expert_model_parallel_size",),
    "experts": ("num_experts",),
    "experts_per_token": ("moe_router_topk",),
    "vocab": ("vocab_size", "padded_vocab_size", "pad_vocab_size_to"),
    "moe_ffn_hidden": ("moe_ffn_hidden_size",),
}
GRANULARITIES = {"full": "full", "selective": "selective"}


def merged(*trees: Any) -> Map:
    """One flat mapping of several, dashes as underscores; a later one wins."""
    flat = Map()
    for tree in trees:
        for key, value in (tree or {}).items():
            name = key.replace("-", "_").lstrip("_")
            flat.merged.add(name)
            flat.put(name, value, tree.lines.get(key, 0) if isinstance(tree, Map) else 0)
    return flat


def state_run(reading: Reading, args: Map) -> None:
    """Layout, batch, duration, precision, sharding and recomputation that the arguments state."""
    state_all(reading, args, KEYS)
    layers, pp = reading.get("layers"), reading.get("pp")
    each, stages = (
        number(args, "num_layers_per_virtual_pipeline_stage"),
        number(args, "num_virtual_stages_per_pipeline_rank"),
    )
    if stages:
        state(reading, "vpp", find(args, "num_virtual_stages_per_pipeline_rank"), stages)
    elif each and layers and pp and layers % (pp * int(each)) == 0:
        state(reading, "vpp", find(args, "num_layers_per_virtual_pipeline_stage"), layers // pp // int(each))
    elif number(args, "virtual_pipeline_model_parallel_size"):
        state(reading, "vpp", find(args, "virtual_pipeline_model_parallel_size"))
    reading.extra.update(
        samples=fields.whole(args.get("train_samples")), etp=number(args, "expert_tensor_parallel_size")
    )
    if args.get("rampup_batch_size") or args.get("step_batch_size_schedule"):
        reading.extra["ramp"] = True
    _precision(reading, args)
    _sharding(reading, args)
    _recompute(reading, args)


def _precision(reading: Reading, args: Map) -> None:
    if word(args, "fp4", "fp4_format") not in {"", "false", "none"}:
        state(reading, "precision", find(args, "fp4", "fp4_format"), "nvfp4")
    elif word(args, "fp8", "fp8_format") not in {"", "false", "none"}:
        recipe = word(args, "fp8_recipe")
        state(reading, "precision", find(args, "fp8", "fp8_format"), "mxfp8" if recipe == "mxfp8" else "fp8")
    else:
        for name in ("bf16", "fp16"):
            if truth(args, name):
                state(reading, "precision", find(args, name), name)


def _sharding(reading: Reading, args: Map) -> None:
    """FSDP shards everything; the distributed optimizer is stage 1."""
    strategy = word(args, "data_parallel_sharding_strategy")
    if truth(args, "use_torch_fsdp2"):
        state(reading, "zero_stage", find(args, "use_torch_fsdp2"), 3)
    elif truth(args, "use_megatron_fsdp") and strategy in {"optim_grads_params", "optim_grads", "optim"}:
        stage = {"optim_grads_params": 3, "optim_grads": 2, "optim": 1}[strategy]
        state(reading, "zero_stage", find(args, "data_parallel_sharding_strategy"), stage)
    elif truth(args, "use_distributed_optimizer") and not truth(args, "use_megatron_fsdp"):
        state(reading, "zero_stage", find(args, "use_distributed_optimizer"), 1)


def _recompute(reading: Reading, args: Map) -> None:
    granularity = word(args, "recompute_granularity")
    if granularity in GRANULARITIES:
        state(reading, "recompute", find(args, "recompute_granularity"), granularity)
    elif truth(args, "recompute_activations"):
        state(reading, "recompute", find(args, "recompute_activations"), "selective")
    elif truth(args, "checkpoint_activations"):
        state(reading, "recompute", find(args, "checkpoint_activations"), "full")
    elif (
        "recompute_granularity" in args
        and args["recompute_granularity"] is None
        and not truth(args, "recompute_activations")
    ):
        reading.state("recompute", "none", "recompute_granularity", args.lines.get("recompute_granularity"))


def state_model(reading: Reading, args: Map, framework: str) -> None:
    """Attention, FFN widths, experts and tying; call when the arguments hold the whole model."""
    untied = truth(args, "untie_embeddings_and_output_weights")
    if untied is not None:
        state(reading, "tied_embeddings", find(args, "untie_embeddings_and_output_weights"), not untied)
    elif reading.get("layers"):
        reading.default("tied_embeddings", True, f"{framework}: embeddings are tied")
    gone = sum(1 for p in str(args.get("noop_layers") or "").replace(",", " ").split() if p.isdigit())
    layers = reading.get("layers") or 0
    if 0 < gone < layers:
        state(reading, "layers", find(args, "num_layers"), layers - gone)
    reading.architecture["mla"] = bool(truth(args, "multi_latent_attention"))
    _groups(reading, args, framework)
    _widths(reading, args, framework)


def _groups(reading: Reading, args: Map, framework: str) -> None:
    """`num_query_groups` counts only with `group_query_attention: true`; without that the pair is doubtful."""
    groups, grouped = number(args, "num_query_groups"), truth(args, "group_query_attention")
    if groups and grouped:
        state(reading, "kv_heads", find(args, "num_query_groups"))
    attention_defaults(reading, framework)
    if groups and not grouped and reading.facts.get("kv_heads") is not None:
        reading.drop("kv_heads")


def moe_layers(pattern: Any, layers: int | None) -> list[int] | None:
    """Which layers hold experts: 1 for yes, of `moe_layer_freq` (`2`, `"[0]*1+[1]*26"`); None when unreadable.

    >>> sum(moe_layers("([0]*1+[1]*26)", 27)), moe_layers(2, 4)
    (26, [1, 0, 1, 0])
    """
    step = fields.whole(pattern)
    if step and layers:
        return [1 if i % step == 0 else 0 for i in range(layers)]
    if isinstance(pattern, list) and all(p in (0, 1) for p in pattern):
        return [int(p) for p in pattern]
    made: list[int] = []
    for part in str(pattern)[:200].replace(" ", "").strip("()").split("+"):
        bits, _, times = part.partition("*")
        values = bits.strip("[]").split(",")
        if not all(v in {"0", "1"} for v in values) or (times and not times.isdigit()) or len(times) > 4:
            return None
        made += [int(v) for v in values] * int(times or 1)
    return made


def _widths(reading: Reading, args: Map, framework: str) -> None:
    """The dense width; with experts it stays only where some layer is dense, or is itself the width of an expert."""
    experts, stated = (reading.get("experts") or 0) > 1, find(args, "ffn_hidden_size")
    if not experts:
        if stated is not None:
            state(reading, "ffn_hidden", stated)
        else:
            _default_width(reading, args, framework)
        return
    dense = _dense_layers(reading, args)
    if reading.get("moe_ffn_hidden") is None and stated is not None:
        reading.default("moe_ffn_hidden", stated.value, f"{framework}: an expert is ffn_hidden_size wide")
    if dense and stated is not None:
        state(reading, "ffn_hidden", stated)
    shared, width = number(args, "moe_shared_expert_intermediate_size"), reading.get("moe_ffn_hidden")
    if shared and width and shared % width == 0:
        state(reading, "shared_experts", find(args, "moe_shared_expert_intermediate_size"), int(shared) // width)
    elif shared:
        reading.architecture["shared_unclear"] = True


def _dense_layers(reading: Reading, args: Map) -> bool | None:
    first, freq = number(args, "first_k_dense_replace", "moe_first_k_dense_replace"), args.get("moe_layer_freq")
    if freq is None:
        return bool(first)
    pattern = moe_layers(freq, reading.get("layers"))
    return None if pattern is None else 0 in pattern


def _default_width(reading: Reading, args: Map, framework: str) -> None:
    """4h; with swiglu 8h/3 down to a multiple of 64; FlagScale's multiplier up to a multiple of `multiple_of`."""
    hidden, swiglu, multiple = reading.get("hidden"), truth(args, "swiglu"), number(args, "multiple_of")
    if not hidden:
        return
    if swiglu and multiple:
        base = int(int(4 * hidden * 2 / 3) * (number(args, "hidden_dim_multiplier") or 1))
        state(reading, "ffn_hidden", find(args, "multiple_of"), -(-base // int(multiple)) * int(multiple))
    elif swiglu:
        reading.default("ffn_hidden", int(4 * hidden * 2 / 3 / 64) * 64, f"{framework}: swiglu without ffn_hidden_size")
    elif not truth(args, "geglu", "squared_relu"):
        reading.default("ffn_hidden", 4 * hidden, f"{framework}: ffn_hidden_size = 4 * hidden_size")
