"""What Megatron flags say about parameters beyond the widths: biases, norms, positions."""

from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.formats.megatron.megatron_experts import on
from etl.importers.shell.flags import Flags

# Flags of models that have more than the plain decoder's matrices, and scripts of models that are not decoders.
UNCOUNTED = (
    "hybrid-override-pattern", "hybrid-layer-pattern", "hybrid-attention-ratio", "is-hybrid-model", "spec", "xielu",
    "geglu",
    "glu-activation", "attention-output-gate", "experimental-attention-variant", "linear-attention-freq", "deepnorm",
    "moe-latent-size", "add-bias-linear", "mlp-type",
)  # fmt: skip
SWITCHES = {
    "embedding_norm": "embed-layernorm",
    "router_bias": "moe-router-enable-expert-bias",
    "shared_expert_gate": "moe-shared-expert-gate",
}
OTHER_MODELS = ("bert", "t5", "vlm", "retro", "vit", "mamba", "ict", "multimodal")


def describe(reading: Reading, flags: Flags) -> None:
    """Fill what the parameter counter needs; complete only where the flags fix every matrix and vector."""
    arch = reading.architecture
    biased, rms = not on(flags, "disable-bias-linear"), (flags.get("normalization")[0] or "").lower() == "rmsnorm"
    arch.update(gated_mlp=on(flags, "swiglu"), mlp_bias=biased, expert_bias=biased, attention_output_bias=biased)
    # Models without biases are published without those of a LayerNorm either, so its weight alone is counted there.
    arch.update(qkv_bias=biased or on(flags, "add-qkv-bias"), norm_vectors=1 if rms or not biased else 2)
    arch.update({name: on(flags, flag) for name, flag in SWITCHES.items()})
    _positions(arch, flags)
    if on(flags, "qk-layernorm") and not arch.get("mla"):
        arch["qk_norm"] = "head"
    clear = rms or not on(flags, "qk-layernorm")
    arch["complete"] = clear and _plain(arch, flags) and not arch.get("shared_unclear") and _placed(arch, reading)


def _positions(arch: dict[str, Any], flags: Flags) -> None:
    """A table of learned positions, which Megatron has unless a flag says otherwise."""
    kind = flags.get("position-embedding-type")[0] or "learned_absolute"
    rotary = any(on(flags, flag) for flag in ("use-rotary-position-embeddings", "no-position-embedding"))
    if kind == "learned_absolute" and not rotary:
        arch["learned_positions"] = whole(flags.get("max-position-embeddings")[0]) or 0


def _plain(arch: dict[str, Any], flags: Flags) -> bool:
    """Whether the model is a plain decoder; latent attention has its norms only with --qk-layernorm."""
    if any(use.maybe for use in flags.uses.values()) or any(flag in flags for flag in UNCOUNTED):
        return False
    if any(other in script for script in flags.positional for other in OTHER_MODELS):
        return False
    ranks = ("kv_lora_rank", "v_head_dim", "qk_nope_head_dim")
    return not arch.get("mla") or (on(flags, "qk-layernorm") and all(arch[rank] for rank in ranks))


def _placed(arch: dict[str, Any], reading: Reading) -> bool:
    if not (reading.get("experts") or 0) > 1:
        return True
    marks = arch.get("moe_pattern") or []
    if True not in marks:
        return False
    dense = marks.index(True)
    arch["dense_layers"] = dense
    return all(marks[dense:])
