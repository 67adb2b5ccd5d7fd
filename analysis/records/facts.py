"""From the database to the facts that checks read: one mapping per phase and per run, FLOP counts included."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

import duckdb
import numpy as np
import pandas as pd

from analysis.physics import flops, parameters
from analysis.physics.architecture import describe
from analysis.records.provenance import Provenance, by_record
from analysis.records.spans import ranged
from schemas.conventions import FLOP_FACTS

Facts = dict[str, Any]
QUERIES = Path(__file__).parent / "queries"
RECOMPUTED = {"none": (0.0, 0.0), "selective": (0.0, 1.0), "full": (1.0, 1.0)}
"""Share of the layers' matrix products and of the attention core that runs twice (Korthikanti et al. 2022)."""

# Utilisation is a share of the dense peak of the half-precision format, also for FP8 and FP4 runs, since that is
# what reports print; the peak of the run's own format is the ceiling.
MFU_PEAK = {"fp16": "fp16_tflops", "tf32": "tf32_tflops", "fp32": "fp32_tflops"}
OWN_PEAK = {"fp8": "fp8_tflops", "mxfp8": "fp8_tflops", "nvfp4": "fp4_tflops", "mxfp4": "fp4_tflops"}


FROM_MAIN = ("accelerators", "accelerator", "accelerator_released", "reported_mfu", "precision", "seq_len")


def query(connection: duckdb.DuckDBPyConnection, name: str) -> pd.DataFrame:
    """The rows of analysis/records/queries/<name>.sql."""
    return connection.execute((QUERIES / f"{name}.sql").read_text(encoding="utf-8")).df()


def _stated(value: Any) -> Any:
    """None for SQL NULL; whole floats of count columns as int; dates as text."""
    if isinstance(value, (list, np.ndarray)):
        return [_stated(item) for item in value] or None
    if value is None or value is pd.NaT or value is pd.NA or (isinstance(value, float) and np.isnan(value)):
        return None
    if isinstance(value, pd.Timestamp):
        return value.date().isoformat()
    return value.item() if isinstance(value, np.generic) else value


def facts_of(row: dict[str, Any]) -> Facts:
    """The stated facts of a table row; X with its X_low and X_high becomes one `Span`.

    >>> facts_of({"tokens": 15.6e12, "tokens_low": None, "tokens_high": None, "tp": 8.0, "note": None})
    {'tokens': Span(low=15550000000000.0, best=15600000000000.0, high=15650000000000.0), 'tp': 8}
    """
    stated = {name: _stated(value) for name, value in row.items()}
    spans = {name for name in stated if f"{name}_low" in stated and f"{name}_high" in stated}
    facts: Facts = {}
    for name, value in stated.items():
        if name in spans:
            facts[name] = ranged(value, stated[f"{name}_low"], stated[f"{name}_high"])
        elif name.rpartition("_")[0] not in spans or not name.endswith(("_low", "_high")):
            facts[name] = int(value) if isinstance(value, float) and value.is_integer() and value < 1e9 else value
    return {name: value for name, value in facts.items() if value is not None}


def model_facts(connection: duckdb.DuckDBPyConnection) -> dict[str, Facts]:
    """Every model's facts by id, with `exact_total`, `exact_active` and the other exact counts that are known."""
    table = connection.execute("select * from record.models order by id").df()
    return {str(row["id"]): with_counts(facts_of(row)) for row in records(table)}


def records(table: pd.DataFrame) -> list[dict[str, Any]]:
    """Rows of a table as mappings by column name."""
    return [{str(name): value for name, value in row.items()} for row in table.to_dict("records")]


def with_counts(model: Facts) -> Facts:
    """A model's facts with its exact counts; an encoder-decoder or an unknown shape gets none."""
    model = dict(model)
    if "shared_ffn_hidden" not in model and "shared_experts" in model and "moe_ffn_hidden" in model:
        model["shared_ffn_hidden"] = model["shared_experts"] * model["moe_ffn_hidden"]
    if "encoder_layers" in model or "not_modelled" in model:
        return model
    counted = {f"exact_{name}": float(value) for name, value in parameters.count(model).items()}
    return model | {name: value for name, value in counted.items() if not np.isnan(value)}


