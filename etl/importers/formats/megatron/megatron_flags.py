"""Command-line flags of Megatron-LM, Megatron-DeepSpeed and MindSpeed in the project's field names."""

import re

from etl.importers.derive import attention_defaults
from etl.importers.facts import Reading
from etl.importers.fields import number, whole
from etl.importers.formats.megatron.megatron_counts import describe
from etl.importers.formats.megatron.megatron_experts import FRAMEWORK, TOP_K, feed_forward, hybrid, on, undecided
from etl.importers.frameworks import MEGATRON, Framework
from etl.importers.shell.flags import Flags

# Field -> the flags that state it, in order of preference.
STATED: dict[str, tuple[str, ...]] = {
    "hidden": ("hidden-size",),
    "heads": ("num-attention-heads",),
    "seq_len": ("seq-length", "encoder-seq-length", "max-length"),
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
    "experts_per_token": TOP_K,
}
MLA_RANKS: dict[str, tuple[str, ...]] = {
    "q_lora_rank": ("q-lora-rank",),
    "kv_lora_rank": ("kv-lora-rank",),
    "qk_nope_head_dim": ("qk-head-dim", "qk-nope-head-dim"),
    "qk_rope_head_dim": ("qk-pos-emb-head-dim", "qk-rope-head-dim"),
    "v_head_dim": ("v-head-dim",),
}
GROUPS = ("num-query-groups", "num-key-value-heads")
FSDP = ("use-torch-fsdp2", "use-custom-fsdp", "use-megatron-fsdp")
RECOMPUTE = ("checkpoint-activations", "activations-checkpoint-method", "recompute-method")
SPEAKING: dict[str, tuple[str, ...]] = {
    **{name: (*STATED[name], *(("ds-sequence-parallel-size",) if name == "cp" else ())) for name in ("tp", "pp", "cp")},
    "ep": STATED["ep"],
    "sequence_parallel": ("sequence-parallel",),
    "micro_batch": STATED["micro_batch"],
    "global_batch": STATED["global_batch"],
    "zero_stage": ("zero-stage", "deepspeed", "use-distributed-optimizer", *FSDP),
    "recompute": ("recompute-granularity", "recompute-activations", *RECOMPUTE),
}
"""The flags that decide a field; its default is a fact only where none of them is there."""
CORE = frozenset(
    {"num-layers", "hidden-size", "num-attention-heads", "micro-batch-size", "global-batch-size", "seq-length"}
)
CORE_PARALLEL = frozenset({"tensor-model-parallel-size", "pipeline-model-parallel-size"})


def read_flags(reading: Reading, flags: Flags, framework: Framework | None = MEGATRON) -> None:
    """State what the flags say and, where a framework is established, what it does without them."""
    for name, options in STATED.items():
        value, key, line = flags.get(*options)
        if value is not None:
            reading.state(name, value, key, line)
    _layers(reading, flags)
    _attention(reading, flags)
    feed_forward(reading, flags)
    hybrid(reading, flags)
    _tying(reading, flags)
    _layout(reading, flags, framework)
    _duration(reading, flags, framework)
    _precision(reading, flags)
    _recompute(reading, flags)
    _run_defaults(reading, flags, framework)
    _windows(reading, flags)
    describe(reading, flags)


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
    groups, key, line = flags.get(*GROUPS)
    grouped = on(flags, "group-query-attention") or key == "--num-key-value-heads"
    if grouped and groups:
        reading.state("kv_heads", groups, key, line)
    channels, key, line = flags.get("kv-channels")
    if channels:
        reading.state("head_dim", channels, key, line)
    attention_defaults(reading, FRAMEWORK)
    doubtful = any(name in flags and flags.uses[name].open for name in GROUPS) or undecided(
        flags, "group-query-attention"
    )
    ignored = groups is not None and not grouped and whole(groups) != reading.get("heads")
    if doubtful or ignored or (grouped and not groups):
        reading.drop("kv_heads")
    if "kv-channels" in flags and flags.uses["kv-channels"].open:
        reading.drop("head_dim")


def _tying(reading: Reading, flags: Flags) -> None:
    if on(flags, "untie-embeddings-and-output-weights"):
        flag = "untie-embeddings-and-output-weights"
        reading.state("tied_embeddings", False, f"--{flag}", flags.line(flag))
    elif (
        not undecided(flags, "untie-embeddings-and-output-weights") and {"hidden-size", "num-layers"} & flags.certain()
    ):
        reading.default("tied_embeddings", True, f"{FRAMEWORK}: tied unless --untie-embeddings-and-output-weights")


def _run_defaults(reading: Reading, flags: Flags, framework: Framework | None) -> None:
    """What the framework does where no flag speaks; a flag whose value is not known leaves its field unknown."""
    if framework is None:
        return
    for name, value in framework.run.items():
        experts = name != "ep" or reading.get("experts")
        if experts and not any(flag in flags for flag in SPEAKING[name]):
            reading.default(name, value, f"{framework.name}: {name} {value} without a flag ({framework.source})")


def _layout(reading: Reading, flags: Flags, framework: Framework | None) -> None:
    if any(flag in flags and flags.uses[flag].open for flag in STATED["cp"]):
        reading.extra["any_devices"] = True
    _expert_tensor(reading, flags, framework)
    if "ds-sequence-parallel-size" in flags and flags.get("ds-sequence-parallel-size")[0] != "1":
        reading.extra["any_devices"] = True
        reading.drop("cp")
    if on(flags, "sequence-parallel"):
        reading.state("sequence_parallel", True, "--sequence-parallel", flags.line("sequence-parallel"))
    _virtual_stages(reading, flags)
    _sharding(reading, flags)


