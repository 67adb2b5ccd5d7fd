"""Rates of each row's accelerator: facts of the part times what the calibration says is reached of them."""

from __future__ import annotations

import numpy as np

from analysis.engine.chip_facts import OTHER, TFLOPS, ChipFacts, Parts
from analysis.engine.timing_constants import Products, Timing
from analysis.layout import words
from analysis.layout.parse import Array
from analysis.physics import sustained
from analysis.physics.efficiency import Links
from analysis.physics.links import Network
from analysis.physics.work import Chip


def _share(of_rows: Parts, k: Products, *formats: str) -> Array:
    """Share of the peak by core family: the first of the formats that has a constant; NaN without."""
    tables = [k.gemm.get(name, {}) for name in of_rows.cores]
    return of_rows.spread([next((t[f] for f in formats if f in t), np.nan) for t in tables])


def _shares(facts: ChipFacts, k: Products) -> tuple[Array, Array]:
    """Share of the peak that large products sustain: (row's format, its 16-bit format)."""
    usual = k.gemm[OTHER]
    half, eight, four = (_share(facts.parts, k, *names) for names in (("bf16", "fp16"), ("fp8",), ("fp4",)))
    half = np.where(np.isnan(half), usual["bf16"], half)
    four = np.where(np.isnan(four), usual["fp4"], four)
    measured = sustained.measured_share(facts.measured, facts.linear_peak, k.realised)
    eight = np.where(np.isnan(eight), np.where(np.isnan(measured), usual["fp8"], measured), eight)
    half = np.where((facts.dtype == words.FP32) & (facts.tf32 == 0), usual["fp32"], half)
    eight = eight * np.where(facts.rowwise > 0, k.rowwise, 1.0)
    return np.select([facts.dtype == words.NVFP4, facts.dtype >= words.FP8], [four, eight], half), half


def chip(facts: ChipFacts, k: Timing) -> Chip:
    """Sustained rates and links of every row for one set of constants.

    Parameters
    ----------
    facts
        Accelerators of the rows.
    k
        Constants.

    Returns
    -------
    Chip
        Rates [FLOP/s, B/s].
    """
    linear, half = _shares(facts, k.products)
    reference = facts.parts.spread([k.products.power.reference.get(n, np.nan) / TFLOPS for n in facts.parts.cores])
    bf16 = np.where(facts.dtype == words.FP32, np.nan, facts.half_peak)
    power = sustained.power_share(facts.power, bf16, reference, k.products.power.exponent)
    highest = k.products.highest_share
    return Chip(
        linear_rate=sustained.sustained_rate(facts.linear_peak, linear, power, highest),
        head_rate=sustained.sustained_rate(facts.half_peak, half, power, highest),
        core_rate=facts.half_peak * facts.parts.by_cores(k.kernels.flash) * power,
        biased_core_rate=facts.half_peak * facts.parts.by_cores(k.kernels.flash_bias) * power,
        hbm_bandwidth=facts.hbm,
        network=_network(facts, k.efficiency.links),
    )


def _network(facts: ChipFacts, k: Links) -> Network:
    """Links at the rates of collectives; bandwidths that a row measured inside its job outrank data sheets.

    A ring over all accelerators turns at the rate of the links out of a domain times its members; an all-gather test
    of many ranks shows, beyond the time inside one domain, the steps of the ring.
    """
    up, domain = facts.links["scale_up_gb_s"], facts.links["scale_up_domain"]
    out = facts.links["scale_out_gbit_s"] * k.scale_out_share
    ring = np.where(facts.accelerators > domain, facts.all_reduce / domain, np.nan)
    others = np.where(facts.accelerators > domain, facts.accelerators - domain / 2.0, np.nan)
    beyond = k.test_bytes * (1.0 / facts.all_gather - 1.0 / (up * k.test_share)) / others
    hop_out = np.where(np.isnan(beyond), k.hop_out, np.maximum(beyond, k.hop_out))
    return Network(
        scale_up=up * k.scale_up_share,
        scale_out=np.where(np.isnan(ring), out, np.minimum(ring, out)),
        host_link=facts.host_link * k.scale_up_share,
        domain=domain,
        fabric=facts.parts.spread(facts.parts.fabric),
        hop_up=np.where(np.isnan(beyond), k.hop_up, np.maximum(beyond, k.hop_up)),
        hop_out=hop_out,
    )
