"""Facts of each row's accelerator: from its record, or from its class where the record is silent."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.engine.assumptions import Assumed, Assumption, Code, Mask
from analysis.engine.timing_constants import ClassValues, Timing
from analysis.layout import words
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array
from analysis.physics.links import FABRICS, Fabric
from schemas.units import UNITS, split

LINKS = ("scale_up_gb_s", "scale_up_domain", "scale_out_gbit_s")
PEAKS = ("bf16", "fp16", "fp8", "fp4", "fp32", "tf32")
TFLOPS = UNITS["TFLOP/s"].factor
OTHER = "other"
"""Class of accelerators that no constant is named for."""


@dataclass(frozen=True)
class Parts:
    """Accelerators of a table as classes: one entry per distinct accelerator, and the entry of each row.

    Attributes
    ----------
    ids, architectures, cores
        Id, architecture, and core family (the architecture whose matrix units it shares) of each entry.
    fabric
        Codes of `Fabric`.
    compiled, has_bf16, superchip
        Switches of each entry; `superchip` shares a package link with its host.
    code
        Entry of each row.
    """

    ids: list[str]
    architectures: list[str]
    cores: list[str]
    fabric: Array
    compiled: Mask
    has_bf16: Mask
    superchip: Mask
    code: npt.NDArray[np.intp]

    def spread(self, entries: Any) -> Array:
        """One number per entry spread over the rows."""
        return np.asarray(entries, dtype=float)[self.code]

    def by_cores(self, table: Mapping[str, float]) -> Array:
        """A constant per core family spread over the rows; the class value where a family has none."""
        return self.spread([table.get(name, table.get(OTHER, np.nan)) for name in self.cores])


def parts(rows: Rows, accelerators: pd.DataFrame) -> Parts:
    """The distinct accelerators of a table.

    Parameters
    ----------
    rows
        The table as read.
    accelerators
        One part per row, vendor scale.

    Returns
    -------
    Parts
        An accelerator that no record has counts as `other`.
    """
    code, ids = pd.factorize(rows.accelerator)
    known = accelerators.set_index("id").reindex([*(str(i) for i in ids), None])
    architecture = _words(known, "architecture", OTHER)
    cores = [own or arch for own, arch in zip(_words(known, "cores", ""), architecture, strict=True)]
    return Parts(
        ids=[str(i) for i in known.index],
        architectures=architecture,
        cores=cores,
        fabric=np.asarray([FABRICS.get(word, Fabric.SWITCH) for word in _words(known, "fabric", "")], dtype=float),
        compiled=np.asarray([word == "True" for word in _words(known, "compiled", "")]),
        has_bf16=np.asarray([word != "False" for word in _words(known, "has_bf16", "")]),
        superchip=np.asarray([word == "superchip" for word in _words(known, "form_factor", "")]),
        code=np.where(code < 0, len(ids), code).astype(np.intp),
    )


def _words(table: pd.DataFrame, name: str, absent: str) -> list[str]:
    if name not in table:
        return [absent] * len(table)
    return [absent if pd.isna(value) else str(value) for value in table[name]]


@dataclass(frozen=True)
class ChipFacts:
    """What each row's accelerator is, in base units, and where a class value stood in for an unknown one.

    Attributes
    ----------
    parts
        The accelerators as classes.
    dtype
        Codes of the rows' formats.
    rowwise, tf32
        1 where FP8 operands are scaled row by row; where FP32 products run on tensor cores.
    linear_peak, half_peak
        Dense peak of the row's format, and of its 16-bit format [FLOP/s].
    measured
        Largest measured product in the row's format [FLOP/s].
    power, hbm
        Design power [W], memory bandwidth [B/s].
    links
        Columns of `LINKS` [B/s, accelerators].
    host_link
        PCIe [B/s].
    accelerators
        Accelerators of the job.
    all_reduce, all_gather
        Bandwidths measured inside the job over all of them [B/s]; NaN where a row has none.
    assumed
        What had to be assumed.
    """

    parts: Parts
    dtype: Array
    rowwise: Array
    tf32: Array
    linear_peak: Array
    half_peak: Array
    measured: Array
    power: Array
    hbm: Array
    links: dict[str, Array]
    host_link: Array
    accelerators: Array
    all_reduce: Array
    all_gather: Array
    assumed: Assumed


def _links(rows: Rows, of_rows: Parts, k: ClassValues, assumed: Assumed) -> dict[str, Array]:
    out = {}
    ranks = rows.number["accelerators"]
    for link in LINKS:
        name, unit = split(link) or (link, None)
        stated = rows.chip.get(name, np.full(len(rows), np.nan))
        if link == "scale_out_gbit_s":
            stated = np.where(np.isnan(rows.network), stated, rows.network)
        usual = of_rows.spread([_class_value(k, name, link) for name in of_rows.architectures])
        usual = usual * (unit.factor if unit else 1.0)
        stands_in = np.isnan(stated) & ~np.isnan(usual)
        out[link] = np.where(stands_in, usual, stated)
        # An assumed link matters only if the layout uses it.
        used = ranks > (out["scale_up_domain"] if link == "scale_out_gbit_s" else 1.0)
        assumed[Assumption(Code.LINK, link)] = stands_in & used
    return out


def _class_value(k: ClassValues, architecture: str, link: str) -> float:
    own = k.links.get(architecture, {}).get(link)
    return float(k.links.get(OTHER, {}).get(link, np.nan) if own is None else own)


def _peaks(rows: Rows, of_rows: Parts, k: ClassValues, assumed: Assumed) -> tuple[Array, Array, Array]:
    """(dense peak of the row's format, of its 16-bit format, largest measured product of that format)."""
    nan = np.full(len(rows), np.nan)
    peak = {name: rows.chip.get(name, nan).copy() for name in PEAKS}
    for part, columns in k.peaks.items():
        for column, value in columns.items():
            name = column.removesuffix("_tflops")
            here = of_rows.spread([i == part for i in of_rows.ids]).astype(bool) & np.isnan(peak[name])
            assumed[Assumption(Code.PEAK, column, part, value)] = here
            peak[name] = np.where(here, value * TFLOPS, peak[name])
    bf16 = np.where(np.isnan(peak["bf16"]) & (of_rows.spread(of_rows.has_bf16) > 0), peak["fp16"], peak["bf16"])
    fp16 = np.where(np.isnan(peak["fp16"]), peak["bf16"], peak["fp16"])
    dtype = rows.words.dtype
    single = np.where(rows.words.tf32 > 0, peak["tf32"], peak["fp32"])
    half = np.select([dtype == words.FP32, dtype == words.FP16], [single, fp16], bf16)
    eight = dtype >= words.FP8
    formats = [dtype == words.NVFP4, rows.words.integer > 0, eight]
    linear = np.select(formats, [peak["fp4"], rows.chip.get("int8", nan), peak["fp8"]], half)
    measured = np.where(eight, rows.chip.get("measured_matmul_fp8", nan), rows.chip.get("measured_matmul_bf16", nan))
    return linear, half, np.where(dtype == words.NVFP4, np.nan, measured)


def chip_facts(rows: Rows, accelerators: pd.DataFrame, k: Timing) -> ChipFacts:
    """Collect what each row's accelerator can do and note what its record leaves open.

    Parameters
    ----------
    rows
        The table as read.
    accelerators
        One part per row, vendor scale.
    k
        Constants.

    Returns
    -------
    ChipFacts
        Facts in base units.
    """
    assumed: Assumed = {}
    of_rows = parts(rows, accelerators)
    linear, half, measured = _peaks(rows, of_rows, k.class_values, assumed)
    links = _links(rows, of_rows, k.class_values, assumed)
    nan = np.full(len(rows), np.nan)
    known = of_rows.spread([k.measured.cores.get(name, 0.0) >= k.measured.known for name in of_rows.cores]) > 0
    assumed[Assumption(Code.CLASS_EFFICIENCY)] = ~known
    return ChipFacts(
        parts=of_rows,
        dtype=rows.words.dtype,
        rowwise=rows.words.rowwise,
        tf32=rows.words.tf32,
        linear_peak=linear,
        half_peak=half,
        measured=measured,
        power=rows.chip.get("tdp", nan),
        hbm=rows.chip.get("hbm_bandwidth", nan),
        links=links,
        host_link=rows.chip.get("host_link", nan),
        accelerators=rows.number["accelerators"],
        all_reduce=rows.number["allreduce_gb_s"] * UNITS["GB/s"].factor,
        all_gather=rows.number["allgather_gb_s"] * UNITS["GB/s"].factor,
        assumed={one: mask for one, mask in assumed.items() if mask.any()},
    )
