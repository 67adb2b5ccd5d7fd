"""NxD Training (Neuron) configs."""

from etl.importers.format import Format

FORMATS = (Format("nxd_yaml", ("yaml",), "architecture, layout, batch, devices, duration", "vocabulary"),)
