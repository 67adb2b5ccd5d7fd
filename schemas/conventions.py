"""How the work of training is counted and how wide stored numbers are."""

from __future__ import annotations

from schemas.tables import table

_TABLE = table("conventions")

FLOP_FACTS: dict[str, str] = {name: row["fact"] for name, row in _TABLE["mfu"].items() if "fact" in row}
"""Fact with the FLOP per token, by convention."""

MFU_COLUMNS: dict[str, str] = {name: row["column"] for name, row in _TABLE["mfu"].items() if "column" in row}
"""Column of the utilisation, by convention; `as-reported` is what the source prints."""

ELEMENT_BYTES: dict[str, float] = {name: float(size) for name, size in _TABLE["element_bytes"].items()}
"""Bytes of one stored element by data type, scales of block formats included."""
