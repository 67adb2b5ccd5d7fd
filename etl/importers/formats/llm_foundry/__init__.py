"""LLM Foundry configs."""

from etl.importers.format import Format

FORMATS = (Format("llm_foundry_yaml", ("yaml",), "architecture, batch, duration, sharding", "devices"),)
