"""Constants of the step time by software: what a stack is known to do replaces what tuned recipes do.

`data/calibration/stacks.yaml` has one entry per software; of its columns this module reads those of `COLUMNS`. Software
without a column takes the constant of its subject; software that the table does not know, or that a row does not state,
takes the entry `other`.
"""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pandas as pd

from analysis.engine.timing_constants import Timing
from analysis.layout.arrays import Rows
from analysis.physics.efficiency import Efficiency, Values

OTHER = "other"
"""Entry of software that is not known."""
COLUMNS = {
    "tp_exposed": ("overlap", "tp"),
    "dp_exposed": ("overlap", "dp"),
    "fsdp_exposed": ("overlap", "fsdp"),
    "ep_exposed": ("overlap", "ep"),
    "pp_exposed": ("overlap", "pp"),
    "passes": ("elementwise", "passes"),
    "loss_bytes": ("elementwise", "loss_bytes"),
    "layer_seconds": ("host", "layer_seconds"),
    "moe_layer_seconds": ("host", "moe_layer_seconds"),
    "step_seconds": ("host", "step_seconds"),
}
"""Columns of the table and the constants that they replace: subject and field of `Efficiency`."""


def efficiency(rows: Rows, k: Timing) -> Efficiency:
    """The constants of each row's software.

    Parameters
    ----------
    rows
        The table as read.
    k
        Constants, the table of stacks among them.

    Returns
    -------
    Efficiency
        Fields that software decides are arrays with one value per row.
    """
    code, distinct = pd.factorize(rows.stack)
    names = [*(str(name).strip().lower() for name in distinct), ""]
    tables = [k.stacks.get(name, k.stacks.get(OTHER, {})) for name in names]
    subjects = {name: getattr(k.efficiency, name) for name in {place[0] for place in COLUMNS.values()}}
    for column, (subject, field) in COLUMNS.items():
        if any(column in table for table in tables):
            usual: Values = getattr(subjects[subject], field)
            values = np.asarray([table.get(column, usual) for table in tables], dtype=float)[code]
            subjects[subject] = replace(subjects[subject], **{field: values})
    return replace(k.efficiency, **subjects)
