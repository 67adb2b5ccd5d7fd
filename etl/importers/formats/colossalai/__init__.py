"""ColossalAI launch scripts."""

from etl.importers.format import Format

FORMATS = (Format("colossalai_sh", ("shell",), "plugin, layout, batch, length, devices", "architecture"),)
