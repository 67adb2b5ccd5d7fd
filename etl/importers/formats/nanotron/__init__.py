"""nanotron configs."""

from etl.importers.format import Format

FORMATS = (Format("nanotron_yaml", ("yaml",), "architecture, layout, batch, devices, duration", "measured speed"),)
