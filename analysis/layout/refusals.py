"""What keeps a layout row from being computed: facts that are not stated, degrees that do not multiply."""

from __future__ import annotations

import numpy as np

from analysis.layout.parse import Array
from analysis.layout.reasons import UNSTATED, Mask, Reasons


def _unstated(reasons: Reasons, number: dict[str, Array], name: str, needed: Mask | bool = True) -> None:
    reasons.add(np.isnan(number[name]) & needed, UNSTATED, name)


def shape_reasons(reasons: Reasons, number: dict[str, Array]) -> None:
    """Architecture facts without which nothing can be counted."""
    moe = np.nan_to_num(number["experts"]) > 0
    latent = np.nan_to_num(number["mla"]) > 0
    for name in ("layers", "hidden", "heads", "gated_mlp", "tied_embeddings"):
        _unstated(reasons, number, name)
    _unstated(reasons, number, "ffn_hidden", ~moe | (np.nan_to_num(number["dense_layers"]) > 0))
    _unstated(reasons, number, "kv_heads", ~latent)
    for name in ("kv_lora_rank", "qk_nope_head_dim", "qk_rope_head_dim", "v_head_dim"):
        _unstated(reasons, number, name, latent)
    for name in ("experts_per_token", "moe_ffn_hidden"):
        _unstated(reasons, number, name, moe)
    width = number["hidden"] / number["heads"]
    reasons.add(
        np.isnan(number["head_dim"]) & ~latent & (width != np.floor(width)) & ~np.isnan(width),
        "head-dim",
        "head_dim",
        hidden=number["hidden"],
    )


def layout_reasons(reasons: Reasons, number: dict[str, Array]) -> None:
    """Degrees and batch, and whether they multiply."""
    for name in ("accelerators", "seq_len", "tp", "cp", "pp", "micro_batch", "ep"):
        _unstated(reasons, number, name)
    _unstated(reasons, number, "dp", ~np.isnan(number["accelerators"] * number["tp"] * number["cp"] * number["pp"]))
    product = number["tp"] * number["cp"] * number["pp"] * number["dp"]
    wrong = (product != number["accelerators"]) & ~np.isnan(product) & ~np.isnan(number["accelerators"])
    reasons.add(wrong, "product", "accelerators", product=product, accelerators=number["accelerators"])
    world = number["accelerators"] / number["pp"]
    groups = world / (number["ep"] * number["etp"])
    reasons.add(
        (groups != np.floor(groups)) & ~np.isnan(groups) & ~wrong & (number["ep"] > 1),
        "expert-group",
        "ep",
        group=number["ep"] * number["etp"],
        world=world,
    )
    few = number["micro_batches"] < 1
    reasons.add(few, "small-batch", "global_batch", batch=number["global_batch"])
