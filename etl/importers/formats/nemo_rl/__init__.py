"""NeMo-RL configs."""

from etl.importers.format import Format

FORMATS = (Format("nemo_rl_yaml", ("yaml",), "layout of the policy, batches, length, devices", "architecture"),)
