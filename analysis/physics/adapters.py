"""Low-rank adapters beside a frozen base (Hu et al. 2021, arXiv:2106.09685)."""

from __future__ import annotations

import numpy as np

from analysis.physics.architecture import Architecture, Array
from analysis.physics.parameters import whole_model


def adapter_parameters(arch: Architecture, rank: Array) -> Array:
    """Parameters of adapters of one rank on every projection of attention and of dense MLPs.

    A projection of m inputs and n outputs gets two matrices, rank x (m + n) elements (arXiv:2106.09685, sec. 4.1);
    routed experts stay as they are.

    Parameters
    ----------
    arch
        The model.
    rank
        Rank of the adapters [1].

    Returns
    -------
    array
        Parameters.

    Examples
    --------
    >>> from analysis.physics.architecture import describe
    >>> llama = describe(dict(layers=32, hidden=4096, ffn_hidden=11008, heads=32, vocab=32000, gated_mlp=True,
    ...                       tied_embeddings=False))
    >>> int(adapter_parameters(llama, np.asarray(16.0)))
    39976960
    """
    queries, keys = arch.heads * arch.qk_dim, arch.kv_heads * arch.qk_dim
    values, output = arch.kv_heads * arch.v_dim, arch.heads * arch.v_dim
    attention = 4 * arch.hidden + queries + keys + values + output
    mlp = arch.mlp_matrices * (arch.hidden + arch.ffn_hidden)
    plain = arch.layers - arch.moe_layers
    return rank * (attention * arch.layers + np.where(plain > 0, mlp * plain, 0.0))


def trained_share(arch: Architecture, rank: Array) -> Array:
    """Adapters' parameters over those of the base [1]."""
    return adapter_parameters(arch, rank) / whole_model(arch).total


def layer_share(arch: Architecture) -> Array:
    """Share of the parameters that lies in layers, which quantised bases keep in few bits [1].

    Embedding and output head stay in 16 bits (QLoRA, arXiv:2305.14314, sec. 3: linear layers are quantised).
    """
    outside = arch.vocab * arch.hidden * (2 - arch.tied_embeddings)
    return 1 - outside / whole_model(arch).total
