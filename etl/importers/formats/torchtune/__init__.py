"""torchtune recipes."""

from etl.importers.format import Format

FORMATS = (Format("torchtune_yaml", ("yaml",), "batch, length, precision, recomputation, layout", "architecture"),)
