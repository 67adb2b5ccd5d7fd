"""Hugging Face model configs."""

from etl.importers.format import Format

FORMATS = (Format("hf_config", ("json",), "architecture, exact parameter count", "any fact of a run"),)
