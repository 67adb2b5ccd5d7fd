"""What Megatron flags say about parameters beyond the widths: biases, norms, positions."""

from typing import Any

from etl.importers.facts import Reading
from etl.importers.fields import whole
from etl.importers.megatron_experts import on
from etl.importers.shell_flags import Flags

# Flags of models that have more than the plain decoder's matrices, and scripts of models that are no decoders.
UNCOUNTED = (
    "hybrid-override-pattern", "hybrid-layer-pattern", "hybrid-attention-ratio", "is-hybrid-model", "spec", "xielu",
    "geglu",
    "glu-activation", "attention-output-gate", "experimental-attention-variant", "linear-attention-freq", "deepnorm",
    "moe-latent-size", "add-bias-linear", "mlp-type",
)  # fmt: skip
OTHER_MODELS = ("bert", "t5", "vlm", "retro", "vit", "mamba", "ict", "multimodal")


def describe(reading: Reading, flags: Flags) -> None:
    """Fill what the parameter counter needs; complete only where the flags fix every matrix and vector."""
    arch = reading.architecture
    biased, rms = not on(flags, "disable-bias-linear"), (flags.get("normalization")[0] or "").lower() == "rmsnorm"
    arch.update(
        gated_mlp=on(flags, "swiglu"), mlp_bias=biased, expert_bias=biased, qkv_bias=biased or on(flags, "add-qkv-bias")
    )
    arch.update(
        attention_output_bias=biased,
        norm_vectors=1 if rms or not biased else 2,
        embedding_norm=on(flags, "embed-layernorm"),
    )
    arch["router_bias"] = on(flags, "moe-router-enable-expert-bias")
    position = flags.get("position-embedding-type")[0] or "learned_absolute"
    rotary = any(on(flags, f) for f in ("use-rotary-position-embeddings", "no-position-embedding"))
    if position == "learned_absolute" and not rotary:
        arch["learned_positions"] = whole(flags.get("max-position-embeddings")[0]) or 0
    latent = bool(arch.get("mla"))
    if on(flags, "qk-layernorm") and not latent:
        arch["qk_norm"] = "head"
    arch["shared_expert_gate"] = on(flags, "moe-shared-expert-gate")
    # Models without biases are published without those of a LayerNorm either, so its weight alone is counted there.
    clear = rms or not on(flags, "qk-layernorm")
    plain = (
        not any(use.maybe for use in flags.uses.values())
        and not any(flag in flags for flag in UNCOUNTED)
        and not any(o in p for p in flags.positional for o in OTHER_MODELS)
    )
    if latent and not (
        on(flags, "qk-layernorm") and arch["kv_lora_rank"] and arch["v_head_dim"] and arch["qk_nope_head_dim"]
    ):
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
