"""The engine beside layouts that ran and that ran out of memory: does it tell them apart?"""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd

from analysis.engine.predict import predict
from analysis.records.facts import query
from analysis.records.load import Catalogue


def rows(connection: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """Outcome beside prediction of every layout of such tables; rows of `result.tried_layouts`."""
    table = query(connection, "tried_layouts")
    if not table.empty:
        yield from beside(table, predict(table, catalogue.accelerators, catalogue.constants))


def beside(table: pd.DataFrame, result: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """One row per layout whose memory can be computed.

    Parameters
    ----------
    table
        Layouts: benchmark_id, id, family, outcome, card_gib.
    result
        What `predict` answers to them, in the same order.

    >>> table = pd.DataFrame([{"benchmark_id": "a", "id": "1", "family": "A", "outcome": "oom", "card_gib": 80.0}])
    >>> result = pd.DataFrame([{"memory_gib": 90.0, "memory_gib_low": 70.0}])
    >>> [(row["outcome"], row["fits"], row["sure"]) for row in beside(table, result)]
    [('oom', False, False)]
    """
    card = table["card_gib"].to_numpy(dtype=float)
    best, low = (result[name].to_numpy(dtype=float) for name in ("memory_gib", "memory_gib_low"))
    names = table[["benchmark_id", "id", "family", "outcome"]].rename(columns={"id": "row"}).reset_index(drop=True)
    part = names.assign(card_gib=card, modelled_gib=best, low_gib=low, fits=best <= card, sure=low > card)
    part = part[part["modelled_gib"].notna() & part["card_gib"].notna()]
    yield from ({str(name): value for name, value in row.items()} for row in part.to_dict("records"))


def confusion(table: pd.DataFrame) -> dict[str, float]:
    """How well the engine separates layouts that ran from those that ran out of memory.

    Parameters
    ----------
    table
        Rows of `beside`.

    Returns
    -------
    dict
        layouts and oom (counts), accuracy, oom_called_fitting, ran_called_oom and oom_surely_refused (shares), and
        ran_surely_refused (count).

    >>> table = pd.DataFrame({"outcome": ["ran", "oom", "oom"], "fits": [True, True, False], "sure": [False] * 3})
    >>> {name: round(value, 2) for name, value in confusion(table).items()}["oom_called_fitting"]
    0.5
    """
    oom, fits, sure = (table["outcome"] == "oom"), table["fits"].astype(bool), table["sure"].astype(bool)
    return {
        "layouts": float(len(table)),
        "oom": float(oom.sum()),
        "accuracy": float((fits != oom).mean()),
        "oom_called_fitting": float(fits[oom].mean()),
        "ran_called_oom": float((~fits[~oom]).mean()),
        "oom_surely_refused": float(sure[oom].mean()),
        "ran_surely_refused": float((sure & ~oom).sum()),
    }
