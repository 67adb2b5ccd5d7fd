"""The one place where a table of layouts and the table of accelerators become arrays in base units.

Nothing here fills in a value that a row does not state. A row that cannot be used keeps its place, with NaN in its
numbers and the reason in words.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.layout.checkpointing import RECOMPUTE_FORMS, Recompute
from analysis.layout.columns import SCHEDULE_NAMES, check_columns, in_base_units, of_kind
from analysis.layout.parse import SWITCHES, Array, categories, cells, numbers, switches
from analysis.layout.reasons import UNSTATED, Mask, Reasons
from analysis.layout.refusals import layout_reasons, shape_reasons
from analysis.layout.stage_split import read_stage_layers
from analysis.layout.words import DTYPES, OFFLOADS, UNKNOWN, Stated, Words, stated_network
from analysis.physics import attention, bubble
from analysis.physics.architecture import QK_NORM_CODES, Architecture, describe
from analysis.physics.split import Split


@dataclass(frozen=True)
class Rows:
    """A table of layouts in base units; arrays have one value per row.

    `number` holds every numeric column as read, dp, ep, etp, vpp and micro_batches completed where they follow from
    others. `chip` has the accelerator's figures (names without their unit suffix). `stage_layers` has one column per
    pipeline stage, NaN where a row does not state its split; no column at all when no row does. `memory_lacks` and
    `time_lacks` hold what keeps a row from being computed.
    """

    ids: npt.NDArray[np.object_]
    accelerator: npt.NDArray[np.object_]
    model_name: npt.NDArray[np.object_]
    stack: npt.NDArray[np.object_]
    arch: Architecture
    split: Split
    number: dict[str, Array]
    chip: dict[str, Array]
    words: Words
    recompute: Recompute
    stated: Stated
    stage_layers: Array
    kernel: Array
    hybrid: Mask
    network: Array
    memory_lacks: Reasons
    time_lacks: Reasons

    @cached_property
    def memory_reasons(self) -> npt.NDArray[np.object_]:
        """Why the memory of each row cannot be computed, in English; empty where it can."""
        return self.memory_lacks.text()

    @cached_property
    def time_reasons(self) -> npt.NDArray[np.object_]:
        """Why the step time of each row cannot be computed, in English; empty where it can."""
        return self.time_lacks.text()

    def with_stack(self, stack: npt.NDArray[np.object_]) -> Rows:
        """The same rows trained with other software."""
        return replace(self, stack=stack)

    def __len__(self) -> int:
        return len(self.ids)

    def take(self, index: slice | npt.NDArray[np.intp]) -> Rows:
        """Some of the rows, in order."""

        def cut(values: Any) -> Any:
            return {name: part[index] for name, part in values.items()} if isinstance(values, dict) else values[index]

        blocks = {"words": Words, "recompute": Recompute, "stated": Stated}
        plain = (
            "ids",
            "accelerator",
            "model_name",
            "stack",
            "number",
            "chip",
            "stage_layers",
            "kernel",
            "hybrid",
            "network",
        )
        parts = {name: cut(getattr(self, name)) for name in plain}
        parts |= {name: getattr(self, name).take(index) for name in ("memory_lacks", "time_lacks")}
        parts |= {name: kind(**cut(vars(getattr(self, name)))) for name, kind in blocks.items()}
        return Rows(arch=self.arch.rows(index), split=self.split.rows(index), **parts)


def _column(table: pd.DataFrame, name: str) -> pd.Series[Any]:
    """A column, or an empty one where the table lacks an optional one."""
    return table[name] if name in table else pd.Series(np.nan, index=table.index)


def _read_numbers(table: pd.DataFrame, reasons: Reasons) -> dict[str, Array]:
    out = {name: numbers(_column(table, name), name, reasons) for name in of_kind("count")}
    out |= {name: numbers(_column(table, name), name, reasons, least=0.0) for name in of_kind("tally")}
    out |= {name: numbers(_column(table, name), name, reasons, least=0.0, whole=False) for name in of_kind("rate")}
    out |= {name: switches(_column(table, name), name, reasons) for name in of_kind("flag")}
    out["qk_norm"] = categories(_column(table, "qk_norm"), lambda text: QK_NORM_CODES.get(text, np.nan))
    return out


def _complete(number: dict[str, Array]) -> None:
    """Fill what follows from other numbers: dp, vpp, ep, etp, micro_batches, and sequence parallelism without TP."""
    ranks = number["tp"] * number["pp"] * number["cp"]
    derived = number["accelerators"] / ranks
    number["dp"] = np.where(np.isnan(number["dp"]) & (derived == np.floor(derived)), derived, number["dp"])
    number["vpp"] = np.where(np.isnan(number["vpp"]), 1.0, number["vpp"])
    dense = np.nan_to_num(number["experts"]) == 0
    number["ep"] = np.where(np.isnan(number["ep"]) & dense, 1.0, number["ep"])
    usual = np.where(number["ep"] > 1, 1.0, number["tp"])
    number["open_etp"] = np.where(np.isnan(number["etp"]) & (number["ep"] > 1) & (number["tp"] > 1), 1.0, 0.0)
    number["etp"] = np.where(np.isnan(number["etp"]), usual, number["etp"])
    alone = np.isnan(number["sequence_parallel"]) & (number["tp"] == 1)
    number["sequence_parallel"] = np.where(alone, 0.0, number["sequence_parallel"])
    number["micro_batches"] = number["global_batch"] / (number["micro_batch"] * number["dp"])


def _split(number: dict[str, Array], schedule: Array, fsdp_stage: Array) -> Split:
    zero = np.where(np.isnan(fsdp_stage), number["zero_stage"], fsdp_stage)
    shard = np.where(np.isnan(number["fsdp_shard"]), 0.0, number["fsdp_shard"])
    names = ("seq_len", "micro_batch", "micro_batches", "tp", "sequence_parallel", "cp", "pp", "vpp", "ep", "etp", "dp")
    return Split(schedule=schedule, zero_stage=zero, shard_ranks=shard, **{name: number[name] for name in names})


def _schedules(table: pd.DataFrame, number: dict[str, Array], reasons: Reasons) -> Array:
    """Schedule codes: as named; 1F1B and its interleaved form follow from vpp when no schedule is named."""
    named = categories(_column(table, "schedule"), lambda text: SCHEDULE_NAMES.get(text, -1.0))
    _unknown_word(reasons, named < 0, _column(table, "schedule"), "schedule", SCHEDULE_NAMES)
    plain = np.where(number["vpp"] > 1, bubble.Schedule.INTERLEAVED, bubble.Schedule.ONE_F_ONE_B)
    interleaved = (named == bubble.Schedule.ONE_F_ONE_B) & (number["vpp"] > 1)
    return np.where(np.isnan(named) | interleaved, plain, np.where(named < 0, np.nan, named))


def _chips(table: pd.DataFrame, accelerators: pd.DataFrame, reasons: Reasons) -> dict[str, Array]:
    """Figures of each row's accelerator; NaN, with a reason, where the id is not in the catalogue."""
    known = in_base_units(accelerators)
    ids = table["accelerator"]
    positions = known.index.get_indexer(pd.Index(ids.astype(object)))
    blank = ids.isna().to_numpy(dtype=bool)
    reasons.add(blank, UNSTATED, "accelerator")
    reasons.add((positions < 0) & ~blank, "unknown-id", "accelerator", text=cells(ids))
    return {str(name): np.where(positions >= 0, known[name].to_numpy(dtype=float)[positions], np.nan) for name in known}


