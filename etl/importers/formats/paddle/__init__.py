"""PaddleFormers configs."""

from etl.importers.format import Format

FORMATS = (Format("paddle", ("json", "yaml"), "layout, batch, steps", "architecture, devices"),)
