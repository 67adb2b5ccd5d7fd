"""ArcticTraining configs."""

from etl.importers.format import Format

FORMATS = (Format("arctic_yaml", ("yaml",), "batch, length, sharding stage", "architecture, devices"),)
