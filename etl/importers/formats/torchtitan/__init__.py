"""torchtitan configs."""

from etl.importers.format import Format

FORMATS = (Format("torchtitan_toml", ("toml",), "layout, batch, steps", "architecture"),)
