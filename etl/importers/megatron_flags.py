"""Command-line flags of Megatron-LM, Megatron-DeepSpeed and MindSpeed in the project's field names."""

import ast
import operator
from typing import Any

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.fields import truth, whole
from etl.importers.shell_flags import Flags

FRAMEWORK = "Megatron"

# Field -> the flags that state it, in order of preference.
STATED: dict[str, tuple[str, ...]] = {
    "hidden": ("hidden-size",),
    "heads": ("num-attention-heads",),
    "seq_len": ("seq-length", "encoder-seq-length"),
    "vocab": ("vocab-size", "pad-vocab-size-to", "padded-vocab-size"),
    "micro_batch": ("micro-batch-size", "batch-size"),
    "global_batch": ("global-batch-size",),
    "train_steps": ("train-iters",),
    "tokens": ("train-tokens",),
    "tp": ("tensor-model-parallel-size", "model-parallel-size"),
    "pp": ("pipeline-model-parallel-size",),
    "cp": ("context-parallel-size",),
    "ep": ("expert-model-parallel-size", "moe-expert-parallel-size"),
    "experts": ("num-experts", "num-moe-experts"),
    "experts_per_token": ("moe-router-topk", "topk"),
}
MLA_RANKS: dict[str, tuple[str, ...]] = {
    "q_lora_rank": ("q-lora-rank",),
    "kv_lora_rank": ("kv-lora-rank",),
    "qk_nope_head_dim": ("qk-head-dim", "qk-nope-head-dim"),
    "qk_rope_head_dim": ("qk-pos-emb-head-dim", "qk-rope-head-dim"),
    "v_head_dim": ("v-head-dim",),
}
CORE = frozenset(
    {"num-layers", "hidden-size", "num-attention-heads", "micro-batch-size", "global-batch-size", "seq-length"}
)
CORE_PARALLEL = frozenset({"tensor-model-parallel-size", "pipeline-model-parallel-size"})
MOST_LAYERS = 4096
# Flags of models that have more than the plain decoder's matrices, and scripts of models that are no decoders.
UNCOUNTED = (
    "hybrid-override-pattern", "hybrid-layer-pattern", "hybrid-attention-ratio", "is-hybrid-model", "spec", "xielu", "geglu",
    "glu-activation", "attention-output-gate", "experimental-attention-variant", "linear-attention-freq", "deepnorm",
    "moe-latent-size", "add-bias-linear", "mlp-type",
)  # fmt: skip
OTHER_MODELS = ("bert", "t5", "vlm", "retro", "vit", "mamba", "ict", "multimodal")


def read_flags(reading: Reading, flags: Flags) -> None:
    """State what the flags say and what Megatron does without them."""
    for name, options in STATED.items():
        value, key, line = flags.get(*options)
        if value is not None:
            reading.state(name, value, key, line)
    _layers(reading, flags)
    _attention(reading, flags)
    _feed_forward(reading, flags)
    _hybrid(reading, flags)
    _tying(reading, flags)
    _layout(reading, flags)
    _duration(reading, flags)
    _precision(reading, flags)
    _recompute(reading, flags)
    describe(reading, flags)


def on(flags: Flags, name: str) -> bool:
    """Whether a switch is set; `--switch false` and `--switch 0` unset it."""
    use = flags.uses.get(name)
    return use is not None and not (use.first is not None and truth(use.first) is False)


def _layers(reading: Reading, flags: Flags) -> None:
    value, key, line = flags.get("num-layers", "encoder-num-layers")
    count = whole(value)
    idle = [i for i in (flags.get("noop-layers")[0] or "").split(",") if i.strip()]
    if count and not ("noop-layers" in flags and flags.uses["noop-layers"].open):
        reading.state("layers", count - len(idle), key, line)


def _attention(reading: Reading, flags: Flags) -> None:
    if on(flags, "multi-latent-attention") or "kv-lora-rank" in flags:
        reading.architecture["mla"] = True
        for name, words in MLA_RANKS.items():
            reading.architecture[name] = whole(flags.get(*words)[0]) or 0
        return
    groups, key, line = flags.get("num-query-groups", "num-key-value-heads")
    grouped = on(flags, "group-query-attention") or key == "--num-key-value-heads"
    open_groups = any(flags.uses[n].open for n in ("num-query-groups", "num-key-value-heads") if n in flags)
    if grouped and groups:
        reading.state("kv_heads", groups, key, line)
    channels, key, line = flags.get("kv-channels")
    if channels:
        reading.state("head_dim", channels, key, line)
    doubtful = open_groups or (groups is not None and not grouped and whole(groups) != reading.get("heads"))
    if doubtful or (grouped and not groups):
        reading.drop("kv_heads")
        keep = reading.get("kv_heads")
        attention_defaults(reading, FRAMEWORK)
        if keep is None:
            reading.drop("kv_heads")
    else:
        attention_defaults(reading, FRAMEWORK)
    if "kv-channels" in flags and flags.uses["kv-channels"].open:
        reading.drop("head_dim")


