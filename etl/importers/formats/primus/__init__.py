"""Primus configs."""

from etl.importers.format import Format

FORMATS = (
    Format("primus_yaml", ("yaml",), "layout, batch, steps", "the architecture without its model file; devices"),
)
