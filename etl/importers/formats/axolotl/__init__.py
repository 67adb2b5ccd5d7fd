"""Axolotl configs."""

from etl.importers.format import Format

FORMATS = (
    Format("axolotl_yaml", ("yaml",), "length, batch, sharding", "architecture; devices without sharding degrees"),
)