def _feed_forward(reading: Reading, flags: Flags) -> None:
    hidden = reading.get("hidden")
    width, key, line = flags.get("ffn-hidden-size")
    origin = "stated"
    if "ffn-hidden-size" not in flags and hidden and "glu-activation" not in flags:
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
    if not any(flag in flags for flag in STATED["experts_per_token"]) and "deepspeed" not in flags:
        reading.default("experts_per_token", 2, f"{FRAMEWORK}: --moe-router-topk 2")


def _hybrid(reading: Reading, flags: Flags) -> None:
    """A pattern of sub-blocks (M Mamba, * attention, - MLP, E experts): a width counts only where its letter stands."""
    pattern, _, _ = flags.get("hybrid-override-pattern")
    if pattern is None:
        if any(f in flags for f in ("hybrid-override-pattern", "hybrid-layer-pattern", "hybrid-attention-ratio")):
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
    """For each layer whether it holds experts: `--first-k-dense-replace`, or `--moe-layer-freq` as a number or a list expression."""
    if not 0 < layers <= MOST_LAYERS:
        return None
    first, frequency = flags.get("first-k-dense-replace")[0], flags.joined("moe-layer-freq")
    step = whole(frequency)
    if first is not None:
        dense = whole(first) or 0
        return [i >= dense and i % (step or 1) == 0 for i in range(layers)]
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


def _tying(reading: Reading, flags: Flags) -> None:
    if on(flags, "untie-embeddings-and-output-weights"):
        flag = "untie-embeddings-and-output-weights"
        reading.state("tied_embeddings", False, f"--{flag}", flags.line(flag))
    elif "hidden-size" in flags or "num-layers" in flags:
        reading.default("tied_embeddings", True, f"{FRAMEWORK}: tied unless --untie-embeddings-and-output-weights")


def _layout(reading: Reading, flags: Flags) -> None:
    """Degrees are 1 without a flag; a flag with an unknown value leaves its degree unknown."""
    for name in ("tp", "pp", "cp", *(("ep",) if reading.get("experts") else ())):
        if not any(flag in flags for flag in STATED[name]):
            reading.default(name, 1, f"{FRAMEWORK}: {name} = 1")
    if any(flag in flags and flags.uses[flag].open for flag in STATED["cp"]):
        reading.extra["any_devices"] = True
    etp, _, _ = flags.get("expert-tensor-parallel-size")
    reading.extra["etp"] = whole(etp) or reading.get("tp")
    if "ds-sequence-parallel-size" in flags and flags.get("ds-sequence-parallel-size")[0] != "1":
        reading.extra["any_devices"] = True
        reading.drop("cp")
    _virtual_stages(reading, flags)
    _sharding(reading, flags)


