"""Which tensors a row keeps, in which width: from its words and its software to `physics.memory_policy.MemoryPolicy`.

Tables of measurements seldom print the widths of gradients and moments, but stacks differ in them for reasons that
other columns show. Where the table of stacks has no entry, these rules hold:

- ZeRO-3 and FSDP keep FP32 shards of weights, gradients and moments (16 B) and gather 16-bit copies (PyTorch FSDP's
  mixed precision); plain `selective` recompute means operator-level checkpointing there, since nothing else exists.
- FP16 gradients are accumulated in FP16 (DeepSpeed and Megatron-LM alike): 2 + 2 + 12 B.
- BF16 gradients are accumulated in FP32 (Megatron-LM forces it): 2 + 4 + 12 B; DeepSpeed's BF16 optimizer keeps the
  BF16 gradient beside the FP32 one: 2 + 6 + 12 B.
- Latent attention goes with the optimizer its authors introduced, BF16 moments (DeepSeek-V3, arXiv:2412.19437,
  sec. 3.3.2), and with BF16 gradients in the public recipes (Megatron-Bridge, deepseek and moonlight). A model cut
  down to a few layers is a test on Megatron-LM's defaults, not a recipe: FP32 gradients and moments, plain loss.
- Pure 16-bit training stores weights, gradients and moments in 16 bits: 8 B.
- Fused attention on one accelerator means PyTorch's own loss and 16-bit gradients that come into being during the
  backward pass. LOMO (arXiv:2306.09782) keeps weights only.
"""

from __future__ import annotations

import numpy as np

from analysis.engine.stack import Constants, Stack
from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.layout.reasons import Mask
from analysis.physics import adapters, attention, parameters
from analysis.physics.checkpointing import Recompute
from analysis.physics.memory_policy import MemoryPolicy
from schemas.conventions import ELEMENT_BYTES

QUANTISED = {words.FP8: "fp8", words.MXFP8: "mxfp8", words.NVFP4: "nvfp4"}
"""Types in which Transformer Engine keeps the saved input of a matrix product, block scales included."""


def is_cut_down(rows: Rows, constants: Constants) -> Mask:
    """Rows whose model has far fewer layers than one of its width would have."""
    return np.asarray(rows.arch.hidden / rows.arch.layers > constants["deepest_ratio"])


def widths(rows: Rows, stack: Stack, constants: Constants) -> dict[str, Array]:
    """Bytes per parameter on the device of weights, gradients, master weights and moments (both together).

    An optimizer on the host takes master weights and moments with it, and from ZeRO-2 on the gradients too.
    """
    row_words = rows.words
    single = row_words.dtype == words.FP32
    latent = (rows.arch.mla > 0) & stack.megatron & ~single & ~is_cut_down(rows, constants)
    whole = stack.sharded | single
    half = (row_words.dtype == words.FP16) | latent | stack.alone
    gradient = np.select([stack.pure, whole, row_words.deepspeed_bf16 > 0, half], [2.0, 4.0, 6.0, 2.0], 4.0)
    gradient = np.where(whole | stack.pure, gradient, _gradient_of_stack(rows, stack, constants, gradient))
    moments = np.select([~np.isnan(row_words.moment_bytes), stack.pure | latent], [row_words.moment_bytes, 4.0], 8.0)
    squeezed = _needs_paging(rows, gradient + moments)
    gradient = np.where(squeezed, stack.habit(constants, "paged_gradient_bytes", gradient), gradient)
    moments = np.where(squeezed, stack.habit(constants, "paged_moment_bytes", moments), moments)
    moments = np.where(np.isnan(rows.stated.moment), moments, 2 * rows.stated.moment)
    gradient = np.where(np.isnan(rows.stated.gradient), gradient, rows.stated.gradient)
    away = row_words.offloaded_optimizer > 0
    gone = (row_words.no_gradients > 0) | (away & (rows.split.zero_stage >= 2))
    master = np.where(stack.pure | whole | away | (row_words.no_master > 0), 0.0, 4.0)
    frozen, trained = row_words.adapter > 0, trained_share(rows, constants)
    weight = np.where(frozen, _frozen_weight(rows, stack, constants), np.where(whole, 4.0, 2.0))
    return {
        "weight": np.where(row_words.offloaded_weights > 0, 0.0, weight),
        "gradient": np.where(gone, 0.0, gradient * trained),
        "master": master * trained,
        "moments": np.where(away, 0.0, moments * trained),
        "working_weight": np.where(single, 4.0, 2.0),
    }


def trained_share(rows: Rows, constants: Constants) -> Array:
    """Parameters that are trained over those of the model: 1, or the adapters' share of a frozen base."""
    if not rows.words.adapter.any():
        return np.ones(len(rows))
    stated = rows.number["adapter_rank"]
    rank = np.where(np.isnan(stated), constants["adapter.rank"], stated)
    return np.where(rows.words.adapter > 0, adapters.trained_share(rows.arch, rank), 1.0)


