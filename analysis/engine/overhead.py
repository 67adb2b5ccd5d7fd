"""What a memory figure shows beyond tensors: cached blocks of the allocator, buffers, the CUDA context."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
import numpy.typing as npt

from analysis.engine.stack import OTHER, Constants, Stack
from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from schemas.units import GIB


@dataclass(frozen=True)
class Overhead:
    """Beyond the tensors of a rank.

    Attributes
    ----------
    persistent
        Cached blocks per byte of tensors that live through the step: weights, gradients, optimizer states [1].
    passing
        Cached blocks per byte of tensors that come and go: activations, logits, gathered weights [1].
    beside
        Buffers and context [B].
    """

    persistent: Array
    passing: Array
    beside: Array


def figure_kind(rows: Rows, stack: Stack, constants: Constants) -> Array:
    """Which figure is wanted, a code of `words.KINDS`.

    A row can state it (`memory_kind`). Else it is what the software prints, and where that is not known: Megatron and
    pure 16-bit loops print what the allocator handed out (torch's max allocated), FSDP loops what it reserved. The
    DeepSpeed generation has neither in its logs and quotes nvidia-smi.
    """
    usual = np.select([stack.sharded, stack.deepspeed], [words.KINDS["reserved"], words.KINDS["nvidia-smi"]], 0.0)
    usual = stack.habit(constants, "reports", usual)
    return np.where(np.isnan(rows.stated.kind), usual, rows.stated.kind)


CLASSES = ("torch", "device", OTHER)
"""Classes of the margins: software of the table whose figures come from the allocator, or from the device, and other
software."""


def figure_class(rows: Rows, stack: Stack, constants: Constants) -> npt.NDArray[np.intp]:
    """Class of each row, a position in `CLASSES`."""
    device = figure_kind(rows, stack, constants) == words.KINDS["nvidia-smi"]
    return np.where(stack.known, np.where(device, 1, 0), 2)


def overhead(rows: Rows, stack: Stack, constants: Constants, *, lean: bool | None = None) -> Overhead:
    """Overhead of the figure that each row wants; at its leaner or richer end where `lean` says so.

    Reserved memory is what the allocator took from the device. Tensors that live through the step are allocated once
    and leave no gaps; blocks of passing tensors are cached and split, and leave gaps that only allocators with
    expandable segments close. nvidia-smi shows the CUDA context too. DeepSpeed's flat buckets are tensors that no other
    part counts.
    """
    kind = figure_kind(rows, stack, constants)
    reserved, device = kind == words.KINDS["reserved"], kind == words.KINDS["nvidia-smi"]
    gaps = stack.habit(constants, "gap_share")
    if lean is not None:
        gaps = np.where(np.isnan(gaps), np.nan, 0.0 if lean else constants["slack.widest_gaps"])
    whole = np.select([reserved, device], [constants["slack.reserved"] - 1, constants["slack.device"] - 1], 0.0)
    own = ~np.isnan(gaps) & (reserved | device)
    buckets = np.where(stack.deepspeed, constants["bucket_gib"], 0.0)
    buffers = np.where(own, stack.habit(constants, "buffer_gib", 0.0), 0.0)
    context = np.where(device, constants["context_gib"], 0.0)
    return Overhead(
        persistent=np.where(own, 0.0, whole),
        passing=np.where(own, gaps, whole),
        beside=(context + buckets + buffers) * GIB,
    )