def _expert_tensor(reading: Reading, flags: Flags, framework: Framework | None) -> None:
    """Ranks that share an expert: a flag, else the tensor-parallel ranks or one, by framework."""
    value, key, line = flags.get("expert-tensor-parallel-size")
    reading.extra["etp"] = whole(value)
    if value is not None and (reading.get("experts") or 0) > 1:
        reading.state("etp", value, key, line)
    elif "expert-tensor-parallel-size" not in flags and framework is not None:
        reading.extra["etp"] = reading.get("tp") if framework.experts_over_tp else 1


def _windows(reading: Reading, flags: Flags) -> None:
    """Local attention, prediction modules, and layers that the engine has no formula for."""
    value, key, line = flags.get("mtp-num-layers")
    if whole(value):
        reading.state("mtp_layers", value, key, line)
    window = re.match(r"\(?\s*(\d+)", flags.joined("window-size") or "")
    layers, skip = reading.get("layers"), whole(flags.get("window-attn-skip-freq")[0])
    if window and layers and ("window-attn-skip-freq" not in flags or skip):
        reading.state("sliding_window", window.group(1), "--window-size", flags.line("window-size"))
        local = layers - layers // skip if skip else layers
        reading.state(
            "sliding_window_layers", local, "--window-attn-skip-freq", flags.line("window-attn-skip-freq"), "derived"
        )
    elif window:
        reading.warn("window-unclear", "--window-attn-skip-freq is a list; which layers attend locally is not counted")
    pattern = "".join(str(flags.get(name)[0] or "") for name in ("hybrid-override-pattern", "hybrid-layer-pattern"))
    if "M" in pattern or number_of(flags, "hybrid-attention-ratio") or "linear-attention-freq" in flags:
        reading.not_modelled("layers of linear attention or state space")
    if reading.architecture.get("shared_unclear"):
        reading.not_modelled("shared experts of an unclear width")


def number_of(flags: Flags, name: str) -> int | float | None:
    """The number that a flag states."""
    return number(flags.get(name)[0])


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
        else:
            reading.warn("vpp-does-not-fit", f"{total} layers are not divisible by {pp} stages of chunks of {each}")


def _sharding(reading: Reading, flags: Flags) -> None:
    strategy, key, line = flags.get("data-parallel-sharding-strategy")
    stages = {"optim_grads_params": 3, "optim_grads": 2, "optim": 1, "no_shard": 0}
    fsdp = next((n for n in FSDP if on(flags, n)), None)
    stage, stage_key, stage_line = flags.get("zero-stage")
    if fsdp and strategy in stages:
        reading.state("zero_stage", stages[strategy or ""], key, line)
    elif fsdp == "use-torch-fsdp2":
        reading.state("zero_stage", 3, f"--{fsdp}", flags.line(fsdp))
    elif stage is not None:
        reading.state("zero_stage", stage, stage_key, stage_line)
    elif on(flags, "use-distributed-optimizer"):
        reading.state("zero_stage", 1, "--use-distributed-optimizer", flags.line("use-distributed-optimizer"))


def _duration(reading: Reading, flags: Flags, framework: Framework | None) -> None:
    ramp = ("rampup-batch-size", "step-batch-size-schedule")
    reading.extra["ramp"] = any(flag in flags for flag in ramp)
    if (
        not any(flag in flags for flag in ("global-batch-size", "deepspeed", "rampup-batch-size"))
        and "micro-batch-size" in flags
        and framework is not None
    ):
        reading.extra["accumulation"] = 1  # without a global batch Megatron takes one micro-batch per rank
    if "max-length" in flags and not on(flags, "packing"):
        reading.extra["cap"] = True  # ms-swift: a sample is at most that long
    samples, _, _ = flags.get("train-samples")
    if whole(samples) and "tokens" not in reading.facts:
        reading.extra["samples"] = whole(samples)
    _two_ends(reading)


def _two_ends(reading: Reading) -> None:
    """Steps beside a token count: the earlier end is the plan."""
    steps, batch, length, tokens = (reading.get(n) for n in ("train_steps", "global_batch", "seq_len", "tokens"))
    if reading.extra.get("ramp") or not (steps and batch and length and tokens) or steps * batch * length == tokens:
        return
    reading.warn("two-ends", f"{steps} steps are {steps * batch * length} tokens, and the file also says {tokens}")
    reading.drop("train_steps" if steps * batch * length > tokens else "tokens")


def _precision(reading: Reading, flags: Flags) -> None:
    recipe, _, _ = flags.get("fp8-recipe")
    eight = "mxfp8" if recipe == "mxfp8" else "fp8"
    words = {"fp4-format": "nvfp4", "fp8-format": eight, "fp8-hybrid": "fp8", "fp8-e4m3": "fp8"}
    for flag, word in (words | {"bf16": "bf16", "fp16": "fp16"}).items():
        if on(flags, flag) and not (word == "fp8" and "fp8-recipe" in flags and recipe is None):
            reading.state("precision", word, f"--{flag}", flags.line(flag))
        if flag in flags:
            return


def _recompute(reading: Reading, flags: Flags) -> None:
    word, key, line = flags.get("recompute-granularity")
    if on(flags, "recompute-activations"):
        reading.state("recompute", "selective", "--recompute-activations", flags.line("recompute-activations"))
        return
    if word:
        reading.state("recompute", word, key, line)
        return
    for flag in RECOMPUTE:
        if on(flags, flag):
            reading.state("recompute", "full", f"--{flag}", flags.line(flag))
            return