def _unknown_word(reasons: Reasons, bad: Mask, column: pd.Series[Any], name: str, choices: Iterable[str]) -> None:
    """A word that is not in the vocabulary of its column, with the vocabulary."""
    reasons.add(bad, "unknown-word", name, text=cells(column), choices=" | ".join(choices))


def _precision_reasons(table: pd.DataFrame, words: Words, reasons: Reasons) -> None:
    reasons.add(np.isnan(words.dtype), UNSTATED, "precision")
    _unknown_word(reasons, words.dtype == UNKNOWN, table["precision"], "precision", DTYPES)


def _offload_reasons(table: pd.DataFrame, words: Words, reasons: Reasons) -> None:
    _unknown_word(reasons, words.offload_understood == 0, _column(table, "offload"), "offload", OFFLOADS)


def _mechanism_reasons(table: pd.DataFrame, kernel: Array, recompute: Recompute, reasons: Reasons) -> None:
    kernels = attention.KERNEL_CLASSES
    _unknown_word(reasons, kernel == UNKNOWN, table["attention_kernel"], "attention_kernel", kernels)
    _unknown_word(reasons, recompute.understood == 0, table["recompute"], "recompute", RECOMPUTE_FORMS)


FSDP_STAGES = {"hybrid": 3.0, "full": 3.0, "shard-grad-op": 2.0}
FSDP_STAGES |= {text: 3.0 if on else np.nan for text, on in SWITCHES.items()}
"""ZeRO stage that a word in the fsdp column means; a plain no says nothing."""