def flop_facts(model: Facts, seq_len: float | None, recompute: str | None) -> Facts:
    """FLOP per token in the four conventions; only 6ND, by the printed parameters, where the shape is not known."""
    result: Facts = {}
    if "exact_total" in model:
        linear, core = RECOMPUTED.get(recompute or "", (np.nan, np.nan))
        length = np.nan if seq_len is None else seq_len
        counted = flops.per_token(describe(model), length, recomputed_linear=linear, recomputed_core=core)
        result = {fact: float(counted[name]) for name, fact in FLOP_FACTS.items()}
    elif active := _headline_active(model):
        result = {"flop_6nd": 6 * active}
    result = {name: value for name, value in result.items() if not np.isnan(value)}
    best = result.get("flop_causal", result.get("flop_6nd"))
    return result if best is None else result | {"flop_best": best}


def _headline_active(model: Facts) -> float | None:
    """Parameters a token passes, as printed: active ones, or all of a dense decoder."""
    # An encoder-decoder passes each token through one half only, so 6ND does not hold for it.
    if "encoder_layers" in model:
        return None
    whole = model.get("params_total") if model.get("sparsity") == "dense" else None
    active = model.get("params_active", whole)
    return float(active.best) if active is not None else None


def _peaks(facts: Facts) -> Facts:
    precision = facts.get("precision", "bf16")
    peak = facts.get(MFU_PEAK.get(precision, "bf16_tflops"), facts.get("fp16_tflops"))
    own = facts.get(OWN_PEAK.get(precision, ""), peak)
    return {} if peak is None else {"peak_tflops": peak, "peak_precision_tflops": own}


def _of_model(model: Facts) -> Facts:
    """What checks read of the model."""
    shape = {name: model[name] for name in ("layers", "heads", "kv_heads", "hidden", "experts") if name in model}
    return shape | {name: value for name, value in model.items() if name.startswith("exact_")}


def phase_facts(connection: duckdb.DuckDBPyConnection, models: Mapping[str, Facts]) -> Iterator[Facts]:
    """The facts of every phase, in order of run and position."""
    known = by_record(records(query(connection, "provenance")))
    for row in records(query(connection, "phases")):
        facts = facts_of(row)
        model = models.get(facts["model"], {})
        counted = flop_facts(model, facts.get("seq_len"), facts.get("recompute"))
        provenance = known.get(("run", facts["run_id"], facts["name"]), Provenance())
        yield _of_model(model) | facts | counted | _peaks(facts) | {"provenance": provenance}


def run_facts(
    connection: duckdb.DuckDBPyConnection, models: Mapping[str, Facts], phases: Mapping[str, list[Facts]]
) -> Iterator[Facts]:
    """The facts of every run; hardware and FLOP per token are those of its main phase."""
    known = by_record(records(query(connection, "provenance")))
    for row in records(query(connection, "runs")):
        facts = facts_of(row)
        own = phases.get(facts["id"], [])
        model = models.get(facts["model"], {})
        taken = _of_phases(own)
        provenance = known.get(("model", facts["model"], ""), Provenance()).of(("params_total", "params_active"))
        provenance |= taken.get("provenance", Provenance()) | known.get(("run", facts["id"], ""), Provenance())
        yield _of_model(model) | flop_facts(model, None, None) | taken | facts | {"provenance": provenance}


def _of_phases(phases: list[Facts]) -> Facts:
    """What a run takes over from its main phase, and its largest batch."""
    main = max(phases, key=phase_weight, default={})
    taken = {name: value for name, value in main.items() if name in FROM_MAIN or name.startswith(("flop_", "peak_"))}
    batches = [phase["global_batch_tokens"] for phase in phases if "global_batch_tokens" in phase]
    if batches:
        taken["largest_batch_tokens"] = max(batches, key=lambda span: float(span.best))
    if "provenance" in main:
        own = [name for name in taken if name in FROM_MAIN]
        taken["provenance"] = main["provenance"].of(own)
    return taken


def phase_weight(facts: Facts) -> float:
    """What makes a phase the main one: its tokens, else its accelerators."""
    tokens, count = facts.get("tokens"), facts.get("accelerators")
    return float(tokens.best) if tokens else float(count.best) if count else 0.0
