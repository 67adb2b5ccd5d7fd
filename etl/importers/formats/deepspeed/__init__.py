"""DeepSpeed configs."""

from etl.importers.format import Format

FORMATS = (Format("deepspeed_json", ("json",), "sharding stage, precision, batch", "model, length, devices"),)
