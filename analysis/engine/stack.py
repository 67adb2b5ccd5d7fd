"""Which tensors a row's stack stores, in which width: from the row's words to the numbers of `physics.split.Recipe`.

Tables of measurements seldom print the widths of gradients and moments, but stacks differ in them for reasons that
other columns show. Each rule below is a property of a stack, not of a source:

- ZeRO-3 and FSDP keep FP32 shards of weights, gradients and moments (16 B) and gather 16-bit copies (PyTorch FSDP's
  mixed precision); plain `selective` recompute means operator-level checkpointing there, since nothing else exists.
- FP16 gradients are accumulated in FP16 (DeepSpeed and Megatron-LM alike): 2 + 2 + 12 B.
- BF16 gradients are accumulated in FP32 (Megatron-LM forces it): 2 + 4 + 12 B; DeepSpeed's BF16 optimizer keeps the
  BF16 gradient beside the FP32 one: 2 + 6 + 12 B.
- Latent attention goes with the optimizer its authors introduced, BF16 moments (DeepSeek-V3, arXiv:2412.19437,
  sec. 3.3.2), and with BF16 gradients in the public recipes (Megatron-Bridge, deepseek and moonlight). A model cut
  down to a few layers is a test on Megatron-LM's defaults, not a recipe: FP32 gradients and moments, plain loss.
- Pure 16-bit training stores weights, gradients and moments in 16 bits: 8 B.
- One accelerator with fused attention is nobody's Megatron: it runs PyTorch's own loss, gradients are 16-bit like the
  weights and come into being during the backward pass. LOMO (arXiv:2306.09782) keeps weights only.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from analysis.layout import words as recipes
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array, Mask
from analysis.physics import attention
from analysis.physics.split import Recipe

Constants = Mapping[str, float]

DEEPEST_RATIO = 300.0
"""Width over depth beyond which a model has been cut down: published ones stay below 256 (GPT-3 128, 1T GPT 200)."""

INPUT_BYTES = {recipes.FP8: 1.0, recipes.MXFP8: 33 / 32, recipes.NVFP4: 9 / 16}
"""Bytes of a saved matrix-product input where Transformer Engine keeps it quantised; block scales included."""


@dataclass(frozen=True)
class Stack:
    """Which family of software a row's words point to; exactly one of the first four holds per row.

    `native` marks PyTorch's own training loop among them: pure, sharded, or `alone` on one accelerator.
    """

    pure: Mask
    sharded: Mask
    deepspeed: Mask
    megatron: Mask
    alone: Mask
    native: Mask

    @classmethod
    def of(cls, rows: Rows) -> Stack:
        """Tell the stack from precision words, ZeRO stage and arithmetic."""
        pure = rows.words.pure_16bit > 0
        sharded = (rows.split.zero_stage >= 3) & ~pure
        half = (rows.words.dtype == recipes.FP16) & (rows.split.zero_stage >= 1)
        deepspeed = ((rows.words.deepspeed_bf16 > 0) | half) & ~pure & ~sharded
        alone = (rows.number["accelerators"] == 1) & (rows.kernel != attention.UNFUSED) & ~(pure | sharded | deepspeed)
        return cls(pure, sharded, deepspeed, ~(pure | sharded | deepspeed), alone, pure | sharded | alone)


def is_cut_down(rows: Rows) -> Mask:
    """Rows whose model has far fewer layers than one of its width would have."""
    return np.asarray(rows.arch.hidden / rows.arch.layers > DEEPEST_RATIO)


def widths(rows: Rows, stack: Stack) -> dict[str, Array]:
    """Bytes per parameter on the device of weights, gradients, master weights and moments (both together).

    An optimizer on the host takes master weights and moments with it, and from ZeRO-2 on the gradients too.
    """
    words = rows.words
    single = words.dtype == recipes.FP32
    latent = (rows.arch.mla > 0) & stack.megatron & ~single & ~is_cut_down(rows)
    whole = stack.sharded | single
    half = (words.dtype == recipes.FP16) | latent | stack.alone
    gradient = np.select([stack.pure, whole, words.deepspeed_bf16 > 0, half], [2.0, 4.0, 6.0, 2.0], 4.0)
    moments = np.select([~np.isnan(words.moment_bytes), stack.pure | latent], [words.moment_bytes, 4.0], 8.0)
    moments = np.where(np.isnan(rows.stated.moment), moments, 2 * rows.stated.moment)
    gradient = np.where(np.isnan(rows.stated.gradient), gradient, rows.stated.gradient)
    away = words.offloaded_optimizer > 0
    gone = (words.no_gradients > 0) | (away & (rows.split.zero_stage >= 2))
    return {
        "weight": np.where(words.offloaded_weights > 0, 0.0, np.where(whole, 4.0, 2.0)),
        "gradient": np.where(gone, 0.0, gradient),
        "master": np.where(stack.pure | whole | away | (words.no_master > 0), 0.0, 4.0),
        "moments": np.where(away, 0.0, moments),
        "working_weight": np.where(single, 4.0, 2.0),
    }


def recompute_shares(rows: Rows, stack: Stack) -> dict[str, Array]:
    """Shares of a layer that are dropped; plain `selective` is operator-level where weights are sharded."""
    said = rows.recompute
    operator = stack.sharded & (said.plain_selective > 0) & (rows.kernel != attention.UNFUSED)
    on_stage = rows.arch.layers / rows.split.pp
    part = np.where(said.layer_count > 0, np.minimum(said.layer_count / on_stage, 1.0), 1.0)
    return {
        "recompute_layer": said.layer * part,
        "checkpoint_every": np.maximum(said.every, 1.0),
        "recompute_core": np.where(operator, 0.0, said.core),
        "recompute_qkv": said.qkv,
        "recompute_mlp": said.mlp,
        "recompute_experts": said.experts,
        "recompute_expert_activation": said.expert_activation,
        "recompute_shared_expert": said.shared_expert,
        "recompute_norm": said.norm,
        "recompute_operator": np.maximum(said.operator, operator),
        "offloaded_activations": said.offloaded,
    }


def logit_width(rows: Rows, stack: Stack, constants: Constants) -> Array:
    """Bytes per token and vocabulary entry at the peak of the loss.

    Megatron's fused loss works in place on 16-bit logits and comes with fused attention; its older form holds an FP32
    copy and the probabilities. PyTorch's own loss holds logits, log-probabilities and two FP32 gradients. A pure 16-bit
    run that recomputes every layer is squeezed, and computes its loss in chunks. A `loss` column outranks all this.
    """
    flash = rows.kernel != attention.UNFUSED
    squeezed = stack.pure & (rows.recompute.layer > 0)
    kinds = ((squeezed, "chunked"), (stack.native, "eager"), (stack.megatron & flash & ~is_cut_down(rows), "fused"))
    conditions = [condition for condition, _ in kinds]
    widths = [constants[f"logits.{kind}_bytes"] for _, kind in kinds]
    inferred = np.select(conditions, widths, constants["logits.unfused_bytes"])
    named = [rows.stated.loss == code for code in recipes.LOSSES.values()]
    return np.select(named, [constants[f"logits.{name}_bytes"] for name in recipes.LOSSES], inferred)


def resolve(rows: Rows, stack: Stack, constants: Constants) -> Recipe:
    """The recipe of every row."""
    inputs = np.select([rows.words.dtype == code for code in INPUT_BYTES], list(INPUT_BYTES.values()), 2.0)
    unfused = np.where(rows.kernel == attention.UNFUSED, 1.0, 0.0)
    return Recipe(
        **widths(rows, stack),
        **recompute_shares(rows, stack),
        linear_input=np.where(stack.megatron, inputs, 2.0),
        unfused_attention=unfused,
        dropout=np.where(rows.arch.gated_mlp > 0, 0.0, unfused),
        separate_gate=np.where(stack.sharded, rows.arch.gated_mlp, 0.0),
        eager_norm=np.zeros(len(rows)),
        stage_output=np.where(stack.deepspeed, 1.0, 0.0),
        late_gradients=np.where(stack.native, 1.0, 0.0),
        logit_bytes=logit_width(rows, stack, constants),
    )


def overheads(rows: Rows, stack: Stack, constants: Constants) -> tuple[Array, Array]:
    """(factor on what tensors need, bytes beside them): allocator slack, context and communication buffers.

    A row can state the kind of figure it wants (`memory_kind`). Else the stack decides: Megatron and pure stacks
    report what the allocator handed out (torch's max allocated). FSDP stacks log what it reserved. The DeepSpeed
    generation has neither in its logs and quotes nvidia-smi: reserved memory of an allocator without expandable
    segments, plus the CUDA context. DeepSpeed's flat buckets are tensors that no other part counts.
    """
    kind = np.select([stack.sharded, stack.deepspeed], [recipes.KINDS["reserved"], recipes.KINDS["nvidia-smi"]], 0.0)
    kind = np.where(np.isnan(rows.stated.kind), kind, rows.stated.kind)
    slack = [constants["slack.reserved"], constants["slack.device"]]
    shown = kind == recipes.KINDS["nvidia-smi"]
    factor = np.select([kind == recipes.KINDS["reserved"], shown], slack, 1.0)
    beside = np.where(shown, constants["context_gib"], 0.0) + np.where(stack.deepspeed, constants["bucket_gib"], 0.0)
    return factor, beside * 2.0**30