def _fsdp_stage(table: pd.DataFrame) -> Array:
    return categories(_column(table, "fsdp"), lambda text: FSDP_STAGES.get(text, np.nan))


def _is_hybrid(table: pd.DataFrame) -> Mask:
    """Rows that shard over some of the data-parallel ranks and replicate over the rest."""
    return np.asarray(categories(_column(table, "fsdp"), lambda text: float(text == "hybrid")) > 0)


def _hybrid_reasons(table: pd.DataFrame, number: dict[str, Array], reasons: Reasons) -> None:
    hybrid = _is_hybrid(table)
    reasons.add(hybrid & np.isnan(number["fsdp_shard"]), "hybrid-shard", "fsdp_shard")
    unread = categories(_column(table, "fsdp"), lambda text: float(text not in FSDP_STAGES)) > 0
    unread &= np.isnan(number["zero_stage"])
    _unknown_word(reasons, unread, _column(table, "fsdp"), "fsdp", ("full", "hybrid", "shard-grad-op"))


def read_rows(table: pd.DataFrame, accelerators: pd.DataFrame) -> Rows:
    """Turn a table of layouts and the accelerator table into arrays in base units.

    Parameters
    ----------
    table
        One layout per row; columns as in `columns`. Cells may be blank or wrong.
    accelerators
        One part per row, vendor scale, unit in the column's name.

    Returns
    -------
    Rows
        As many rows as `table`, in its order.

    Raises
    ------
    ValueError
        When columns are absent; the sentence names them.
    """
    check_columns(table.columns)
    table = table.reset_index(drop=True)
    shared = Reasons(len(table))
    number = _read_numbers(table, shared)
    _complete(number)
    split = _split(number, _schedules(table, number, shared), _fsdp_stage(table))
    sources = ("precision", "optimizer", "offload", "model_name", "adapter")
    words = Words.read(*(_column(table, name) for name in sources))
    recompute = Recompute.read(table["recompute"])
    kernel = categories(table["attention_kernel"], lambda text: attention.KERNEL_CLASSES.get(text, UNKNOWN))
    stage_layers = _shared_reasons(table, number, words, recompute, kernel, shared)
    memory, time = _own_reasons(table, number, shared)
    optional = ("gradient_dtype", "moment_dtype", "loss", "memory_kind")
    return Rows(
        ids=cells(table["id"]),
        accelerator=cells(table["accelerator"]),
        model_name=cells(_column(table, "model_name")),
        stack=cells(_column(table, "stack")),
        arch=describe(number),
        split=split,
        number=number,
        chip=_chips(table, accelerators, time),
        words=words,
        recompute=recompute,
        stated=Stated.read(*(_column(table, name) for name in optional)),
        stage_layers=stage_layers,
        kernel=kernel,
        hybrid=_is_hybrid(table),
        network=stated_network(_column(table, "network_note")),
        memory_lacks=memory,
        time_lacks=time,
    )


def _shared_reasons(
    table: pd.DataFrame, number: dict[str, Array], words: Words, recompute: Recompute, kernel: Array, reasons: Reasons
) -> Array:
    """Collect what keeps a row from any prediction; the stated layers per stage, which are checked on the way."""
    shape_reasons(reasons, number)
    unmodelled = _column(table, "not_modelled")
    named = categories(unmodelled, lambda _: 1.0) > 0
    reasons.add(named, "not-modelled", "not_modelled", text=cells(unmodelled))
    layout_reasons(reasons, number)
    _precision_reasons(table, words, reasons)
    _mechanism_reasons(table, kernel, recompute, reasons)
    _offload_reasons(table, words, reasons)
    return read_stage_layers(_column(table, "layers_per_stage"), number, reasons)


def _own_reasons(table: pd.DataFrame, number: dict[str, Array], shared: Reasons) -> tuple[Reasons, Reasons]:
    """(memory, time): the shared reasons and what only one of the two needs."""
    memory, time = shared.copy(), shared.copy()
    memory.add(np.isnan(number["vocab"]), UNSTATED, "vocab")
    _hybrid_reasons(table, number, memory)
    memory.add(np.isnan(number["micro_batches"]) & (number["pp"] > 1), UNSTATED, "global_batch")
    time.add(np.isnan(number["global_batch"]), UNSTATED, "global_batch")
    return memory, time
