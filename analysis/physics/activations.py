"""Bytes that the backward pass needs of one layer and one micro-batch on one rank, module by module.

Every term is a tensor that an operation's backward reads, counted once where two operations share it. The unit is
tokens of the micro-batch on this context rank; the residual stream is divided by tensor parallelism only with sequence
parallelism, everything inside attention and MLP always. Expert parallelism divides no activation: each rank brings its
own tokens and, with even routing, receives as many as it sends.
"""

from __future__ import annotations

import numpy as np

from analysis.physics.architecture import Architecture, Array
from analysis.physics.memory_policy import MemoryPolicy
from analysis.physics.split import Split

Parts = dict[str, Array]

SINGLE = 4.0
"""Bytes of an FP32 number."""

LINEAR_CHUNK = 64.0
"""Tokens per chunk of the delta rule's kernels (flash-linear-attention)."""

ROUTER_BYTES = 13.0
"""Per token and expert: FP32 logits, scores and probabilities, and a one-byte routing map."""


def total(parts: Parts) -> Array:
    """Sum of the parts."""
    return sum(parts.values(), np.zeros(()))


def norm_parts(arch: Architecture, split: Split, policy: MemoryPolicy) -> Parts:
    """Residual stream at each norm, and the norm outputs that feed matrix products."""
    width = split.tokens * arch.hidden * split.residual_share
    outputs = np.minimum(arch.norms_per_layer, 2.0) * policy.linear_input
    return {
        "norm_inputs": (policy.activation + SINGLE * policy.eager_norm) * width * arch.norms_per_layer,
        "norm_outputs": outputs * width * (1 - policy.recompute.norm),
        "dropout_masks": 2 * width * policy.dropout,
    }


def attention_parts(arch: Architecture, split: Split, policy: MemoryPolicy) -> Parts:
    """Queries, keys, values, latents, core and output of one attention block.

    Flash attention keeps one FP32 number per head and token; unfused attention keeps the softmax (2 B per score) and,
    with dropout, a mask and the dropped scores (3 B more): the 5as/h of Korthikanti et al. 2022 (arXiv:2205.05198).
    Where TP exceeds the key/value heads, each rank keeps a whole one. Latent attention keeps both latents before and
    after their norm on the unsplit side, and full-width keys.
    """
    per_rank = split.tokens / split.tp
    is_latent = arch.mla > 0
    keys = np.where(is_latent, arch.heads, np.maximum(arch.kv_heads, split.tp))
    width = arch.heads * arch.qk_dim + keys * (arch.qk_dim + arch.v_dim)
    width = width + np.where(arch.qk_norm > 0, (arch.heads + keys) * arch.qk_dim, 0.0)
    latent = 2 * arch.q_lora_rank + 2 * arch.kv_lora_rank + arch.qk_rope_head_dim
    scores = arch.heads * split.seq_len * (policy.activation + 3 * policy.dropout)
    core = np.where(policy.unfused_attention > 0, scores, SINGLE * arch.heads)
    again = np.where(policy.linear_input < policy.activation, policy.linear_input, 0.0)
    latents = np.where(is_latent, latent, 0.0) + index_width(arch)
    softmax, linear = 1 - arch.linear_share, _linear_attention_bytes(arch, policy) * per_rank * arch.linear_share
    gated = arch.attention_gate * 2 * arch.heads * arch.v_dim
    return {
        "queries_keys_values": softmax * policy.activation * (width + gated) * per_rank * (1 - policy.recompute.qkv),
        "latents": softmax * policy.activation * latents * split.tokens * split.residual_share,
        "attention_core": softmax * core * per_rank * (1 - policy.recompute.core),
        "attention_output": softmax * (policy.activation + again) * arch.heads * arch.v_dim * per_rank,
        "linear_attention": linear,
    }


def index_width(arch: Architecture) -> Array:
    """Elements that the indexer of sparse attention keeps per token: its queries, key and head weights."""
    wide = arch.index_heads * (arch.index_head_dim + 1) + arch.index_head_dim
    return np.where(arch.index_topk > 0, wide, 0.0)


