"""Prime configs."""

from etl.importers.format import Format

FORMATS = (Format("prime_toml", ("toml",), "micro-batch, length, recomputation", "workers, architecture"),)
