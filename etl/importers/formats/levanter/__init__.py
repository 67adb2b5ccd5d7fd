"""Levanter configs."""

from etl.importers.format import Format

FORMATS = (Format("levanter_yaml", ("yaml",), "architecture, batch, duration", "devices, vocabulary"),)
