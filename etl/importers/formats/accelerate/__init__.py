"""Accelerate configs."""

from etl.importers.format import Format

FORMATS = (Format("accelerate_yaml", ("yaml",), "devices, precision, sharding", "model, length, batch"),)
