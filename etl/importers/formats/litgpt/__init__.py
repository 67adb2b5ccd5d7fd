"""LitGPT configs."""

from etl.importers.format import Format

FORMATS = (Format("litgpt_yaml", ("yaml",), "length, batch, duration, devices", "layout beyond data parallelism"),)