def _linear_attention_bytes(arch: Architecture, policy: MemoryPolicy) -> Array:
    """Bytes per token of a gated delta-rule layer: inputs of the convolution, what it returns, gate and output twice
    (before and after norm and gate), and one state per chunk of 64 tokens (Gated DeltaNet, arXiv:2412.06464, sec. 3.3).
    """
    into = 2 * arch.linear_keys + arch.linear_values
    state = arch.linear_value_heads * arch.linear_key_dim * arch.linear_value_dim / LINEAR_CHUNK
    return policy.activation * (2 * into + 3 * arch.linear_values + state)


def _mlp_bytes(arch: Architecture, policy: MemoryPolicy, activation_kept: Array) -> Array:
    """Bytes per inner element of an MLP: inputs of the activation, and the input of the last product."""
    inputs = policy.activation * (1 + arch.gated_mlp * (1 + policy.separate_gate))
    return inputs + policy.linear_input * activation_kept


def dense_mlp_parts(arch: Architecture, split: Split, policy: MemoryPolicy) -> Parts:
    """Inside of a dense MLP: 6f with a fused gated activation, 4f without a gate (2 B each)."""
    inside = _mlp_bytes(arch, policy, np.asarray(1.0)) * arch.ffn_hidden * split.tokens / split.tp
    return {"mlp": inside * (1 - policy.recompute.mlp)}


def routed_tokens(arch: Architecture, split: Split) -> Array:
    """Token copies that one rank's experts work on, with even routing: k per token, whatever ep is [tokens].

    With sequence parallelism a rank sends its own 1/tp of the tokens; splitting experts over etp gathers them again.
    """
    share = np.where(split.sequence_parallel > 0, split.etp / split.tp, 1.0)
    return split.tokens * arch.experts_per_token * share


def moe_mlp_parts(arch: Architecture, split: Split, policy: MemoryPolicy) -> Parts:
    """Inside of a mixture of experts: router, gathered token copies, routed and shared experts.

    The router's probability multiplies the activation, not the expert's output, so that the output is not kept
    (Megatron-Core MoE, arXiv:2603.07685, sec. 4.1).
    """
    copies = routed_tokens(arch, split)
    kept = 1 - policy.recompute.experts
    inside = _mlp_bytes(arch, policy, 1 - policy.recompute.expert_activation) * arch.moe_ffn_hidden / split.etp
    shared = _mlp_bytes(arch, policy, np.asarray(1.0)) * arch.shared_ffn_hidden / split.tp
    return {
        "router": ROUTER_BYTES * arch.experts * split.tokens * split.residual_share * kept,
        "dispatched_tokens": policy.linear_input * arch.hidden * copies * kept,
        "routed_experts": inside * copies * kept,
        "shared_experts": shared * split.tokens * kept * (1 - policy.recompute.shared_expert),
    }


def checkpointed(parts: Parts, arch: Architecture, split: Split, policy: MemoryPolicy) -> Parts:
    """What remains of a layer under whole-layer and operator-level recomputation."""
    kept = (1 - policy.recompute.layer) * (1 - policy.recompute.operator)
    layer_input = policy.activation * split.tokens * arch.hidden * split.residual_share
    remains = {name: value * kept for name, value in parts.items()}
    saved = layer_input * policy.recompute.layer / policy.recompute.every + np.zeros_like(kept)
    if np.any(policy.recompute.operator > 0):
        saved = saved + operator_outputs(arch, split, policy) * policy.recompute.operator
    remains["checkpoints"] = saved
    on_device = 1 - policy.offloaded_activations
    return {name: value * on_device for name, value in remains.items()}


def operator_outputs(arch: Architecture, split: Split, policy: MemoryPolicy) -> Array:
    """Tensors that operator-level checkpointing keeps of a layer: its input, the attention output and every second
    matrix product (queries, values, the first and the last of the MLP), torchtitan's `op` policy [B].

    Of a mixture of experts it keeps the dispatched tokens and recomputes the experts.
    """
    per_rank = split.tokens / split.tp
    is_moe = arch.moe_layers > 0
    values = np.where(arch.mla > 0, arch.kv_lora_rank, arch.kv_heads * arch.v_dim)
    attention = arch.heads * (arch.qk_dim + arch.v_dim) + values
    inner = np.where(is_moe, arch.shared_ffn_hidden, arch.ffn_hidden)
    dispatched = np.where(is_moe, routed_tokens(arch, split) * arch.hidden, 0.0)
    stream = 2 * arch.hidden * split.residual_share * split.tokens
    return policy.activation * (stream + (attention + inner) * per_rank + dispatched) + SINGLE * arch.heads * per_rank


