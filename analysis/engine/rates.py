"""Rates of each row's accelerator: facts from its record, shares from the calibration, and what had to be assumed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import numpy.typing as npt
import pandas as pd

from analysis.layout import words as recipes
from analysis.layout.arrays import Rows
from analysis.layout.parse import Array, Mask
from analysis.physics import links as topology
from analysis.physics import rates
from analysis.physics.work import Chip

Constants = Mapping[str, float]

#: Architectures that share cores with the one that carries the constants.
SAME_CORES = {"blackwell-ultra": "blackwell"}
#: Architectures without BF16 matrix units.
WITHOUT_BF16 = ("volta", "turing", "ascend-910a")
LINKS = ("scale_up_gb_s", "scale_up_domain", "scale_out_gbit_s")
TFLOPS = 1e12
UNIT = {"scale_up_gb_s": 1e9, "scale_up_domain": 1.0, "scale_out_gbit_s": 1e9 / 8}


@dataclass(frozen=True)
class ChipFacts:
    """What each row's accelerator is, in base units, and where a class value stood in for an unknown one.

    `code` indexes `architectures`. `rowwise` is 1 where FP8 operands are scaled row by row. `linear_peak` is the dense
    peak of the row's format, `half_peak` the one of its 16-bit format. `assumed` maps a sentence to the rows it holds
    for.
    """

    architectures: list[str]
    code: npt.NDArray[np.intp]
    dtype: Array
    rowwise: Array
    linear_peak: Array
    half_peak: Array
    measured: Array
    power: Array
    hbm: Array
    links: dict[str, Array]
    host_link: Array
    assumed: dict[str, Mask]

    def by_architecture(self, table: list[float]) -> Array:
        """One number per architecture spread over the rows."""
        return np.asarray(table, dtype=float)[self.code]


def _architectures(rows: Rows, accelerators: pd.DataFrame) -> tuple[list[str], Any]:
    known = dict(zip(accelerators["id"], accelerators["architecture"].fillna("other"), strict=True))
    code, ids = pd.factorize(rows.accelerator)
    names = [str(known.get(i, "other")) for i in ids] + ["other"]
    distinct = sorted(set(names))
    position = np.asarray([distinct.index(n) for n in names])
    return distinct, position[code]


def is_superchip(rows: Rows, accelerators: pd.DataFrame) -> Mask:
    """Rows whose accelerator shares a package link with its host (GH200, GB200, GB300)."""
    if "form_factor" not in accelerators:
        return np.zeros(len(rows), dtype=bool)
    ids = accelerators["id"][accelerators["form_factor"] == "superchip"]
    return np.asarray(np.isin(rows.accelerator.astype(str), ids.to_numpy(dtype=str)))


def _assume(value: Array, facts: list[float], code: Any, name: str, assumed: dict[str, Mask]) -> Array:
    """Class value where the record is silent, noted by name."""
    usual = np.asarray(facts, dtype=float)[code]
    stands_in = np.isnan(value) & ~np.isnan(usual)
    if stands_in.any():
        assumed[f"{name} of the accelerator is not in its record (class value used)"] = stands_in
    return np.where(stands_in, usual, value)


def _links(rows: Rows, names: list[str], code: Any, k: Constants, assumed: dict[str, Mask]) -> Any:
    out = {}
    for link in LINKS:
        base = rows.chip.get(link.removesuffix("_gb_s").removesuffix("_gbit_s"), np.full(len(rows), np.nan))
        if link == "scale_out_gbit_s":
            base = np.where(np.isnan(rows.network), base, rows.network)
        usual = [k.get(f"assumed.{n}.{link}", k.get(f"assumed.other.{link}", np.nan)) * UNIT[link] for n in names]
        out[link] = _assume(base, usual, code, link, assumed)
    _only_where_needed(rows, out["scale_up_domain"], assumed)
    return out


def _only_where_needed(rows: Rows, domain: Array, assumed: dict[str, Mask]) -> None:
    """A class link counts as assumed only where the layout has someone to talk to over it."""
    ranks = rows.number["accelerators"]
    for sentence in [s for s in assumed if s.startswith(LINKS)]:
        needed = ranks > (domain if sentence.startswith("scale_out") else 1.0)
        assumed[sentence] = assumed[sentence] & needed


def _peaks(rows: Rows, names: list[str], code: Any, k: Constants, assumed: dict[str, Mask]) -> Any:
    """(dense peak of the row's format, of its 16-bit format, largest measured product of that format)."""
    nan = np.full(len(rows), np.nan)
    peak = {n: rows.chip.get(n, nan).copy() for n in ("bf16", "fp16", "fp8", "fp4", "fp32")}
    for dotted in (n for n in k if n.startswith("assumed_peak.")):
        part, column = dotted.removeprefix("assumed_peak.").rsplit(".", 1)
        here = (rows.accelerator == part) & np.isnan(peak[column.removesuffix("_tflops")])
        if here.any():
            assumed[f"{column} of {part} is not published ({k[dotted]:g} used)"] = here
        name = column.removesuffix("_tflops")
        peak[name] = np.where(here, k[dotted] * TFLOPS, peak[name])
    lacks = np.asarray([n in WITHOUT_BF16 for n in names])[code]
    bf16 = np.where(np.isnan(peak["bf16"]) & ~lacks, peak["fp16"], peak["bf16"])
    fp16 = np.where(np.isnan(peak["fp16"]), peak["bf16"], peak["fp16"])
    dtype = rows.words.dtype
    half = np.select([dtype == recipes.FP32, dtype == recipes.FP16], [peak["fp32"], fp16], bf16)
    eight = dtype >= recipes.FP8
    integer = rows.words.integer > 0
    linear = np.select(
        [dtype == recipes.NVFP4, integer, eight], [peak["fp4"], rows.chip.get("int8", nan), peak["fp8"]], half
    )
    measured = np.where(eight, rows.chip.get("measured_matmul_fp8", nan), rows.chip.get("measured_matmul_bf16", nan))
    return linear, half, np.where(dtype == recipes.NVFP4, np.nan, measured)


def chip_facts(rows: Rows, accelerators: pd.DataFrame, k: Constants) -> ChipFacts:
    """Collect what each row's accelerator can do and note what its record leaves open.

    Parameters: rows (as read), accelerators (vendor scale), k (timing constants).
    """
    assumed: dict[str, Mask] = {}
    names, code = _architectures(rows, accelerators)
    linear, half, measured = _peaks(rows, names, code, k, assumed)
    nan = np.full(len(rows), np.nan)
    links = _links(rows, names, code, k, assumed)
    fitted = np.asarray([_core(n) in ("ampere", "hopper", "blackwell") for n in names])[code]
    if not fitted.all():
        assumed["no measured rows of this architecture to fit (class efficiency used)"] = ~fitted
    return ChipFacts(
        names, code, rows.words.dtype, rows.words.rowwise, linear, half, measured, rows.chip.get("tdp", nan),
        rows.chip.get("hbm_bandwidth", nan), links, rows.chip.get("host_link", nan), assumed,
    )  # fmt: skip


def _core(architecture: str) -> str:
    return SAME_CORES.get(architecture, architecture)


def _table(facts: ChipFacts, k: Constants, pattern: str, formats: tuple[str, ...], fallback: str) -> list[float]:
    """A constant per architecture: the first format that has one, else NaN or the fallback."""
    names = [_core(n) for n in facts.architectures]
    found = [[k[p] for f in formats if (p := pattern.format(n, f)) in k] for n in names]
    return [values[0] if values else k.get(fallback, np.nan) for values in found]


def _shares(facts: ChipFacts, k: Constants) -> tuple[Array, Array]:
    """Share of the peak that large products sustain: (row's format, its 16-bit format)."""
    half = facts.by_architecture(_table(facts, k, "gemm.{}.{}", ("bf16", "fp16"), "gemm.other.bf16"))
    eight = facts.by_architecture(_table(facts, k, "gemm.{}.{}", ("fp8",), "-"))
    four = facts.by_architecture(_table(facts, k, "gemm.{}.{}", ("fp4",), "gemm.other.fp4"))
    measured = rates.measured_share(facts.measured, facts.linear_peak, k["gemm.realised"])
    eight = np.where(np.isnan(eight), np.where(np.isnan(measured), k["gemm.other.fp8"], measured), eight)
    half = np.where(facts.dtype == recipes.FP32, k["gemm.other.fp32"], half)
    eight = eight * np.where(facts.rowwise > 0, k["gemm.rowwise"], 1.0)
    linear = np.select([facts.dtype == recipes.NVFP4, facts.dtype >= recipes.FP8], [four, eight], half)
    return linear, half


def chip(facts: ChipFacts, k: Constants) -> Chip:
    """Sustained rates and links of every row for one set of constants."""
    linear, half = _shares(facts, k)
    reference = facts.by_architecture(
        [k.get(f"power.reference.{_core(n)}", np.nan) / TFLOPS for n in facts.architectures]
    )
    bf16 = np.where(facts.dtype == recipes.FP32, np.nan, facts.half_peak)
    power = rates.power_share(facts.power, bf16, reference, k["power.exponent"])
    flash = facts.by_architecture(_table(facts, k, "attention.flash.{}", ("",), "attention.flash.other"))
    biased = facts.by_architecture(_table(facts, k, "attention.flash_bias.{}", ("",), "attention.flash_bias.other"))
    fabric = facts.by_architecture([topology.FABRICS.get(n, topology.SWITCH) for n in facts.architectures])
    return Chip(
        linear_rate=rates.sustained_rate(facts.linear_peak, linear, power),
        head_rate=rates.sustained_rate(facts.half_peak, half, power),
        core_rate=facts.half_peak * flash * power,
        biased_core_rate=facts.half_peak * biased * power,
        hbm_bandwidth=facts.hbm,
        scale_up=facts.links["scale_up_gb_s"],
        domain=facts.links["scale_up_domain"],
        scale_out=facts.links["scale_out_gbit_s"],
        host_link=facts.host_link,
        fabric=fabric,
    )
