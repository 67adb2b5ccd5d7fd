"""What predictions need from the records: accelerators, models, constants, measured rows."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import duckdb
import pandas as pd

from analysis.records.constants import Values
from analysis.records.facts import Facts, model_facts, query

Constants = dict[str, Any]


@dataclass(frozen=True)
class Catalogue:
    """Tables of one database: accelerators in vendor scale, models as facts by id, constants as nested sections."""

    accelerators: pd.DataFrame
    models: dict[str, Facts]
    constants: Constants


def load(connection: duckdb.DuckDBPyConnection) -> Catalogue:
    """Read the catalogue of an open database."""
    accelerators = connection.execute("select * from record.accelerators order by id").df()
    values = connection.execute("select key, value from record.calibration order by key").fetchall()
    return Catalogue(accelerators, model_facts(connection), nested(dict(values)))


def nested(values: dict[str, float]) -> Constants:
    """Dotted names back to sections.

    >>> nested({"timing.link.scale_up_share": 0.75})
    {'timing': {'link': {'scale_up_share': {'value': 0.75}}}}
    """
    sections: Constants = Values()
    for key, value in values.items():
        *path, last = key.split(".")
        place = sections
        for step in path:
            place = place.setdefault(step, {})
        place[last] = {"value": value}
    return sections


def measured_rows(connection: duckdb.DuckDBPyConnection) -> pd.DataFrame:
    """Published rows of an open database, doubtful ones left out.

    Columns: those of a layout row, step_time_s [s], memory_gib [GiB], memory_kind, source (the record) and family (who
    published it: releases of one table are no witnesses for each other).
    """
    return query(connection, "measured_rows")