def whole_layer(arch: Architecture, split: Split, policy: MemoryPolicy) -> tuple[Parts, Parts]:
    """Parts of a dense and of an MoE layer before whole-layer or operator-level recomputation."""
    common = norm_parts(arch, split, policy) | attention_parts(arch, split, policy)
    if not np.any(arch.experts > 0):
        dense = common | dense_mlp_parts(arch, split, policy)
        return dense, dense
    return common | dense_mlp_parts(arch, split, policy), common | moe_mlp_parts(arch, split, policy)


def layer_bytes(arch: Architecture, split: Split, policy: MemoryPolicy) -> tuple[Parts, Parts]:
    """Bytes kept of one dense layer and of one MoE layer for one micro-batch, by part [B].

    Parameters
    ----------
    arch, split, policy
        What the layer is, how it is cut, what is kept (see `split.MemoryPolicy`).

    Returns
    -------
    tuple of dict
        (dense layer, MoE layer), values [B].

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> gpt = describe(dict(layers=48, hidden=6144, ffn_hidden=24576, heads=64, gated_mlp=False))
    >>> cut = split(seq_len=2048, micro_batch=4, tp=8, sequence_parallel=1)
    >>> dense, _ = layer_bytes(gpt, cut, memory_policy(unfused_attention=1, dropout=1))
    >>> float(sum(dense.values())) * 48 / 2**30
    39.5625
    """
    dense, mixture = whole_layer(arch, split, policy)
    return checkpointed(dense, arch, split, policy), checkpointed(mixture, arch, split, policy)


def head_bytes(arch: Architecture, split: Split, policy: MemoryPolicy) -> Array:
    """Input and output of the final norm, kept for the head [B]."""
    return 2 * policy.activation * split.tokens * arch.hidden * split.residual_share


def logit_bytes(arch: Architecture, split: Split, policy: MemoryPolicy) -> Array:
    """Logits, their FP32 copy and gradient at the peak of the loss, split over tensor parallelism [B].

    >>> from analysis.physics.architecture import describe
    >>> from analysis.physics.memory_policy import memory_policy
    >>> from analysis.physics.split import split
    >>> float(logit_bytes(describe({"vocab": 50304}), split(seq_len=4096), memory_policy(logit_bytes=4))) / 2**20
    786.0
    """
    return policy.logit_bytes * split.tokens * arch.vocab / split.tp


def backward_bytes(arch: Architecture, split: Split, policy: MemoryPolicy, layer: Array | None = None) -> Array:
    """Passing tensors of the backward pass of one layer [B]; `layer` is its whole size where that is known.

    A recomputed group of layers brings back all that it had dropped; beside it stand the gradients of the widest
    module: of the MLP's inner tensors (with those of the token copies in a mixture of experts), or of the scores and
    the softmax in unfused attention.
    """
    is_moe = arch.moe_layers > 0
    if layer is None:
        dense, mixture = whole_layer(arch, split, policy)
        layer = np.where(is_moe, total(mixture), total(dense))
    group = np.where(policy.recompute.layer > 0, policy.recompute.every, 0.0)
    again = layer * np.maximum(group, policy.recompute.operator)
    stream = 2 * policy.activation * split.tokens * arch.hidden
    copies = routed_tokens(arch, split)
    inner = np.where(is_moe, arch.moe_ffn_hidden * copies / split.etp, arch.ffn_hidden * split.tokens / split.tp)
    returned = np.where(is_moe, policy.activation * arch.hidden * copies, 0.0)
    scores = 2 * policy.activation * policy.unfused_attention * arch.heads * split.seq_len * split.tokens / split.tp
    return again + stream + np.maximum(policy.activation * (2 + arch.gated_mlp) * inner + returned, scores)
