"""Training logs of several frameworks."""

from etl.importers.format import Format

FORMATS = (
    Format(
        "training_log", ("log", "yaml", "shell"), "steady step time and throughput, planned steps", "most of the layout"
    ),
)