def _frozen_weight(rows: Rows, stack: Stack, constants: Constants) -> Array:
    """Bytes per parameter of a frozen base: 16 bits, four in its layers (QLoRA), FP8 where Megatron computes in it."""
    four_bits = constants["adapter.four_bit_bytes"]
    mixed = ELEMENT_BYTES["bf16"] + adapters.layer_share(rows.arch) * (four_bits - ELEMENT_BYTES["bf16"])
    whole = np.where(stack.megatron & (rows.words.dtype >= words.FP8), ELEMENT_BYTES["fp8"], ELEMENT_BYTES["bf16"])
    return np.where(rows.words.adapter == words.ADAPTERS["qlora"], mixed, whole)


def _needs_paging(rows: Rows, beside_weights: Array) -> Mask:
    """One accelerator that the states alone would overfill, in rows that name no optimizer: the low-memory recipe."""
    alone = rows.number["accelerators"] == 1
    if not alone.any():
        return np.asarray(alone)
    unsaid = np.isnan(rows.words.moment_bytes) & np.isnan(rows.stated.moment)
    states = (ELEMENT_BYTES["bf16"] + beside_weights) * parameters.whole_model(rows.arch).total
    card = rows.chip.get("card", np.full(len(rows), np.nan))
    return np.asarray(alone & unsaid & (states > card))


def _gradient_of_stack(rows: Rows, stack: Stack, constants: Constants, usual: Array) -> Array:
    """Buffers of BF16 gradients as the software keeps them: its own, and 16-bit ones beside them among replicas."""
    own = stack.habit(constants, "gradient_bytes")
    beside = np.where(rows.split.dp * rows.split.cp > 1, stack.habit(constants, "replica_gradient_bytes", 0.0), 0.0)
    stated = ~np.isnan(own) & (rows.words.dtype != words.FP16)
    return np.where(stated, own + beside, usual)


def recompute_shares(rows: Rows, stack: Stack) -> Recompute:
    """Shares of a layer that are dropped; plain `selective` is operator-level where weights are sharded."""
    stated = rows.recompute
    operator = stack.sharded & (stated.plain_selective > 0) & (rows.kernel != attention.UNFUSED)
    on_stage = rows.arch.layers / rows.split.pp
    part = np.where(stated.layer_count > 0, np.minimum(stated.layer_count / on_stage, 1.0), 1.0)
    return Recompute(
        layer=stated.layer * part,
        every=np.maximum(stated.every, 1.0),
        core=np.where(operator, 0.0, stated.core),
        qkv=stated.qkv,
        mlp=stated.mlp,
        experts=stated.experts,
        expert_activation=stated.expert_activation,
        shared_expert=stated.shared_expert,
        norm=stated.norm,
        operator=np.maximum(stated.operator, operator),
    )


def logit_width(rows: Rows, stack: Stack, constants: Constants) -> Array:
    """Bytes per token and vocabulary entry at the peak of the loss.

    Megatron's fused loss works in place on 16-bit logits and comes with fused attention; its older form holds an FP32
    copy and the probabilities. PyTorch's own loss holds logits, log-probabilities and two FP32 gradients. A pure 16-bit
    run that recomputes every layer is squeezed, and computes its loss in chunks. A `loss` column outranks all this.
    """
    flash = rows.kernel != attention.UNFUSED
    squeezed = stack.pure & (rows.recompute.layer > 0)
    in_place = stack.megatron & flash & ~is_cut_down(rows, constants)
    kinds = ((squeezed, "chunked"), (stack.native, "eager"), (in_place, "fused"))
    of_kind = [constants[f"logits.{kind}_bytes"] for _, kind in kinds]
    inferred = np.select([condition for condition, _ in kinds], of_kind, constants["logits.unfused_bytes"])
    inferred = stack.habit(constants, "logit_bytes", inferred)
    named = [rows.stated.loss == code for code in words.LOSSES.values()]
    return np.select(named, [constants[f"logits.{name}_bytes"] for name in words.LOSSES], inferred)


def policy_of(rows: Rows, stack: Stack, constants: Constants) -> MemoryPolicy:
    """What every row keeps, and how wide."""
    single = np.where(rows.words.dtype == words.FP32, ELEMENT_BYTES["fp32"], ELEMENT_BYTES["bf16"])
    sizes = [ELEMENT_BYTES[name] for name in QUANTISED.values()]
    inputs = np.select([rows.words.dtype == code for code in QUANTISED], sizes, single)
    unfused = np.where(rows.kernel == attention.UNFUSED, 1.0, 0.0)
    separate = stack.habit(constants, "separate_gate", np.where(stack.sharded, 1.0, 0.0))
    return MemoryPolicy(
        **widths(rows, stack, constants),
        recompute=recompute_shares(rows, stack),
        activation=single,
        linear_input=np.where(stack.megatron, inputs, single),
        unfused_attention=unfused,
        dropout=np.where(rows.arch.gated_mlp > 0, 0.0, unfused),
        separate_gate=separate * rows.arch.gated_mlp,
        eager_norm=stack.habit(constants, "eager_norm", 0.0) * rows.arch.gated_mlp,  # LayerNorm has a kernel of its own
        stage_output=np.where(stack.deepspeed, 1.0, stack.habit(constants, "stage_output", 0.0)),
        late_gradients=np.where(stack.native, 1.0, 0.0),
        logit_bytes=logit_width(rows, stack, constants),
        offloaded_activations=rows.recompute.offloaded,
    )
