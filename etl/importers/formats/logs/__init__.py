"""Training logs of several frameworks."""

from etl.importers.format import Format

FORMATS = (
    Format("wandb_csv", ("log",), "steady throughput, step time, memory, loss", "architecture, layout"),
    Format(
        "training_log", ("log", "yaml", "shell"), "steady step time and throughput, planned steps", "most of the layout"
    ),
)
