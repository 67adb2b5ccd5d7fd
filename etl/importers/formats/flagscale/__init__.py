"""FlagScale configs."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "flagscale_yaml", ("yaml",), "architecture, layout, batch, duration", "devices in a file of the model alone"
    ),
)
