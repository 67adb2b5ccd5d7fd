"""MaxText's settings as one flat mapping: shared by its YAML layers, its scripts and Primus."""

import re
from math import prod

from etl.importers import fields
from etl.importers.facts import Reading
from etl.importers.read.trees import Map, find
from etl.importers.tables import Table, number, state, state_all, truth, word

MODEL: Table = {
    "layers": ("base_num_decoder_layers",),
    "hidden": ("base_emb_dim",),
    "heads": ("base_num_query_heads", "base_num_heads"),
    "kv_heads": ("base_num_kv_heads", "base_num_heads"),
    "ffn_hidden": ("base_mlp_dim",),
    "head_dim": ("head_dim",),
    "vocab": ("vocab_size",),
    "tied_embeddings": ("logits_via_embedding",),
    "experts": ("num_experts",),
    "experts_per_token": ("num_experts_per_tok",),
    "shared_experts": ("shared_experts",),
    "moe_ffn_hidden": ("base_moe_mlp_dim",),
}
RUN: Table = {"seq_len": ("max_target_length",), "train_steps": ("steps",)}
# field -> axes of the mesh that multiply to it; each stands once per level (ici, dcn).
AXES: dict[str, tuple[str, ...]] = {
    "tp": ("tensor", "tensor_transpose", "tensor_sequence"),
    "pp": ("pipeline",),
    "cp": ("context", "sequence", "context_usp_ulysses"),
    "ep": ("expert",),
}
DATA_AXES = ("data", "fsdp", "fsdp_transpose", "diloco")
OTHER_AXES = ("autoregressive", "context_autoregressive")
SHARDED = ("fsdp", "fsdp_transpose")
LEVELS = ("ici", "dcn")
_SELECTIVE = re.compile(r"minimal\w*|save_\w+|\w*offloaded\w*|qkv_proj\w*|proj")


def state_model(reading: Reading, tree: Map, models: list[Map]) -> None:
    """The architecture: per-layer widths, merged layers of gemma2, experts.

    A named model whose file is not among `models` replaces whatever the layers say, so nothing is stated then.
    """
    named = word(tree, "model_name") not in {"", "default"}
    if (named and not models) or (number(tree, "global_parameter_scale", "scale") or 1) != 1:
        return
    state_all(reading, tree, MODEL)
    blocks = reading.get("layers")
    if word(tree, "decoder_block") == "gemma2" and blocks:
        state(reading, "layers", find(tree, "base_num_decoder_layers"), 2 * blocks)
    if blocks:
        reading.default("tied_embeddings", False, "MaxText: logits_via_embedding false")
    reading.architecture["mla"] = word(tree, "attention_type") == "mla"
    if (reading.get("experts") or 1) > 1:
        if reading.get("moe_ffn_hidden") is None:
            state(reading, "moe_ffn_hidden", find(tree, "base_mlp_dim"))
        every = number(tree, "interleave_moe_layer_step") or 1
        if not number(tree, "first_num_dense_layers") and every == 1:
            reading.drop("ffn_hidden")


def state_run(reading: Reading, tree: Map) -> None:
    """Length, steps, recomputation, precision, layout and batch."""
    state_all(reading, tree, RUN)
    policy = word(tree, "remat_policy")
    if policy in {"full", "none"}:
        state(reading, "recompute", find(tree, "remat_policy"), policy)
    elif _SELECTIVE.fullmatch(policy):
        state(reading, "recompute", find(tree, "remat_policy"), "selective")
    _precision(reading, tree)
    _layout(reading, tree)


def _precision(reading: Reading, tree: Map) -> None:
    """Quantised training beats the type of the activations."""
    kind = word(tree, "quantization")
    for mark, meaning in (("nvfp4", "nvfp4"), ("mxfp8", "mxfp8"), ("fp8", "fp8"), ("int8", "int8")):
        if mark in kind:
            state(reading, "precision", find(tree, "quantization"), meaning)
            return
    if not kind:
        state(reading, "precision", find(tree, "dtype"))


def _axis(tree: Map, name: str) -> int | None:
    """Size of one axis over both levels; None when a level is open (-1) or not stated."""
    sizes = [number(tree, f"{level}_{name}_parallelism") for level in LEVELS]
    known = [int(s) for s in sizes if s is not None and s > 0]
    return prod(known) if len(known) == len(sizes) else None


def _product(tree: Map, names: tuple[str, ...]) -> int | None:
    """The axes multiplied; an axis that neither level names counts as 1 as long as another one is named."""
    named = [n for n in names if any(f"{level}_{n}_parallelism" in tree for level in LEVELS)]
    sizes = [_axis(tree, n) for n in named]
    return None if not sizes or None in sizes else prod(s for s in sizes if s)


def _layout(reading: Reading, tree: Map) -> None:
    for field, axes in AXES.items():
        place = find(tree, *(f"ici_{a}_parallelism" for a in axes))
        size = _product(tree, axes)
        if size and (field != "ep" or size > 1 or (reading.get("experts") or 1) > 1):
            state(reading, field, place, size)
    sharded = _product(tree, SHARDED)
    if sharded is not None and sharded > 1:
        state(reading, "zero_stage", find(tree, "dcn_fsdp_parallelism", "ici_fsdp_parallelism"), 3)
    elif any((number(tree, f"{level}_fsdp_parallelism") or 0) > 1 for level in LEVELS):
        place = next(
            f
            for level in LEVELS
            if (f := find(tree, f"{level}_fsdp_parallelism")) and (fields.number(f.value) or 0) > 1
        )
        state(reading, "zero_stage", place, 3)
    _devices(reading, tree)
    _batch(reading, tree)


