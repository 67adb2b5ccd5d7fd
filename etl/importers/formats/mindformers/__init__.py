"""MindFormers configs."""

from etl.importers.format import Format

FORMATS = (Format("mindformers_yaml", ("yaml",), "architecture, layout, batch, devices", "duration"),)
