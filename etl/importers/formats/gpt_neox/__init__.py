"""GPT-NeoX configs."""

from etl.importers.format import Format

FORMATS = (
    Format("gpt_neox_yml", ("yaml", "json"), "architecture, layout, micro-batch, duration", "devices, vocabulary"),
)
