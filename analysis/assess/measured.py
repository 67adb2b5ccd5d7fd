"""The engine beside published measurements: what it gives for each layout whose time or memory somebody printed."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

import duckdb
import pandas as pd

from analysis.engine.predict import predict
from analysis.records.load import Catalogue, measured_rows

#: Columns of a measured row by quantity, with their unit.
QUANTITIES = {"step_time": ("step_time_s", "s"), "memory": ("memory_gib", "GiB")}


def rows(connection: duckdb.DuckDBPyConnection, catalogue: Catalogue) -> Iterator[dict[str, Any]]:
    """Measured beside modelled for every published row not marked doubtful; rows of `result.measured`."""
    table = measured_rows(connection)
    if not table.empty:
        yield from beside(table, predict(table, catalogue.accelerators, catalogue.constants))


def beside(table: pd.DataFrame, answer: pd.DataFrame) -> Iterator[dict[str, Any]]:
    """One row per measurement.

    Parameters
    ----------
    table
        Measured rows: benchmark_id, id, family and a column per quantity; a blank one was not measured.
    answer
        What `predict` answers to them, in the same order.

    >>> table = pd.DataFrame([{"benchmark_id": "a", "id": "1", "family": "A", "step_time_s": 2.0, "memory_gib": None}])
    >>> answer = pd.DataFrame([{"step_time_s": 2.2, "step_time_s_low": 2.0, "step_time_s_high": 2.4, "missing": "",
    ...                       "memory_gib": 9.0, "memory_gib_low": 8.0, "memory_gib_high": 10.0}])
    >>> [(row["quantity"], row["measured"], row["modelled"], row["unit"]) for row in beside(table, answer)]
    [('step_time', 2.0, 2.2, 's')]
    """
    for quantity, (column, unit) in QUANTITIES.items():
        values = pd.to_numeric(table[column])
        known = (values > 0).to_numpy()
        part = table.loc[known, ["benchmark_id", "id", "family"]].rename(columns={"id": "row"})
        answers = answer[known].set_axis(part.index)
        ends = {"modelled": column, "low": f"{column}_low", "high": f"{column}_high"}
        part = part.assign(
            quantity=quantity,
            measured=values[known],
            unit=unit,
            missing=answers["missing"].mask(answers["missing"] == ""),
        )
        part = part.assign(**{end: answers[name] for end, name in ends.items()})
        yield from ({str(name): value for name, value in row.items()} for row in part.to_dict("records"))