def _devices(reading: Reading, tree: Map) -> None:
    """Devices = product of all axes, unless one is open."""
    names = {k[4:-12] for k in tree if k.startswith(("ici_", "dcn_")) and k.endswith("_parallelism")}
    values = [
        number(tree, f"{level}_{n}_parallelism")
        for level in LEVELS
        for n in names
        if f"{level}_{n}_parallelism" in tree
    ]
    if not values or any(v is None or v <= 0 for v in values) or not any(k.startswith("dcn_data") for k in tree):
        topology_devices(reading, tree)
        return
    reading.state("accelerators", prod(int(v) for v in values if v), "ici_* and dcn_* axes")


def chips(topology: str) -> int | None:
    """Chips of a TPU slice by its name: v2 to v5p count cores, two a chip; v5e and later count chips.

    >>> chips("v5p-1024"), chips("v5e-256"), chips("tpu7x-4x8x8"), chips("a3")
    (512, 256, 256, None)
    """
    cube = re.fullmatch(r"tpu7x-(\d{1,3})x(\d{1,3})x(\d{1,3})", topology.strip().lower())
    if cube:
        return prod(int(side) for side in cube.groups())
    match = re.fullmatch(r"(v2|v3|v4|v5p|v5e|v5litepod|v6e|tpu7x)-(\d{1,6})", topology.strip().lower())
    if match is None:
        return None
    count = int(match.group(2))
    return count // 2 if match.group(1) in {"v2", "v3", "v4", "v5p"} else count


def cores_are_devices(topology: str) -> bool:
    """Whether JAX counts each of two cores of a chip as a device there, so that chips times a device's batch is half.

    >>> cores_are_devices("tpu7x-4x8x8"), cores_are_devices("v5p-512")
    (True, False)
    """
    return topology.strip().lower().partition("-")[0] in {"v2", "v3", "tpu7x"}


def topology_devices(reading: Reading, tree: Map) -> None:
    """A topology the program is compiled for fixes the chips."""
    size, slices = chips(word(tree, "compile_topology")), number(tree, "compile_topology_num_slices")
    reading.extra["cores_are_devices"] = reading.extra.get("cores_are_devices") or cores_are_devices(
        word(tree, "compile_topology")
    )
    if size and slices and slices > 0:
        state(reading, "accelerators", find(tree, "compile_topology"), int(size * slices))


def _batch(reading: Reading, tree: Map) -> None:
    """`per_device_batch_size` may be a share; times devices it is the batch, times tp*pp*cp that of one rank."""
    each, repeat = number(tree, "per_device_batch_size"), number(tree, "gradient_accumulation_steps") or 1
    ways = [reading.get(f) for f in ("tp", "pp", "cp")]
    place = find(tree, "per_device_batch_size")
    if not each or each <= 0 or place is None:
        return
    if all(ways):
        state(reading, "micro_batch", place, fields.number(float(each) * prod(w for w in ways if w)))
    reading.extra["per_device_batch"] = float(each) * repeat
    devices = reading.get("accelerators")
    if devices and not reading.extra.get("cores_are_devices"):
        state(reading, "global_batch", place, fields.number(float(each) * repeat * devices))


# decoder block -> what it adds to a plain gated RMS-norm block; blocks not named here are not counted.
BLOCKS: dict[str, dict[str, object]] = {
    "llama2": {},
    "mistral": {},
    "mixtral": {},
    "deepseek": {},
    "gemma": {},
    "llama4": {},
    "qwen3": {"qk_norm": "head"},
    "qwen3_moe": {"qk_norm": "head"},
    "gemma2": {"norms_per_layer": 4},
    "gemma3": {"norms_per_layer": 4, "qk_norm": "head"},
}
# Settings of a model file that change no count, beside those read above; with any other the count is left out.
COUNTED = re.compile(
    r"base_\w+|head_dim|mlp_activations\w*|vocab_size|decoder_block|normalization_layer_epsilon|logits_\w+|\w+_soft_cap|"
    r"sliding_window_size|use_post_\w+|use_qk_norm|\w*rope_\w+|(?:original_)?max_position_embeddings|beta_\w+|mscale|"
    r"\w+_for_vit|image_\w+|vision_\w+|enable_dropout|num_experts\w*|shared_experts|routed_\w+|first_num_dense_layers|"
    r"attention_type|[qkv]\w*_(?:rank|head_dim)|inhomogeneous\w*|interleave_moe\w+|nope_\w+|temperature_tuning|chunk\w+|"
    r"tokenizer_\w+|load_balance\w+|norm_topk_prob|n_routing_groups|topk_routing_group|use_iota_embed|float32_\w+|model_name"
)
RANKS = ("q_lora_rank", "kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim")


def architecture(reading: Reading, tree: Map, models: list[Map]) -> None:
    """What the parameter count needs, where the block is a known one and the model files hold nothing unusual."""
    if any(not COUNTED.fullmatch(key) for model in models for key in model):
        return
    block, activations = word(tree, "decoder_block"), tree.get("mlp_activations")
    gated = isinstance(activations, list) and "linear" in activations
    odd = (
        truth(tree, "attention_bias")
        or truth(tree, "mlp_bias")
        or truth(tree, "attention_sink")
        or number(tree, "mtp_num_layers")
    )
    if block not in BLOCKS or odd or not gated or (not reading.get("head_dim") and not reading.architecture.get("mla")):
        return
    reading.architecture.update(complete=True, gated_mlp=True, **BLOCKS[block])
    reading.architecture["dense_layers"] = number(tree, "first_num_dense_layers") or 0
    reading.architecture["moe_layer_step"] = number(tree, "interleave_moe_layer_step") or 1
    reading.architecture["router_bias"] = bool(truth(tree, "routed_bias"))
    if reading.architecture["mla"]:
        reading.architecture.update({r: number(tree, r) or 0 for r in RANKS})