def _virtual_stages(reading: Reading, flags: Flags) -> None:
    stages, key, line = flags.get("num-virtual-stages-per-pipeline-rank")
    each, each_key, each_line = flags.get("num-layers-per-virtual-pipeline-stage")
    layers, pp = whole(flags.get("num-layers")[0]), reading.get("pp")
    if stages:
        reading.state("vpp", stages, key, line)
    elif whole(each) and layers and pp:
        ends = ("account-for-embedding-in-pipeline-split", "account-for-loss-in-pipeline-split")
        total = layers + sum(on(flags, end) for end in ends)
        if total % (pp * int(each or 1)) == 0:
            reading.state("vpp", total // pp // int(each or 1), each_key, each_line)


def _sharding(reading: Reading, flags: Flags) -> None:
    strategy, key, line = flags.get("data-parallel-sharding-strategy")
    stages = {"optim_grads_params": 3, "optim_grads": 2, "optim": 1, "no_shard": 0}
    fsdp = next((n for n in ("use-torch-fsdp2", "use-custom-fsdp", "use-megatron-fsdp") if on(flags, n)), None)
    stage, stage_key, stage_line = flags.get("zero-stage")
    if fsdp and strategy in stages:
        reading.state("zero_stage", stages[strategy or ""], key, line)
    elif fsdp == "use-torch-fsdp2":
        reading.state("zero_stage", 3, f"--{fsdp}", flags.line(fsdp))
    elif stage is not None:
        reading.state("zero_stage", stage, stage_key, stage_line)
    elif on(flags, "use-distributed-optimizer"):
        reading.state("zero_stage", 1, "--use-distributed-optimizer", flags.line("use-distributed-optimizer"))
    elif not fsdp and "zero-stage" not in flags and "deepspeed" not in flags:
        reading.default("zero_stage", 0, f"{FRAMEWORK}: no sharding without --use-distributed-optimizer")


def _duration(reading: Reading, flags: Flags) -> None:
    ramp = ("rampup-batch-size", "step-batch-size-schedule")
    reading.extra["ramp"] = any(flag in flags for flag in ramp)
    if not any(flag in flags for flag in ("global-batch-size", "deepspeed", "rampup-batch-size")) and "micro-batch-size" in flags:
        reading.extra["accumulation"] = 1  # without a global batch Megatron takes one micro-batch per rank
    samples, _, _ = flags.get("train-samples")
    if whole(samples) and "tokens" not in reading.facts:
        reading.extra["samples"] = whole(samples)


def _precision(reading: Reading, flags: Flags) -> None:
    recipe, _, _ = flags.get("fp8-recipe")
    for flag, word in (("fp4-format", "nvfp4"), ("fp8-format", "mxfp8" if recipe == "mxfp8" else "fp8"), ("fp8-hybrid", "fp8"),
                       ("fp8-e4m3", "fp8"), ("bf16", "bf16"), ("fp16", "fp16")):  # fmt: skip
        if on(flags, flag):
            if not flags.uses[flag].open:
                reading.state("precision", word, f"--{flag}", flags.line(flag))
            return


def _recompute(reading: Reading, flags: Flags) -> None:
    word, key, line = flags.get("recompute-granularity")
    if on(flags, "recompute-activations"):
        reading.state("recompute", "selective", "--recompute-activations", flags.line("recompute-activations"))
        return
    if word:
        reading.state("recompute", word, key, line)
        return
    for flag in ("checkpoint-activations", "activations-checkpoint-method", "recompute-method"):
        if on(flags, flag):
            reading.state("recompute", "full", f"--{flag}", flags.line(flag))
            return
    if "recompute-granularity" not in flags:
        reading.default("recompute", "none", f"{FRAMEWORK}: nothing is recomputed without a flag")


def describe(reading: Reading, flags: Flags) -> None:
    """Fill what the parameter counter needs; complete only where the flags fix every matrix and vector."""
    arch = reading.architecture
    biased, rms = not on(flags, "disable-bias-linear"), (flags.get("normalization")[0] or "").lower() == "rmsnorm"
    arch.update(
        gated_mlp=on(flags, "swiglu"), mlp_bias=biased, expert_bias=biased, qkv_bias=biased or on(flags, "add-qkv-bias")
    )
    arch.update(attention_output_bias=biased, norm_vectors=1 if rms else 2, embedding_norm=on(flags, "embed-layernorm"))
    arch["router_bias"] = on(flags, "moe-router-enable-expert-bias")
    position = flags.get("position-embedding-type")[0] or "learned_absolute"
    rotary = any(on(flags, f) for f in ("use-rotary-position-embeddings", "no-position-embedding"))
    if position == "learned_absolute" and not rotary:
        arch["learned_positions"] = whole(flags.get("max-position-embeddings")[0]) or 0
    latent = bool(arch.get("mla"))
    if on(flags, "qk-layernorm") and not latent:
        arch["qk_norm"] = "head"
    arch["shared_expert_gate"] = on(flags, "moe-shared-expert-gate")
    # A LayerNorm in a model whose other biases are off: implementations disagree about its own bias.
    clear = (rms or biased) and not (on(flags, "qk-layernorm") and not rms)
    plain = not any(flag in flags for flag in UNCOUNTED) and not any(o in p for p in flags.positional for o in OTHER_MODELS)
    if latent and not (on(flags, "qk-layernorm") and arch["kv_lora_rank"] and arch["v_head_dim"] and arch["qk_nope_head_dim"]):
        plain = False
    arch["complete"] = clear and plain and not arch.get("shared_unclear") and _placed(arch, reading)


def _placed(arch: dict[str, Any], reading: Reading) -> bool:
    if not (reading.get("experts") or 0) > 1:
        return True
    marks = arch.get("moe_pattern") or []
    if True not in marks:
        return False
    dense = marks.index(True)
    arch["dense_layers"] = dense
    return all(marks[dense:])
